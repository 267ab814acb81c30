package hatch

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"colony/ant"
	"colony/cards"
	"colony/guard"
	"colony/guard/sandbox"
	"colony/strict"
	"colony/tools"
)

// ShownTool is a tool as the model is shown it. Tokens are an estimate: a quarter of the bytes that are sent.
type ShownTool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	ReadOnly    bool   `json:"read_only"`
	Tokens      int    `json:"tokens"`
}

// Explained is what a card makes of an ant.
type Explained struct {
	Card   cards.Card
	Values []cards.Value // each with where it comes from
	Tools  []ShownTool   // what its ants are shown
	System int           // tokens of the card's prompt and the house rules, estimated as ShownTool's are
	Never  []string      // what its ants may never do, one sentence each
}

// AllTools are the tools that a card may list, by name. Without a house they are those that come with colony.
func (h *House) AllTools() ([]ShownTool, error) {
	registry, err := h.allTools(io.Discard, 0, nobodyPlans, nobodyHelps, nobodySpeaks())
	if err != nil {
		return nil, err
	}
	return shown(registry.List())
}

// Tools are the tools that ants of the card are shown, in the order in which they are.
func (h *House) Tools(card string) ([]ShownTool, error) {
	c, err := h.card(card)
	if err != nil {
		return nil, err
	}
	return h.toolsOf(c)
}

// Explain says what the card of that name makes of an ant here.
func (h *House) Explain(name string) (Explained, error) {
	c, err := h.card(name)
	if err != nil {
		return Explained{}, err
	}
	e := Explained{Card: c, Values: c.Values(), System: tokens(ant.System(c.Name, h.prompt(c), nil))}
	if e.Tools, err = h.toolsOf(c); err != nil {
		return Explained{}, err
	}
	e.Never, err = h.never(c)
	return e, err
}

// card is the card of the name, with no fault.
func (h *House) card(name string) (cards.Card, error) {
	c, err := h.Cards.Get(name)
	if err != nil {
		return cards.Card{}, &Problem{Exit: 2, Code: "no_card", Message: err.Error(), Next: "colony cards list"}
	}
	return c, h.LintCard(c).Err()
}

// LintCard checks a card against the tools there are and the providers of the settings.
func (h *House) LintCard(c cards.Card) strict.Faults {
	faults := append(cards.Lint(c, h.ToolNames()), cards.LintSkills(c, slices.Sorted(maps.Keys(h.skills)))...)
	if s, err := readSettings(h.Settings); err == nil { // what is wrong with them is said where they are used
		faults = append(faults, cards.LintModels(c, providersOf(s), slices.Sorted(maps.Keys(s.models)))...)
	}
	faults = append(faults, lintHosts(c)...)
	faults = append(faults, cards.LintServers(c, h.serverNames())...)
	return faults.Sorted()
}

// providersOf are the names that a model may begin with.
func providersOf(s settings) []string { return slices.Sorted(maps.Keys(s.providers)) }

func (h *House) toolsOf(c cards.Card) ([]ShownTool, error) {
	registry, err := h.allTools(io.Discard, 0, nobodyPlans, nobodyHelps, nobodySpeaks())
	if err != nil {
		return nil, err
	}
	child, err := registry.Child(h.useful(c.Tools), nil)
	if err != nil {
		return nil, err
	}
	child.Freeze()
	return shown(child.Specs())
}

func shown(specs []tools.Spec) ([]ShownTool, error) {
	list := []ShownTool{}
	for _, s := range specs {
		sent, err := json.Marshal(map[string]any{"name": s.Name, "description": s.Description, "parameters": s.Params})
		if err != nil {
			return nil, fmt.Errorf("measure the tool %s: %w", s.Name, err)
		}
		list = append(list, ShownTool{s.Name, s.Line(), s.ReadOnly, tokens(string(sent))})
	}
	return list, nil
}

// tokens estimates: four bytes a token, rounded up.
func tokens(text string) int { return (len(text) + 3) / 4 }

// never is what no ant of the card may do, whatever it is told and whoever says yes while it works.
func (h *House) never(c cards.Card) ([]string, error) {
	var missing []string
	for _, name := range h.ToolNames() {
		if !slices.Contains(c.Tools, name) {
			missing = append(missing, name)
		}
	}
	s, err := readSettings(h.Settings)
	if err != nil {
		return nil, err
	}
	var never []string
	add := func(format string, about ...string) {
		if all := strings.Join(about, ", "); all != "" {
			never = append(never, fmt.Sprintf(format, all))
		}
	}
	add("use a tool that the card does not list: %s", missing...)
	add("make a call that a rule of the card or the settings denies: %s", slices.Concat(c.Permissions.Deny, s.permissions.Deny)...)
	never = append(never, "write outside of its worktree and /tmp, or read outside of them what is no toolchain")
	add("write, at any depth of the worktree, %s", guard.ProtectedNames()...)
	if slices.Contains(c.Tools, "sh") {
		out, err := s.sandbox.out(s.sandbox.Level, c)
		switch level := tighter(s.sandbox.Level, c.Sandbox.Level); {
		case err != nil:
			return nil, err
		case level != sandbox.Off && out.none():
			never = append(never, "reach the network or a process outside with a command: sandbox level "+level)
		case level != sandbox.Off:
			never = append(never, "reach with a command a process outside, or a host beside "+strings.Join(out.names, ", ")+": sandbox level "+level)
		}
	}
	add("go on after it used up %s", bounds(c)...)
	return never, nil
}

// bounds are the card's caps in words.
func bounds(c cards.Card) []string {
	units := map[string]string{"caps.usd": "dollars", "caps.tokens": "tokens", "caps.turns": "turns", "caps.wall": "of time", "caps.calls": "calls"}
	var words []string
	for _, v := range c.Values() {
		if unit := units[v.Key]; unit != "" && v.Text != none {
			words = append(words, v.Text+" "+unit)
		}
	}
	return words
}
