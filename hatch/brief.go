package hatch

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"colony/event"
)

// Brief is what is said before anything is spent.
type Brief struct {
	Run, Goal, Branch, Base string
	Tasks, Ants             int
	Planned                 bool // by the queen: Tasks is not known yet
	Models                  []ShownModel
	Gates                   []string
	Setup                   []string
	NoGate                  bool
	Mode, Level, Mechanism  string
	Net                     []string // by card, what its commands reach; none where that is nothing
	Caps                    event.Caps
	Held                    []string // what the project's settings and cards ask for in vain
	Left                    []string // uncommitted files, which the run sees only if they are taken in
	Taken                   bool
}

// Brief says what the run is made of.
func (c *Colony) Brief() Brief {
	b := Brief{
		Run: c.run, Goal: c.goal(), Branch: "colony/" + c.run, Base: c.base,
		Tasks: len(c.parts.Plan.Tasks), Planned: c.parts.Goal != "", Ants: c.width(), NoGate: c.parts.NoGate,
		Setup: c.settings.run.Setup, Mode: c.mode, Level: c.box.Level(), Mechanism: c.box.Mechanism(), Caps: capsEvent(c.book.Caps()), Left: c.left, Taken: c.parts.Dirty,
	}
	if c.parts.Only {
		b.Branch = ""
	}
	for _, f := range c.parts.Settings.Held() {
		b.Held = append(b.Held, fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Text))
	}
	for _, g := range c.gates {
		b.Gates = append(b.Gates, g.Run)
	}
	for _, name := range c.cardNames() {
		m := c.models[name]
		b.Models = append(b.Models, ShownModel{Card: name, Model: m.String(), Price: m.rate.State})
		if o, err := c.settings.sandbox.out(b.Level, c.cards[name]); err == nil && !o.none() {
			b.Net = append(b.Net, name+": "+strings.Join(o.names, ", "))
		}
		if why := vain(b.Level, c.cards[name]); why != "" {
			b.Held = append(b.Held, why)
		}
		if other, ok := c.models[escalated(name)]; ok {
			b.Models = append(b.Models, ShownModel{Card: escalated(name), Model: other.String(), Price: other.rate.State})
		}
	}
	return b
}

func (c *Colony) cardNames() []string { return slices.Sorted(maps.Keys(c.cards)) }
