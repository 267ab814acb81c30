package cards

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"colony/strict"
)

type raw struct {
	Name        string      `yaml:"name" strict:"required"`
	Description string      `yaml:"description"`
	Model       string      `yaml:"model"`
	Escalate    string      `yaml:"escalate"`
	Effort      effort      `yaml:"effort"`
	Diagnostics diagnostics `yaml:"diagnostics"`
	Prompt      string      `yaml:"prompt"`
	Tools       []string    `yaml:"tools"`
	Permissions Permissions `yaml:"permissions"`
	Sandbox     rawSandbox  `yaml:"sandbox"`
	Env         []string    `yaml:"env" strict:"later"`
	Caps        rawCaps     `yaml:"caps"`
	Gates       []gate      `yaml:"gates"`
	Parallel    int         `yaml:"parallel" strict:"positive"`
	Hatch       []name      `yaml:"hatch"`
	Skills      []string    `yaml:"skills"`
	MCP         rawMCP      `yaml:"mcp"`
	Extends     name        `yaml:"extends"`
}

type rawMCP struct {
	Servers []string `yaml:"servers"`
	Always  []string `yaml:"always"`
}

type rawSandbox struct {
	Level level `yaml:"level"`
	Net   hosts `yaml:"net"`
}

// Check finds hosts that no process of the card could reach.
func (s *rawSandbox) Check(fault func(path, text string)) {
	if len(s.Net) > 0 && s.Level != "" && s.Level != "workspace+net" {
		fault("net", fmt.Sprintf("at level %s nothing is reached: write level: workspace+net, or net: none", s.Level))
	}
}

// level is a level of the sandbox that a card may ask for.
type level string

var levels = []string{"read-only", "workspace", "workspace+net"}

// UnmarshalText takes the levels that confine.
func (l *level) UnmarshalText(text []byte) error {
	if string(text) == "off" {
		return errors.New("a card cannot take the sandbox away: that is the user's to say, with --sandbox off")
	}
	if !slices.Contains(levels, string(text)) {
		return fmt.Errorf("unknown level %q: there are %s", text, strings.Join(levels, ", "))
	}
	*l = level(text)
	return nil
}

// hosts is a list of hosts; in one word, one of them, or none.
type hosts []string

// UnmarshalText takes one word.
func (h *hosts) UnmarshalText(text []byte) error {
	*h = nil
	if string(text) != "none" {
		*h = hosts{string(text)}
	}
	return nil
}

type rawCaps struct {
	USD    *strict.USD    `yaml:"usd" strict:"positive"`
	Tokens *int64         `yaml:"tokens" strict:"positive"`
	Output int            `yaml:"output" strict:"positive"`
	Turns  *int64         `yaml:"turns" strict:"positive"`
	Wall   *time.Duration `yaml:"wall" strict:"positive"`
	Calls  *int64         `yaml:"calls" strict:"positive"`
}

// gate is a command, whatever YAML would make of it: true is one.
type gate string

// UnmarshalText takes any scalar.
func (g *gate) UnmarshalText(text []byte) error {
	if strings.TrimSpace(string(text)) == "" {
		return fmt.Errorf("a gate needs a command")
	}
	*g = gate(text)
	return nil
}

var nameShape = lazily(`^[a-z0-9][a-z0-9_-]{0,63}$`)

const nameText = "a card's name is a-z, 0-9, dash and underscore, at most 64, and begins with a letter or digit"

// name is the name of another card.
type name string

// UnmarshalText takes what can be a card's name.
func (n *name) UnmarshalText(text []byte) error {
	if !nameShape().Match(text) {
		return errors.New(nameText)
	}
	*n = name(text)
	return nil
}

type effort string

var efforts = []string{"none", "minimal", "low", "medium", "high", "xhigh"}

// UnmarshalText takes the efforts that providers know.
func (e *effort) UnmarshalText(text []byte) error {
	if !slices.Contains(efforts, string(text)) {
		return fmt.Errorf("unknown effort %q: there are %s", text, strings.Join(efforts, ", "))
	}
	*e = effort(text)
	return nil
}

