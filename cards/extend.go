package cards

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"colony/strict"
)

// keys are the values that a card can have from another, each with how it is taken over.
var keys = []struct {
	name string
	take func(to *Card, from Card)
}{
	{"description", func(to *Card, from Card) { to.Description = from.Description }},
	{"model", func(to *Card, from Card) { to.Model = from.Model }},
	{"escalate", func(to *Card, from Card) { to.Escalate = from.Escalate }},
	{"effort", func(to *Card, from Card) { to.Effort = from.Effort }},
	{"diagnostics", func(to *Card, from Card) { to.Diagnostics = from.Diagnostics }},
	{"prompt", func(to *Card, from Card) { to.Prompt = from.Prompt }},
	{"tools", func(to *Card, from Card) { to.Tools = from.Tools }},
	{"permissions.allow", func(to *Card, from Card) { to.Permissions.Allow = from.Permissions.Allow }},
	{"permissions.ask", func(to *Card, from Card) { to.Permissions.Ask = from.Permissions.Ask }},
	{"permissions.deny", func(to *Card, from Card) { to.Permissions.Deny = from.Permissions.Deny }},
	{"sandbox.level", func(to *Card, from Card) { to.Sandbox.Level = from.Sandbox.Level }},
	{"sandbox.net", func(to *Card, from Card) { to.Sandbox.Net = from.Sandbox.Net }},
	{"caps.usd", func(to *Card, from Card) { to.Caps.PicoUSD = from.Caps.PicoUSD }},
	{"caps.tokens", func(to *Card, from Card) { to.Caps.Tokens = from.Caps.Tokens }},
	{"caps.output", func(to *Card, from Card) { to.Caps.Output = from.Caps.Output }},
	{"caps.turns", func(to *Card, from Card) { to.Caps.Turns = from.Caps.Turns }},
	{"caps.wall", func(to *Card, from Card) { to.Caps.Wall = from.Caps.Wall }},
	{"caps.calls", func(to *Card, from Card) { to.Caps.Calls = from.Caps.Calls }},
	{"skills", func(to *Card, from Card) { to.Skills = from.Skills }},
	{"mcp.servers", func(to *Card, from Card) { to.MCP.Servers = from.MCP.Servers }},
	{"mcp.always", func(to *Card, from Card) { to.MCP.Always = from.MCP.Always }},
	{"gates", func(to *Card, from Card) { to.Gates = from.Gates }},
	{"hatch", func(to *Card, from Card) { to.Hatch = from.Hatch }},
	{"parallel", func(to *Card, from Card) { to.Parallel = from.Parallel }},
}

// over is the card with the values of parent where it gives none itself. A list is taken whole or not at all. The hash is
// of both texts, so a change of either is another card.
func (c Card) over(parent Card) Card {
	from := map[string]origin{}
	for _, k := range keys {
		if at, own := c.from[k.name]; own {
			from[k.name] = at
		} else if at, given := parent.from[k.name]; given {
			k.take(&c, parent)
			from[k.name] = at
		}
	}
	c.from = from
	c.Text = strings.TrimSuffix(c.Text, "\n") + "\n---\n# " + parent.Name + ", from " + parent.Source + "\n" + parent.Text
	c.SHA256 = hash([]byte(c.Text))
	return c.withSkill()
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// given is where the document gives each of the keys.
func given(c Card, doc *strict.Doc) map[string]origin {
	from := map[string]origin{}
	for _, k := range keys {
		if doc.Has(k.name) {
			from[k.name] = origin{c.Name, c.Source, doc}
		}
	}
	return from
}

// layers are the cards of each source by name, weakest first.
type layers []map[string]Card

// find is the strongest card of the name below the layer, and the layer it lies in.
func (l layers) find(name string, below int) (Card, int, bool) {
	for i := below - 1; i >= 0; i-- {
		if c, ok := l[i][name]; ok {
			return c, i, true
		}
	}
	return Card{}, 0, false
}

// whole are the cards of a layer with all they extend, but for those that are wrong.
func (l layers) whole(at int) (map[string]Card, strict.Faults) {
	var faults strict.Faults
	cards := map[string]Card{}
	for _, name := range slices.Sorted(maps.Keys(l[at])) {
		c, wrong := l.resolve(l[at][name], at, nil)
		faults = append(faults, wrong...)
		if len(wrong) == 0 {
			cards[name] = c
		}
	}
	return cards, faults
}

// resolve is the card of a layer with all it extends. A card that extends its own name extends the weaker card of that
// name. A name that no card has, and a circle, are faults of the card that says so.
func (l layers) resolve(c Card, at int, seen []string) (Card, strict.Faults) {
	if c.Extends == "" {
		return c, nil
	}
	seen = append(slices.Clone(seen), id(c))
	below := len(l)
	if c.Extends == c.Name {
		below = at
	}
	parent, where, ok := l.find(c.Extends, below)
	if !ok {
		return c, strict.Faults{c.fault("extends", fmt.Sprintf("card %s extends %s, %s", c.Name, quoted(c.Extends), l.instead(c.Extends, below)))}
	}
	if i := slices.Index(seen, id(parent)); i >= 0 {
		return c, strict.Faults{c.fault("extends", "the cards extend one another in a circle: "+circle(append(seen[i:], id(parent))))}
	}
	whole, faults := l.resolve(parent, where, seen)
	if len(faults) > 0 {
		return c, faults
	}
	return c.over(whole), nil
}

// instead says which cards there are where one is not.
func (l layers) instead(name string, below int) string {
	var names []string
	for _, layer := range l[:below] {
		for other := range layer {
			names = append(names, other)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if near := strict.Nearest(name, names); near != "" {
		return "which is no card: did you mean " + near + "?"
	}
	if len(names) == 0 {
		return "but there is no weaker card of that name"
	}
	return "which is no card here: there are " + strings.Join(names, ", ")
}

func id(c Card) string { return c.Name + "\x00" + c.Source }

func circle(ids []string) string {
	names := make([]string, len(ids))
	for i, one := range ids {
		names[i], _, _ = strings.Cut(one, "\x00")
	}
	return strings.Join(names, ", ")
}
