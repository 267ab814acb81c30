package hatch

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"colony/cards"
	"colony/event"
	"colony/ledger"
	"colony/model"
	"colony/plan"
)

const (
	// pastRuns is how many of the repository's last runs an estimate looks at.
	pastRuns = 10
	// enough is how many landed tasks of a card and model make a basis.
	enough = 3
)

// What a task takes where too few have landed: a few files read and one change, the usual, and one that comes back
// from its gates again and again.
func usual() [3]event.Usage {
	return [3]event.Usage{
		{Input: 20_000, Cached: 10_000, Output: 1_500},
		{Input: 120_000, Cached: 80_000, Output: 6_000},
		{Input: 400_000, Cached: 300_000, Output: 20_000},
	}
}

const usualWords = "no 3 landed tasks of %s here yet: 20,000, 120,000 or 400,000 tokens in, 1,500, 6,000 or 20,000 out"

// trade is a card at work with a model.
type trade struct{ card, model string }

// experience is what landed tasks of this repository took, by card and model.
type experience struct {
	colony *Colony
	took   map[trade][]event.Usage
}

// experience reads the repository's last runs. A log that cannot be read teaches nothing.
func (c *Colony) experience(ctx context.Context) experience {
	x := experience{colony: c, took: map[trade][]event.Usage{}}
	runs, err := c.parts.Runs()
	if err != nil {
		c.parts.Diagnostics.Warn("list the runs for an estimate", "error", err)
	}
	runs = slices.DeleteFunc(runs, func(p Past) bool { return p.ID == c.run })
	for _, past := range runs[max(0, len(runs)-pastRuns):] {
		if err := x.learn(ctx, past); err != nil {
			c.parts.Diagnostics.Warn("read a run for an estimate", "run", past.ID, "error", err)
		}
	}
	return x
}

// learn takes in the landed tasks of a run.
func (x experience) learn(ctx context.Context, past Past) error {
	models, cardOf := map[string]string{}, map[string]string{}
	for e, err := range past.Events(ctx) {
		if err != nil {
			return err
		}
		switch b := e.Body.(type) {
		case event.RunStarted:
			for _, card := range b.Cards {
				models[card.Name] = card.Model
			}
		case event.PlanMade:
			for _, t := range b.Tasks {
				cardOf[t.ID] = t.Card
			}
		case event.TaskDone:
			if card := cardOf[e.Task]; b.Status == "landed" && b.Usage.Requests > 0 {
				at := trade{card, models[card]}
				x.took[at] = append(x.took[at], b.Usage)
			}
		}
	}
	return nil
}

// estimate adds up what the tasks of a plan may take.
func (x experience) estimate(p plan.Plan) *event.Estimate {
	e := &event.Estimate{Price: event.Free}
	var sum [3]*event.PicoUSD
	for i := range sum {
		sum[i] = new(event.PicoUSD)
	}
	basis := map[string]bool{}
	for _, t := range p.Tasks {
		at := trade{t.Card, x.colony.models[t.Card].String()}
		rate := x.colony.models[t.Card].rate
		usages, words := x.spread(at, rate)
		basis[words] = true
		for i, u := range usages {
			tokens, usd := held(u, rate, t.Caps, x.colony.cards[t.Card].Caps)
			*[]*int64{&e.Tokens.Low, &e.Tokens.Expected, &e.Tokens.High}[i] += tokens
			sum[i] = plus(sum[i], usd)
		}
		switch {
		case rate.State == event.Known && e.Price == event.Free:
			e.Price = event.Known
		case rate.State != event.Known && rate.State != event.Free:
			e.Price = event.Unknown
		}
	}
	if e.Price != event.Unknown {
		e.Low, e.Expected, e.High = sum[0], sum[1], sum[2]
	}
	e.Basis = strings.Join(slices.Sorted(maps.Keys(basis)), "; ")
	return e
}

// spread is the least, the middle and half as much again as the most that landed tasks of a trade took, by what they would
// cost now.
func (x experience) spread(at trade, rate ledger.Rate) ([3]event.Usage, string) {
	took := x.took[at]
	if len(took) < enough {
		return usual(), fmt.Sprintf(usualWords, at.card+" with "+at.model)
	}
	worth := func(u event.Usage) int64 {
		if rate.State == event.Known {
			return int64(rate.Cost(billed(u)))
		}
		return u.Input + u.Output
	}
	took = slices.SortedFunc(slices.Values(took), func(a, b event.Usage) int { return cmp.Compare(worth(a), worth(b)) })
	most := took[len(took)-1]
	most = event.Usage{Input: most.Input * 3 / 2, Cached: most.Cached * 3 / 2, CacheWrite: most.CacheWrite * 3 / 2, Output: most.Output * 3 / 2}
	return [3]event.Usage{took[0], took[len(took)/2], most}, fmt.Sprintf("%d landed tasks of %s with %s here", len(took), at.card, at.model)
}

// billed is a usage as a rate takes it.
func billed(u event.Usage) model.Usage {
	return model.Usage{Fresh: u.Input - u.Cached - u.CacheWrite, Cached: u.Cached, CacheWrite: u.CacheWrite, Output: u.Output}
}

// held is a usage in tokens and money, each at most what the caps of the task and of its card let through. The money is
// nil where the price is unknown.
func held(u event.Usage, rate ledger.Rate, task plan.Caps, card cards.Caps) (int64, *event.PicoUSD) {
	tokens := least(u.Input+u.Output, task.Tokens, card.Tokens)
	switch rate.State {
	case event.Known:
		usd := event.PicoUSD(least(int64(rate.Cost(billed(u))), task.PicoUSD, card.PicoUSD))
		return tokens, &usd
	case event.Free:
		return tokens, new(event.PicoUSD)
	}
	return tokens, nil
}

func least(n int64, caps ...*int64) int64 {
	for _, c := range caps {
		if c != nil {
			n = min(n, *c)
		}
	}
	return n
}

func plus(a, b *event.PicoUSD) *event.PicoUSD {
	if a == nil || b == nil {
		return nil
	}
	sum := *a + *b
	return &sum
}
