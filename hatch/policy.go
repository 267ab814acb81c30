package hatch

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"colony/cards"
	"colony/event"
	"colony/guard"
	"colony/guard/sandbox"
	"colony/tools"
)

// lay writes the policy of every card: its rules and the settings', united.
func (c *Colony) lay(word string) error {
	mode, err := guard.ParseMode(word)
	if err != nil {
		return badMode(err)
	}
	c.policies = map[string]*guard.Policy{}
	for name, card := range c.cards {
		rules, err := rulesOf(card, c.settings, c.parts.ToolNames())
		if err != nil {
			return err
		}
		out, err := c.settings.sandbox.out(c.box.Level(), card)
		if err != nil {
			return err
		}
		parts := c.parts.guarded(modeOf(name, mode), c.box.Level(), !out.none(), rules, c.parts.Getenv)
		parts.Hook, parts.Skills = c.beforeTools(), c.parts.preapproved(card)
		parts.Readable = append(parts.Readable, filepath.Join(c.parts.runDir(c.run), "blobs"))
		if c.policies[name], err = guard.New(parts); err != nil {
			return err
		}
		parts.Mode = guard.ModePlan
		if c.policies[helping(name)], err = guard.New(parts); err != nil {
			return err
		}
	}
	return nil
}

func badMode(err error) *Problem {
	return &Problem{Exit: 2, Code: "bad_setting", Message: err.Error(), Next: "colony config list --origin says where run.mode comes from"}
}

// guarded are the parts of a policy in this house.
func (h *House) guarded(mode guard.Mode, level string, net bool, rules guard.Rules, getenv func(string) string) guard.Parts {
	return guard.Parts{
		Mode: mode, Sandboxed: level != sandbox.Off, Net: net, Rules: rules,
		Protected: []string{h.State, h.Config}, Readable: readable(getenv), Writable: []string{"/tmp"},
	}
}

// modeIn is the mode at a level of the sandbox: where nothing confines, auto is ask.
func modeIn(mode, level string) string {
	if mode == string(guard.ModeAuto) && level == sandbox.Off {
		return string(guard.ModeAsk)
	}
	return mode
}

// remind tells the policy what the ant was granted before and what it has seen, from the log.
func (l *life) remind(ctx context.Context) error {
	if l.order.Attempt == 1 && l.past == nil {
		return nil
	}
	policy, started := l.policy(), map[string]event.ToolStarted{}
	for e, err := range l.log.Read(ctx, 0) {
		if err != nil {
			return err
		}
		if e.Ant != l.order.Ant {
			continue
		}
		switch b := e.Body.(type) {
		case event.Granted:
			if err := policy.Restore(l.env, b.Rule); err != nil {
				return err
			}
		case event.ToolStarted:
			started[b.Call] = b
		case event.ToolDone:
			e := tools.Effects{Reads: started[b.Call].Effects.Reads, Hosts: started[b.Call].Effects.Hosts}
			if b.Tool == "sh" && !l.reach.none() { // which of them, the log does not say
				e.Hosts = append(slices.Clone(e.Hosts), l.reach.names...)
			}
			if skill, ok := usedSkill(started[b.Call]); ok {
				e.Subjects = []string{skill}
			}
			policy.Witness(l.env, b.Tool, e, nil)
		}
	}
	return nil
}

// usedSkill is the skill that a call of the skill tool is about.
func usedSkill(call event.ToolStarted) (string, bool) {
	var args struct{ Name string }
	if call.Tool != "skill" || json.Unmarshal(call.Args, &args) != nil {
		return "", false
	}
	name, _, _ := strings.Cut(args.Name, "/")
	return name, true
}

// modeOf is the mode of a card's ants: the queen's only look, whatever her card lists.
func modeOf(card string, mode guard.Mode) guard.Mode {
	if card == queenCard {
		return guard.ModePlan
	}
	return mode
}

// rulesOf are the rules of a card and those of the settings, united.
func rulesOf(card cards.Card, s settings, names []string) (guard.Rules, error) {
	wrong := func(err error) error {
		return &Problem{Exit: 2, Code: "bad_rule", Message: "card " + card.Name + ": " + err.Error(), Next: "mend the rule; colony cards show " + card.Name}
	}
	ours, err := guard.ParseRules(s.permissions.Allow, s.permissions.Ask, s.permissions.Deny, names)
	if err != nil {
		return guard.Rules{}, wrong(err)
	}
	its, err := guard.ParseRules(card.Permissions.Allow, card.Permissions.Ask, card.Permissions.Deny, names)
	if err != nil {
		return guard.Rules{}, wrong(err)
	}
	return ours.Unite(its), nil
}

// readable is what commands may name outside the worktree without a question: where toolchains and what they downloaded
// lie. File tools stay in the worktree all the same.
func readable(getenv func(string) string) []string {
	out := []string{"/usr", "/opt"}
	if cache := moduleCache(getenv); filepath.IsAbs(cache) { // not so without a home
		out = append(out, cache)
	}
	if tool, err := exec.LookPath("go"); err == nil {
		if real, err := filepath.EvalSymlinks(tool); err == nil {
			out = append(out, filepath.Dir(filepath.Dir(real)))
		}
	}
	return out
}

// moduleCache is where the user's Go keeps downloaded modules.
func moduleCache(getenv func(string) string) string {
	if dir := getenv("GOMODCACHE"); filepath.IsAbs(dir) {
		return dir
	}
	if paths := filepath.SplitList(getenv("GOPATH")); len(paths) > 0 && filepath.IsAbs(paths[0]) {
		return filepath.Join(paths[0], "pkg", "mod")
	}
	return filepath.Join(getenv("HOME"), "go", "pkg", "mod")
}
