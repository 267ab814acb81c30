package hatch

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"time"

	"colony/guard"
	"colony/guard/sandbox"
	"colony/tools"
)

// Trial says what would become of calls of an ant of the card, whose worktree looks as the checkout does now. The rules
// hold beside those of the card and the settings. It runs nothing and asks nobody.
func (h *House) Trial(card string, more guard.Rules, getenv func(string) string) (func(tools.Call) (guard.Decision, error), error) {
	s, err := readSettings(h.Settings)
	if err != nil {
		return nil, err
	}
	if card == "" {
		card = s.run.Card
	}
	c, err := h.card(card)
	if err != nil {
		return nil, err
	}
	rules, err := rulesOf(c, s, h.ToolNames())
	if err != nil {
		return nil, err
	}
	mode, err := guard.ParseMode(modeIn(s.run.Mode, s.sandbox.Level))
	if err != nil {
		return nil, badMode(err)
	}
	if !slices.Contains([]string{sandbox.ReadOnly, sandbox.Workspace, sandbox.Off}, s.sandbox.Level) {
		return nil, badSetting("sandbox.level", s.sandbox.Level, "read-only, workspace or off")
	}
	policy, err := guard.New(h.guarded(modeOf(card, mode), s.sandbox.Level, rules.Unite(more), getenv))
	if err != nil {
		return nil, err
	}
	registry, err := h.allTools(io.Discard, time.Duration(s.limits.Sh), nobodyPlans, nobodyHelps)
	if err != nil {
		return nil, err
	}
	child, err := registry.Child(c.Tools, nil)
	if err != nil {
		return nil, err
	}
	child.Freeze()
	env, err := h.still(child)
	if err != nil {
		return nil, err
	}
	return func(call tools.Call) (guard.Decision, error) { return policy.Test(env, child.Prepare(call)) }, nil
}

var errStill = errors.New("a trial runs nothing")

// still is an ant at the top of the checkout that can run nothing.
func (h *House) still(registry *tools.Registry) (*tools.Env, error) {
	root := h.Root
	if root == "" {
		root = h.Dir
	}
	root, err := tools.Resolve("/", root)
	if err != nil {
		return nil, err
	}
	return &tools.Env{
		Root: root, Ant: "ant", Cwd: func() string { return root }, Tools: registry, Files: tools.NewFileState(), Locks: tools.NewPathLocks(),
		Ask: Nobody, Now: time.Now, Progress: func(string) {},
		Exec: func(context.Context, tools.Process) (tools.Exit, error) { return tools.Exit{}, errStill },
		Dial: func(context.Context, string, string) (net.Conn, error) { return nil, errStill },
	}, nil
}

// RulesFor are the rules that name a tool to ants of the card, each with its list, in the order in which they are looked at.
func (h *House) RulesFor(card, tool string) ([][2]string, error) {
	s, err := readSettings(h.Settings)
	if err != nil {
		return nil, err
	}
	c, err := h.card(card)
	if err != nil {
		return nil, err
	}
	rules, err := rulesOf(c, s, h.ToolNames())
	if err != nil {
		return nil, err
	}
	var out [][2]string
	for _, list := range []struct {
		name  string
		rules []guard.Rule
	}{{guard.Deny, rules.Deny}, {guard.Ask, rules.Ask}, {guard.Allow, rules.Allow}} {
		for _, r := range list.rules {
			if pair := [2]string{list.name, r.Text}; r.Names(tool) && !slices.Contains(out, pair) {
				out = append(out, pair)
			}
		}
	}
	return out, nil
}
