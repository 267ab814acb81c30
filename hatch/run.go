package hatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"colony/event"
	"colony/ledger"
	"colony/plan"
	"colony/queen"

	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/pool"
)

// Run carries the plan out. The last event is run.finished, which is returned.
func (c *Colony) Run(ctx context.Context) (event.RunFinished, error) {
	if err := c.outfit(ctx); err != nil {
		return event.RunFinished{}, err
	}
	if err := c.start(ctx); err != nil {
		return event.RunFinished{}, err
	}
	var unread, unbegun error
	var both, beside conc.WaitGroup
	defer beside.Wait()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	c.crew.begin(stop)
	beside.Go(func() { c.repo.Ahead(ctx, c.base, c.spares()) })
	both.Go(func() { unread = c.readAdvice(ctx) })
	both.Go(func() { unbegun = c.begin(ctx) })
	both.Wait()
	if err := cmp.Or(unbegun, unread); err != nil {
		return event.RunFinished{}, err
	}
	gates, err := c.confine("gates")
	if err != nil {
		return event.RunFinished{}, err
	}
	if err := c.clear(stop); err != nil { // what was left while nobody carried the run out counts before anything is asked
		return event.RunFinished{}, err
	}
	tending := pool.New().WithErrors().WithContext(ctx)
	tending.Go(func(ctx context.Context) error { return c.tend(ctx, stop) })
	finished, err := queen.Run(ctx, queen.Parts{
		Run: c.run, Planner: c.plan, Past: c.past, Branch: c.repo.Branch(), Base: c.base,
		Log: c.log, Hatcher: c, Repo: c.repo, Gates: c.gates, RedBase: c.allowRed(ctx),
		Ants: c.width(), Returns: c.settings.limits.GateReturns, Labels: c.parts.Labels, Now: c.parts.Now, Kept: c.repo.KeptRef,
		Batch: c.settings.limits.LandingBatch, Rounds: c.settings.limits.ReviewRounds, Retries: retries,
		Review: c.settings.run.Review, Reviewer: c.helper(reviewerCard), Resolver: c.helper(resolverCard),
		Again: c.retry, Held: c.holds, File: c.repo.File, Reword: c.repo.Reword, Deliver: c.deliver,
		Caps:  func(t plan.Task) ledger.Caps { return antCaps(c.cards[t.Card]) },
		Most:  func(card string) int { return c.cards[card].Parallel },
		Cards: func(card string) []plan.Gate { return plainGates(c.cards[card].Gates) },
		Gate: func(ctx context.Context, dir string, g plan.Gate) (event.GateReceipt, error) {
			ctx, end := grace(ctx, time.Duration(c.settings.limits.Stop))
			defer end()
			own, err := takeLease(c.parts.leases(), nil)
			if err != nil {
				return event.GateReceipt{}, err
			}
			defer own.end()
			receipt, _, err := c.gate(ctx, gates.in(dir, "").with(own.env()), dir, g)
			return receipt, err
		},
	})
	stop(nil)
	if err := errors.Join(err, tending.Wait()); err != nil {
		return finished, err
	}
	if c.held, err = c.repo.Close(context.WithoutCancel(ctx)); err != nil {
		return finished, fmt.Errorf("clean up the worktrees: %w", err)
	}
	if err := c.toldHooks(ctx, finished); err != nil {
		return finished, err
	}
	return finished, nil
}

// spares is how many worktrees are kept ready: as many as may be asked for at once.
func (c *Colony) spares() int {
	if n := len(c.parts.Plan.Tasks); n > 0 {
		return min(c.width(), n)
	}
	return c.width()
}

// start makes the branch of a new run, or takes up that of one that goes on.
func (c *Colony) start(ctx context.Context) error {
	if c.past != nil {
		return c.goesOn(ctx)
	}
	return repoProblem(c.repo.Start(ctx, c.base))
}

// Held are the worktrees that Run left, since they hold what is in no commit.
func (c *Colony) Held() []string { return c.held }

// begin appends run.started.
func (c *Colony) begin(ctx context.Context) error {
	brief := c.Brief()
	settingsBlob, err := c.blobs.Put("application/yaml", []byte(c.parts.Settings.Text()))
	if err != nil {
		return err
	}
	started := event.RunStarted{
		Goal: c.goal(), Base: c.base, Branch: brief.Branch, Version: c.parts.Version, Mode: c.mode,
		Sandbox: event.Sandbox{Level: c.box.Level(), Mechanism: c.box.Mechanism()}, Caps: capsEvent(c.caps),
		Settings: settingsBlob.SHA256, Headless: c.parts.Headless, Labels: c.parts.Labels, User: fmt.Sprintf("%s <%s>", c.repo.User().Name, c.repo.User().Email),
	}
	started.On, started.Setup = c.repo.On(), c.settings.run.Setup
	if c.parts.From != nil {
		started.From = c.parts.From.Run()
	}
	for _, g := range c.gates {
		started.Gates = append(started.Gates, g.Run)
	}
	if c.parts.Goal == "" {
		blob, err := c.blobs.Put("application/yaml", plan.Write(c.parts.Plan))
		if err != nil {
			return err
		}
		started.Plan = blob.SHA256
	}
	for _, name := range c.cardNames() {
		card := c.cards[name]
		blob, err := c.blobs.Put("application/yaml", []byte(card.Text))
		if err != nil {
			return err
		}
		started.Cards = append(started.Cards, event.Card{Name: name, Source: card.Source, SHA256: blob.SHA256, Model: c.models[name].String()})
	}
	var body event.Body = started
	if c.past != nil {
		body = event.RunResumed(started)
	}
	if _, err = c.log.Append(ctx, event.Event{Run: c.run, Body: body}); err != nil {
		return err
	}
	c.begun = true
	return cmp.Or(c.tookIn(ctx), c.leftOut(ctx))
}

func plainGates(commands []string) []plan.Gate {
	var out []plan.Gate
	for _, run := range commands {
		out = append(out, plan.Gate{Run: run})
	}
	return out
}

// confine makes the box for processes of one kind: ants or gates.
func (c *Colony) confine(kind string) (confined, error) {
	cache := c.parts.Cache
	if cache == "" {
		cache = filepath.Join(c.parts.home(), "cache")
	}
	box, err := newConfined(c.box, filepath.Join(cache, kind), c.repo.Readable(), c.leads, c.parts.Getenv)
	if err != nil {
		return confined{}, err
	}
	reach, err := c.settings.sandbox.out(c.box.Level())
	return box.to(reach, c.parts.Getenv, untold), err
}

// untold is for commands that are no ant's: what was refused stands in their output.
func untold(context.Context, *trip) error { return nil }
