package hatch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"colony/ant"
	"colony/cards"
	"colony/event"
	"colony/guard"
	"colony/mcp"
	"colony/queen"
	"colony/tools"
)

// family is what an ant, its helpers and theirs share: how many helpers there were. It is safe for concurrent use.
type family struct {
	mu    sync.Mutex // guards what follows
	known bool       // those of earlier processes are counted
	count int
}

// bear counts one more helper of the ant from whom all come, and says which it is; 0 where there were enough.
func (f *family) bear(ctx context.Context, log event.Log, first string, most int) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.known {
		for e, err := range log.Read(ctx, 0) {
			if err != nil {
				return 0, err
			}
			if b, ok := e.Body.(event.AntHatched); ok && b.Parent != "" && b.Attempt == 1 && strings.HasPrefix(e.Ant, first+".") {
				f.count++
			}
		}
		f.known = true
	}
	if f.count >= most {
		return 0, nil
	}
	f.count++
	return f.count, nil
}

// nobodyHelps is the help of an ant that is none of a run's.
func nobodyHelps(context.Context, string, string, string) (tools.Result, error) {
	return tools.Refuse(tools.Missing, "there are no helpers here: look yourself"), nil
}

// help hatches a helper for an ant and returns its answer. An ant that waits lends its place: its helpers work one after
// the other, so that with it no more ants are at work than may be.
func (c *Colony) help(ctx context.Context, parent, card, prompt string) (tools.Result, error) {
	p := c.crew.living(parent)
	if p == nil {
		return nobodyHelps(ctx, parent, card, prompt)
	}
	_, there := c.cards[card]
	switch {
	case !slices.Contains(p.card.Hatch, card):
		return tools.Refuse(tools.PermissionDenied, fmt.Sprintf("your card may not hatch %s; it may hatch %s", card, strings.Join(p.card.Hatch, ", "))), nil
	case !there:
		return tools.Refuse(tools.Missing, fmt.Sprintf("%s has no model in this run: look yourself", card)), nil
	case p.depth >= c.settings.limits.HelperDepth:
		return tools.Refuse(tools.PermissionDenied, fmt.Sprintf("helpers are %d deep here, which is the most: look yourself", p.depth)), nil
	}
	select {
	case p.place <- struct{}{}:
	case <-ctx.Done():
		return tools.Refuse(tools.Cancelled, "cancelled before the helper began"), nil
	}
	defer func() { <-p.place }()
	first, _, _ := strings.Cut(parent, ".")
	n, err := p.family.bear(ctx, c.log, first, c.settings.limits.Helpers)
	if err != nil {
		return tools.Result{}, err
	}
	if n == 0 {
		return tools.Refuse(tools.PermissionDenied, fmt.Sprintf("there were %d helpers for this task, which is the most: look yourself", c.settings.limits.Helpers)), nil
	}
	return c.hatchling(p, card, n).answer(ctx, prompt)
}

// hatchling is a helper of an ant, in its worktree and with what it may use itself.
func (c *Colony) hatchling(p *life, card string, n int) *life {
	o := queen.Order{
		Run: c.run, Task: p.order.Task, Title: p.order.Title, Ant: fmt.Sprintf("%s.%s-%d", p.order.Ant, card, n), Card: card,
		Base: p.order.Base, Attempt: 1, Caps: antCaps(c.cards[card]),
	}
	l := c.lifeOf(o, p.env.Tools)
	l.parent, l.depth, l.family, l.tree, l.lease = p, p.depth+1, p.family, p.tree, p.lease
	l.account.Parent = p.order.Ant
	c.book.OpenAnt(l.account, o.Caps)
	return l
}

// answer lets the helper live.
func (l *life) answer(ctx context.Context, prompt string) (tools.Result, error) {
	first := fmt.Sprintf("Task %s: a question of %s\n\n%s\n\nAnswer in the summary of done, with outcome no_change.\n", l.order.Task, l.parent.order.Ant, strings.TrimSpace(prompt))
	var ending ant.Ending
	err := l.lead(ctx, first, func(ctx context.Context) (reason ant.Reason, err error) {
		ending, err = l.ant.Work(ctx)
		return ending.Reason, err
	})
	switch {
	case err != nil:
		return tools.Result{}, err
	case ctx.Err() != nil:
		return tools.Refuse(tools.Cancelled, "cancelled before the helper "+l.order.Ant+" had an answer"), nil
	case ending.Reason == ant.Done || ending.Reason == ant.NoChange:
		return tools.Result{Text: ending.Detail}, nil
	}
	return tools.Result{Text: fmt.Sprintf("The helper %s ended without an answer (%s): %s", l.order.Ant, ending.Reason, ending.Detail)}, nil
}

// allowed is what a card's ants may use: of a helper's, what only looks. Calls of servers' tools are judged one by one.
func (l *life) allowed() []string {
	if l.parent == nil {
		return answered(l.card.Tools, l.spoken)
	}
	return slices.DeleteFunc(slices.Clone(answered(l.card.Tools, l.spoken)), func(name string) bool {
		t, ok := l.shelf.Lookup(name)
		return !strings.Contains(name, "*") && name != "done" && mcp.ServerOf(name) == "" && (!ok || !t.Spec().ReadOnly)
	})
}

// helping is where the policy of a card's ants is kept that are helpers. No card can have this name.
func helping(card string) string { return card + " helping" }

// policy is what decides the ant's calls.
func (l *life) policy() *guard.Policy {
	if l.parent != nil {
		return l.policies[helping(l.order.Card)]
	}
	return l.policies[l.order.Card]
}

// castHatched adds the cards that those of the run may hatch, and those that these may.
func (c *Colony) castHatched(card cards.Card) error {
	for _, name := range card.Hatch {
		if _, ok := c.cards[name]; ok {
			continue
		}
		other, err := c.parts.Cards.Get(name)
		if err != nil {
			return &Problem{Exit: 2, Code: "no_card", Message: fmt.Sprintf("card %s may hatch %s: %v", card.Name, name, err), Next: "colony cards list"}
		}
		if faults := c.lint(other); len(faults) > 0 {
			return faults
		}
		c.cards[name] = other
		if err := c.castHatched(other); err != nil {
			return err
		}
	}
	return nil
}
