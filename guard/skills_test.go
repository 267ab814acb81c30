package guard_test

import (
	"testing"

	"colony/guard"
	"colony/tools"
	"colony/tools/toolstest"
)

// What a skill approves beforehand holds once its ant has called it up, for that ant only, and stands behind the floor, what is
// denied and what asks; it takes nothing away. Rules about sh hold for the lines that other tools run.
func TestSkillsApproveBeforehand(t *testing.T) {
	rule := func(text string) guard.Rule {
		r, err := guard.ParseRule(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	policy, err := guard.New(guard.Parts{Mode: guard.ModeAsk, Sandboxed: true,
		Rules:  guard.Rules{Deny: []guard.Rule{rule("sh(touch no:*)")}, Ask: []guard.Rule{rule("sh(touch maybe:*)")}, Allow: []guard.Rule{rule("sh(make:*)")}},
		Skills: map[string][]guard.Rule{"release": {rule("sh(touch:*)"), rule("sh(git push:*)"), rule("sh(make lint:*)")}}})
	if err != nil {
		t.Fatal(err)
	}
	env := toolstest.NewEnv(t)
	decide := func(tool string, e tools.Effects) string {
		return policy.Decide(env, tools.Prepared{Call: tools.Call{ID: "1", Name: tool}, Tool: toolstest.Fake{Is: tools.Spec{Name: tool}}, Effects: e}).Decision
	}
	line := func(words ...string) tools.Effects {
		text := ""
		for i, w := range words {
			if i > 0 {
				text += " "
			}
			text += w
		}
		return tools.Effects{Known: true, Commands: []tools.Command{{Text: text, Argv: words}}, Subjects: []string{text}}
	}
	if got := decide("sh", line("touch", "x")); got != guard.Ask {
		t.Errorf("before it is called up: %s", got)
	}
	policy.Witness(env, "skill", tools.Effects{Subjects: []string{"release"}}, nil)
	for _, c := range []struct {
		tool string
		e    tools.Effects
		want string
	}{
		{"sh", line("touch", "x"), guard.Allow},
		{"deploy", line("touch", "x"), guard.Allow},
		{"sh", line("touch", "no"), guard.Deny},
		{"deploy", line("touch", "no"), guard.Deny},
		{"sh", line("touch", "maybe"), guard.Ask},
		{"sh", line("make", "all"), guard.Allow},
		{"sh", line("git", "push", "origin"), guard.Deny},
		{"sh", line("rm", "x"), guard.Ask},
		{"sh", tools.Effects{Known: true, Commands: []tools.Command{{Text: "touch .git/x", Argv: []string{"touch", ".git/x"}}}, Writes: []string{env.Root + "/.git/x"}}, guard.Deny},
	} {
		if got := decide(c.tool, c.e); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.tool, c.e.Commands[0].Text, got, c.want)
		}
	}
	env.Ant = "another"
	if got := decide("sh", line("touch", "x")); got != guard.Ask {
		t.Errorf("for another ant: %s", got)
	}
}
