package hatch

import (
	"os/exec"
	"path/filepath"

	"colony/cards"
	"colony/guard"
	"colony/guard/sandbox"
)

// lay writes the policy of every card: its rules and the settings', united.
func (c *Colony) lay(word string) error {
	mode, err := guard.ParseMode(word)
	if err != nil {
		return &Problem{Exit: 2, Code: "bad_setting", Message: err.Error(), Next: "colony config list --origin says where run.mode comes from"}
	}
	c.policies = map[string]*guard.Policy{}
	for name, card := range c.cards {
		rules, err := c.rules(card)
		if err != nil {
			return &Problem{Exit: 2, Code: "bad_rule", Message: "card " + name + ": " + err.Error(), Next: "mend the rule; colony cards show " + name}
		}
		if c.policies[name], err = guard.New(guard.Parts{
			Mode: modeOf(name, mode), Sandboxed: c.box.Level() != sandbox.Off, Rules: rules,
			Protected: []string{c.parts.State, c.parts.Config}, Readable: c.readable(), Writable: []string{"/tmp"}, Hook: c.beforeTools(),
		}); err != nil {
			return err
		}
	}
	return nil
}

// modeOf is the mode of a card's ants: the queen's only look, whatever her card lists.
func modeOf(card string, mode guard.Mode) guard.Mode {
	if card == queenCard {
		return guard.ModePlan
	}
	return mode
}

func (c *Colony) rules(card cards.Card) (guard.Rules, error) {
	ours, err := guard.ParseRules(c.settings.permissions.Allow, c.settings.permissions.Ask, c.settings.permissions.Deny, ToolNames())
	if err != nil {
		return guard.Rules{}, err
	}
	its, err := guard.ParseRules(card.Permissions.Allow, card.Permissions.Ask, card.Permissions.Deny, ToolNames())
	return ours.Unite(its), err
}

// readable is what commands may name outside the worktree without a question: results kept beside the log, and where
// toolchains and what they downloaded lie. File tools stay in the worktree all the same.
func (c *Colony) readable() []string {
	out := []string{filepath.Join(c.parts.runDir(c.run), "blobs"), "/usr", "/opt"}
	if cache := moduleCache(c.parts.Getenv); filepath.IsAbs(cache) { // not so without a home
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
