package guard_test

import (
	"path/filepath"
	"strings"
	"testing"

	"colony/guard"
	"colony/tools"
)

func forRun(tools.Question) (tools.Answer, error) {
	return tools.Answer{Allow: true, ForRun: true}, nil
}

// contract 33, AP03: a yes is for one call; one "for this run" is for exactly the call that was shown, of this ant, in this
// worktree and directory, with the script as it was. Nothing is ever stored as a prefix.
func TestGrants(t *testing.T) {
	env, ran, d := newEnv(t), 0, &desk{}
	env.Ask = d.ask
	keep(t, env, "x.sh", "echo fine")
	p := policy(t, guard.Parts{Rules: rules(t, nil, []string{"sh(git push:*)"}, nil)})
	cwd := env.Root
	env.Cwd = func() string { return cwd }
	other := *env
	other.Ant = "worker-2"
	tree := *env
	tree.Root, tree.Cwd = filepath.Join(env.Root, "sub"), func() string { return filepath.Join(env.Root, "sub") }
	try := func(env *tools.Env, command string, answer func(tools.Question) (tools.Answer, error)) (asked bool) {
		t.Helper()
		before := len(d.asked)
		d.answer = answer
		if _, err := p.Gate()(tools.Invoke)(t.Context(), env, running(env, "c", command, &ran)); err != nil {
			t.Fatal(err)
		}
		return len(d.asked) > before
	}
	once, whole := "git status && rm -rf ./tmp", "sh x.sh"
	for _, step := range []struct {
		name    string
		env     *tools.Env
		command string
		answer  func(tools.Question) (tools.Answer, error)
		do      func()
		asked   bool
	}{
		{"a yes", env, once, yes, nil, true},
		{"counted once", env, once, no, nil, true},
		{"for this run", env, once, forRun, nil, true},
		{"needs no question again", env, once, no, nil, false},
		{"nor again", env, once, no, nil, false},
		{"no prefix of it was stored", env, "rm -rf ./other", no, nil, true},
		{"nor a part", env, "rm -rf ./tmp", no, nil, true},
		{"not for another ant", &other, once, no, nil, true},
		{"not in another worktree", &tree, once, no, nil, true},
		{"not in another directory", env, once, no, func() { cwd = filepath.Join(env.Root, "sub") }, true},
		{"a script", env, whole, forRun, func() { cwd = env.Root }, true},
		{"as it was", env, whole, no, nil, false},
		{"rewritten", env, whole, no, func() { keep(t, env, "x.sh", "echo evil") }, true},
		{"into a file", env, "make log > out.txt", forRun, nil, true},
		{"that changed by it", env, "make log > out.txt", no, func() { keep(t, env, "out.txt", "log") }, false},
		{"a rule that asks", env, "git push origin x", forRun, nil, true},
		{"asks each time", env, "git push origin x", no, nil, true},
	} {
		if step.do != nil {
			step.do()
		}
		if asked := try(step.env, step.command, step.answer); asked != step.asked {
			t.Errorf("%s: asked is %t", step.name, asked)
		}
	}
	shown := d.asked[2]
	if !strings.Contains(shown.Text, `"for this run" would store, for worker-1 alone: this very call in .`) || shown.Grant == "" {
		t.Errorf("what would be stored is not shown: %+v", shown)
	}
	if last := d.asked[len(d.asked)-1]; last.Grant != "" || len(last.Choices) != 2 {
		t.Errorf("a grant is offered that would not hold: %+v", last)
	}
}

// contract 28, 33: a grant comes back from the log, and never passes the floor or a deny rule.
func TestRestoredGrants(t *testing.T) {
	env, d := newEnv(t), &desk{answer: forRun}
	env.Ask = d.ask
	ran := 0
	c := running(env, "c", "make all", &ran)
	if _, err := policy(t, guard.Parts{}).Gate()(tools.Invoke)(t.Context(), env, c); err != nil {
		t.Fatal(err)
	}
	rule := d.asked[0].Grant
	for name, parts := range map[string]guard.Parts{
		"default": {},
		"deny":    {Rules: rules(t, nil, nil, []string{"sh(make:*)"})},
		"plan":    {Mode: guard.ModePlan},
	} {
		p := policy(t, parts)
		if err := p.Restore(env, rule); err != nil {
			t.Fatal(err)
		}
		decided, err := p.Test(env, c)
		if granted := decided.Rule == "granted"; err != nil || granted != (name == "default") {
			t.Errorf("%s: %+v, %v", name, decided, err)
		}
		outside := running(env, "c", "touch ../x", &ran)
		if err := p.Restore(env, strings.Replace(rule, c.Digest, outside.Digest, 1)); err == nil {
			if decided, err := p.Test(env, outside); err != nil || decided.Decision != guard.Deny {
				t.Errorf("past the floor: %+v, %v", decided, err)
			}
		}
	}
	for _, bad := range []string{"", "sh", "sh sha256:x in .", "sh(make:*)"} {
		if err := policy(t, guard.Parts{}).Restore(env, bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