// diagnostics is what ants read of their edits.
type diagnostics string

var diagnosed = []string{"off", "errors", "warnings", "all"}

// UnmarshalText takes what they can be told.
func (d *diagnostics) UnmarshalText(text []byte) error {
	if !slices.Contains(diagnosed, string(text)) {
		return fmt.Errorf("diagnostics are off, errors, warnings or all, not %q", text)
	}
	*d = diagnostics(text)
	return nil
}

// Parse reads one card; all faults come at once, by place. Source is the file it came from. Tool names and
// models are not looked up here: Lint knows the tools; nor is the card it extends: a Shelf knows the cards.
func Parse(source string, data []byte) (Card, strict.Faults) {
	doc, faults := strict.Parse(source, data)
	if doc == nil {
		return Card{}, faults
	}
	var r raw
	faults = append(faults, doc.Decode(&r)...)
	if r.Name != "" && !nameShape().MatchString(r.Name) {
		faults = append(faults, doc.Fault("name", nameText))
	}
	faults = append(faults, lists(doc, r, faults)...)
	return r.card(source, data, doc), faults.Sorted()
}

// lists finds empty and repeated entries of the card's lists, but for entries that are named in known.
func lists(doc *strict.Doc, r raw, known strict.Faults) strict.Faults {
	var faults strict.Faults
	for path, list := range map[string][]string{"tools": r.Tools, "skills": r.Skills, "permissions.allow": r.Permissions.Allow, "permissions.ask": r.Permissions.Ask, "permissions.deny": r.Permissions.Deny, "sandbox.net": r.Sandbox.Net, "mcp.servers": r.MCP.Servers, "mcp.always": r.MCP.Always} {
		for i, entry := range list {
			at := fmt.Sprintf("%s[%d]", path, i)
			wrong := func(f strict.Fault) bool {
				return f.Line == doc.Fault(at, "").Line && f.Column == doc.Fault(at, "").Column
			}
			switch {
			case slices.ContainsFunc(known, wrong):
			case strings.TrimSpace(entry) == "":
				faults = append(faults, doc.Fault(at, "this entry is empty: delete it"))
			case slices.Index(list, entry) < i:
				faults = append(faults, doc.Fault(at, entry+" is here twice: keep one"))
			}
		}
	}
	return faults
}

func (r raw) card(source string, data []byte, doc *strict.Doc) Card {
	c := Card{
		Name: r.Name, Description: r.Description, Model: r.Model, Escalate: r.Escalate, Effort: string(r.Effort), Diagnostics: string(r.Diagnostics), Prompt: r.Prompt,
		Tools: r.Tools, Permissions: r.Permissions, Skills: r.Skills, Sandbox: Sandbox{Level: string(r.Sandbox.Level), Net: r.Sandbox.Net}, MCP: MCP(r.MCP), Parallel: r.Parallel, Extends: string(r.Extends),
		Caps:   Caps{PicoUSD: (*int64)(r.Caps.USD), Tokens: r.Caps.Tokens, Turns: r.Caps.Turns, Calls: r.Caps.Calls, Wall: r.Caps.Wall, Output: r.Caps.Output},
		Source: source, SHA256: hash(data), Text: string(data), doc: doc,
	}
	for _, h := range r.Hatch {
		c.Hatch = append(c.Hatch, string(h))
	}
	for _, g := range r.Gates {
		c.Gates = append(c.Gates, string(g))
	}
	c.from = given(c, doc)
	return c.withSkill()
}

// withSkill is the card with the tool by which its skills are called up.
func (c Card) withSkill() Card {
	if len(c.Skills) > 0 && len(c.Tools) > 0 && !slices.Contains(c.Tools, skillTool) {
		c.Tools = append(slices.Clone(c.Tools), skillTool)
	}
	return c
}

const skillTool = "skill"
