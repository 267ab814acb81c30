package hatch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"colony/guard"
	"colony/guard/hooks"
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
	if !slices.Contains([]string{sandbox.ReadOnly, sandbox.Workspace, sandbox.WorkspaceNet, sandbox.Off}, s.sandbox.Level) {
		return nil, badSetting("sandbox.level", s.sandbox.Level, "read-only, workspace, workspace+net or off")
	}
	out, err := s.sandbox.out(s.sandbox.Level, c)
	if err != nil {
		return nil, err
	}
	policy, err := guard.New(h.guarded(modeOf(card, mode), s.sandbox.Level, !out.none(), rules.Unite(more), getenv))
	if err != nil {
		return nil, err
	}
	registry, err := h.allTools(io.Discard, time.Duration(s.limits.Sh), nobodyPlans, nobodyHelps, nobodySpeaks())
	if err != nil {
		return nil, err
	}
	child, err := registry.Child(h.useful(c.Tools), nil)
	if err != nil {
		return nil, err
	}
	child.Freeze()
	env, err := h.still(child)
	if err != nil {
		return nil, err
	}
	looking, err := h.hooks(s.hooks)
	if err != nil {
		return nil, err
	}
	return func(call tools.Call) (guard.Decision, error) {
		d, err := policy.Test(env, child.Prepare(call))
		if found := looking.Looking(hooks.PreToolUse, call.Name); len(found) > 0 && d.Decision != guard.Deny {
			d.Reason += fmt.Sprintf("; a hook looks at it then, which was not run, and may ask or deny: %s", strings.Join(found, ", "))
		}
		return d, err
	}, nil
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

// Reaches says what commands of the card's ants reach of the network, in words.
func (h *House) Reaches(card string) (string, error) {
	s, err := readSettings(h.Settings)
	if err != nil {
		return "", err
	}
	c, err := h.card(card)
	if err != nil {
		return "", err
	}
	return s.sandbox.reaches(s.sandbox.Level, c)
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
