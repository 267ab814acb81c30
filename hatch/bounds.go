package hatch

import (
	"context"
	"time"

	"colony/cards"
	"colony/event"
	"colony/ledger"
	"colony/plan"
)

// bound works out the caps of the run and how many ants work at once. A model without a price is held by tokens.
func (c *Colony) bound() (err error) {
	run := c.settings.run
	if c.caps.Wall, err = run.wall(); err != nil {
		return err
	}
	usd, err := run.budget()
	if err != nil {
		return err
	}
	tokens, err := run.tokens()
	if err != nil {
		return err
	}
	if c.unseen, err = run.unseen(); err != nil {
		return err
	}
	if c.ants, err = run.ants(); err != nil {
		return err
	}
	priced, unpriced := c.split()
	typedUSD, typedTokens := c.typed("run.budget"), c.typed("run.max_tokens")
	if unpriced != "" && typedUSD && usd != nil && !typedTokens {
		return &Problem{
			Exit: 2, Code: "unpriced", Message: "a budget in dollars cannot hold " + unpriced + ", whose price is not known",
			Next: "give --max-tokens too, or --budget none",
		}
	}
	if c.past != nil {
		c.caps = c.again(usd, tokens, c.caps.Wall)
		return c.bounded()
	}
	if priced || typedUSD {
		c.caps.PicoUSD = usd
	}
	if unpriced != "" || typedTokens || !priced {
		c.caps.Tokens = tokens
	}
	return nil
}

// split says whether a model in use has a price, and names one whose price is unknown.
func (c *Colony) split() (priced bool, unpriced string) {
	for _, first := range c.models {
		for _, m := range append([]chosen{first}, first.next...) {
			switch m.rate.State {
			case event.Known:
				priced = true
			case event.Unknown:
				unpriced = m.String()
			}
		}
	}
	return priced, unpriced
}

// again is the caps of a run that goes on: its own, but for those that were typed now.
func (c *Colony) again(usd, tokens *int64, wall *time.Duration) ledger.Caps {
	own := c.past.Started.Caps
	caps := ledger.Caps{Tokens: own.Tokens, Turns: own.Turns, Calls: own.Calls}
	if own.USD != nil {
		pico := int64(*own.USD)
		caps.PicoUSD = &pico
	}
	if own.WallMs != nil {
		left := time.Duration(*own.WallMs) * time.Millisecond
		caps.Wall = &left
	}
	for _, pair := range [][2]**int64{{&caps.PicoUSD, &c.parts.raised.PicoUSD}, {&caps.Tokens, &c.parts.raised.Tokens}} {
		if *pair[1] != nil {
			*pair[0] = *pair[1]
		}
	}
	if c.typed("run.budget") {
		caps.PicoUSD = usd
	}
	if c.typed("run.max_tokens") {
		caps.Tokens = tokens
	}
	if c.typed("run.wall") {
		caps.Wall = wall
	}
	return caps
}

// bounded lowers the caps of a run that goes on to what the organisation bounds now.
func (c *Colony) bounded() (err error) {
	var most runSettings
	for key, into := range map[string]*string{"run.budget": &most.Budget, "run.max_tokens": &most.MaxTokens, "run.wall": &most.Wall} {
		*into = none
		if text, bound := c.parts.Settings.Bound(key); bound {
			*into = text
		}
	}
	usd, err := most.budget()
	if err != nil {
		return err
	}
	tokens, err := most.tokens()
	if err != nil {
		return err
	}
	wall, err := most.wall()
	if err != nil {
		return err
	}
	c.caps.PicoUSD, c.caps.Tokens, c.caps.Wall = lower(c.caps.PicoUSD, usd), lower(c.caps.Tokens, tokens), lower(c.caps.Wall, wall)
	return nil
}

// lower is the lower of two bounds; nil is none.
func lower[N int64 | time.Duration](a, b *N) *N {
	if a == nil || b != nil && *b < *a {
		return b
	}
	return a
}

// typed reports whether a setting was given: with a run that goes on, now.
func (c *Colony) typed(key string) bool {
	if c.past != nil {
		_, now := c.parts.typed[key]
		return now
	}
	return c.parts.Settings.Origin(key) != "default"
}

// width is how many ants work at once.
func (c *Colony) width() int {
	if c.ants > 0 {
		return c.ants
	}
	n := 4
	for _, m := range c.models {
		n = min(n, max(m.server.Parallel, 1))
	}
	return n
}

func (c *Colony) rate(provider, name string) ledger.Rate {
	r := c.rateOf(provider, name, c.settings.providers[provider])
	if r.State == event.Known && r.Date == "" { // of one's own that says no day: as of today
		r.Date = c.parts.Now().UTC().Format(time.DateOnly)
	}
	return r
}

// antCaps are the caps of a card.
func antCaps(card cards.Card) ledger.Caps {
	return ledger.Caps{PicoUSD: card.Caps.PicoUSD, Tokens: card.Caps.Tokens, Turns: card.Caps.Turns, Calls: card.Caps.Calls, Wall: card.Caps.Wall}
}

func taskCaps(t plan.Task) ledger.Caps {
	return ledger.Caps{PicoUSD: t.Caps.PicoUSD, Tokens: t.Caps.Tokens, Turns: t.Caps.Turns, Calls: t.Caps.Calls, Wall: t.Caps.Wall}
}

// capsEvent is caps as the log has them.
func capsEvent(c ledger.Caps) event.Caps {
	out := event.Caps{Tokens: c.Tokens, Turns: c.Turns, Calls: c.Calls}
	if c.PicoUSD != nil {
		usd := event.PicoUSD(*c.PicoUSD)
		out.USD = &usd
	}
	if c.Wall != nil {
		ms := c.Wall.Milliseconds()
		out.WallMs = &ms
	}
	return out
}

// throttled records that all ants wait for a provider.
func (c *Colony) throttled(why string, until time.Time) {
	n := c.width()
	e := event.Event{Run: c.run, Body: event.Throttled{Why: why, Until: until, AntsFrom: n, AntsTo: n}}
	if _, err := c.log.Append(context.Background(), e); err != nil {
		c.parts.Diagnostics.Error("append throttled", "error", err)
	}
}
