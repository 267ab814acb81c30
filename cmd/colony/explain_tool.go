package main

import (
	"errors"
	"fmt"
	"slices"

	"colony/guard"
	"colony/hatch"
	"colony/view"
)

// toolRule is a rule about a tool, or a stage that has a word on its calls.
type toolRule struct {
	Stage string `json:"stage"`
	Rule  string `json:"rule"`
	Says  string `json:"says"`
}

// explainTool says what decides on a tool's calls, in the order in which it is looked at.
func (a *app) explainTool(card, name string) error {
	house, err := a.house("", nil)
	if err != nil {
		return err
	}
	if !slices.Contains(house.ToolNames(), name) {
		next := "colony tools lists them"
		wrong := new(guard.RuleError)
		if _, err := guard.ParseRule(name, house.ToolNames()); errors.As(err, &wrong) && wrong.Nearest != "" {
			next = "colony tools --explain " + wrong.Nearest
		}
		return &hatch.Problem{Exit: 2, Code: "no_tool", Message: fmt.Sprintf("there is no tool %q", name), Next: next}
	}
	if card == "" {
		card = house.Settings.Get("run.card")
	}
	shown, err := house.Tools(card)
	if err != nil {
		return err
	}
	rules, err := house.RulesFor(card, name)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(shown, func(t hatch.ShownTool) bool { return t.Name == name })
	reaches, err := house.Reaches(card)
	if err != nil {
		return err
	}
	stages := stagesOf(card, name, house.Settings.Get("run.mode"), at >= 0 && shown[at].ReadOnly, at >= 0, rules)
	if name == "sh" && at >= 0 {
		stages = append(stages, toolRule{"sandbox", house.Settings.Get("sandbox.level"), "whatever was decided, a command that runs reaches of the network " + reaches})
	}
	if a.json {
		return printJSON(a.out, map[string]any{"tool": name, "card": card, "shown": at >= 0, "stages": stages})
	}
	w := table(a.out, "STAGE", "RULE", "WHAT IT SAYS OF "+name)
	for _, s := range stages {
		row(w, s.Stage, view.Line(s.Rule), view.Line(s.Says))
	}
	return w.Flush()
}

// stagesOf are the stages that have a word on the tool, in their order.
func stagesOf(card, name, mode string, readOnly, shown bool, rules [][2]string) []toolRule {
	if !shown {
		return []toolRule{{"registry", card, "deny: the card does not list it, so its ants are not shown it and cannot call it"}}
	}
	out := []toolRule{{"registry", card, "the card lists it"}}
	if !readOnly {
		out = append(out, toolRule{"floor", "path-jail", "deny: a path outside the worktree"},
			toolRule{"floor", "protected-path", "deny: a write to git's files, settings, cards or start-up files"})
	}
	for _, list := range []string{guard.Deny, guard.Ask} {
		for _, r := range rules {
			if r[0] == list {
				out = append(out, toolRule{list, r[1], list + ": a call that it matches"})
			}
		}
	}
	if !readOnly {
		out = append(out, toolRule{"mode", mode, modeSays[mode]})
	} else {
		out = append(out, toolRule{"allow", "read-only", "allow: it changes nothing"})
	}
	for _, r := range rules {
		if r[0] == guard.Allow {
			out = append(out, toolRule{guard.Allow, r[1], "allow: a call that it matches"})
		}
	}
	return append(out, toolRule{"default", "default", "ask, and deny where nobody can answer; colony guard test says which of these decides on a call"})
}

// modeSays is what a mode says of calls that change something.
var modeSays = map[string]string{
	"plan":      "deny: a call that is not known to be read-only",
	"ask":       "nothing: each change is asked about unless it is allowed",
	"auto-edit": "allow: a change of files in the worktree",
	"auto":      "allow: a change of files in the worktree, and a command in the sandbox",
}
