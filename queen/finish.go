package queen

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"colony/event"
	"colony/ledger"
	"colony/tools"
)

// Exit codes of a run.
const (
	exitDone     = 0
	exitBroken   = 1
	exitRefused  = 2
	exitUnlanded = 3
	exitCapped   = 4
	exitAsked    = 5
	exitProvider = 6
	exitStopped  = 130
)

// tally is what the queen folds from the log: the bill, who worked on what, and what was denied.
type tally struct {
	last   event.Seq
	bill   ledger.Bill
	ants   map[string][]string // by task
	denied []event.Denied

	cooled  int // waits for a provider
	unclear []event.Unclear
	open    []string // questions
}

// read takes what was appended since the last time.
func (c *tally) read(ctx context.Context, log event.Log) error {
	if c.ants == nil {
		c.ants = map[string][]string{}
	}
	for e, err := range log.Read(context.WithoutCancel(ctx), c.last) {
		if err != nil {
			return fmt.Errorf("read the log after %d: %w", c.last, err)
		}
		c.last = e.Seq
		c.bill.Add(e)
		switch body := e.Body.(type) {
		case event.TaskClaimed:
			if !slices.Contains(c.ants[e.Task], e.Ant) {
				c.ants[e.Task] = append(c.ants[e.Task], e.Ant)
			}
		case event.Throttled:
			if !body.Until.IsZero() {
				c.cooled++
			}
		case event.AskOpened:
			c.open = append(without(c.open, body.Ask), body.Ask)
		case event.AskAnswered:
			c.open = without(c.open, body.Ask)
		case event.ToolDone:
			if body.Recovered && body.Rule == "unclear" {
				c.unclear = append(c.unclear, event.Unclear{Ant: e.Ant, Tool: body.Tool, Call: body.Call})
			}
			if body.Fault == string(tools.PermissionDenied) {
				c.denied = append(c.denied, event.Denied{Ant: e.Ant, Tool: body.Tool, Rule: body.Rule})
			}
		}
	}
	return nil
}

func without(asks []string, ask string) []string {
	return slices.DeleteFunc(asks, func(one string) bool { return one == ask })
}

// finish appends run.finished.
func (r *run) finish(ctx context.Context) (event.RunFinished, error) {
	readErr := errors.Join(r.deliver(ctx), r.count.read(ctx, r.p.Log))
	r.broken = r.broken || readErr != nil
	f := event.RunFinished{Branch: strings.TrimPrefix(r.p.Branch, "refs/heads/"), Base: r.p.Base, Commit: r.head, WallMs: r.p.Now().Sub(r.start).Milliseconds(),
		Reason: r.why, Denied: r.count.denied, Unclear: r.count.unclear, AsksOpen: r.count.open, Labels: r.p.Labels}
	if r.refused != nil {
		f.Reason = r.refused.Reason
	}
	if f.Reason == "" {
		f.Reason = r.undelivered
	}
	f.Usage, f.USD, f.Price = r.count.bill.Total()
	byID := map[string]*task{}
	for _, t := range r.graph.order {
		byID[t.ID] = t
	}
	for _, one := range r.graph.plan.Tasks {
		t := byID[one.ID]
		f.Tasks = append(f.Tasks, r.reported(t))
		if t.kept != "" {
			f.Kept = append(f.Kept, event.Kept{Task: t.ID, Ref: t.kept})
		}
	}
	f.Exit = r.exit(ctx)
	if lost := r.lostToModel(); f.Reason == "" && f.Exit == exitProvider && lost >= 0 {
		f.Reason = r.graph.order[lost].detail
	}
	f.Status = r.status(ctx, f.Exit)
	f.Resumable = f.Exit > exitUnlanded
	return f, errors.Join(readErr, r.append(ctx, event.Event{Body: f}))
}

// deliver hands a run on that has landed whole.
func (r *run) deliver(ctx context.Context) (err error) {
	if r.p.Deliver == nil || r.refused != nil || r.broken || !r.all() {
		return nil
	}
	r.undelivered, err = r.p.Deliver(ctx, r.head)
	return err
}

// reported is a task's line.
func (r *run) reported(t *task) event.TaskReport {
	out := t.report
	out.ID, out.Title, out.Card, out.Status, out.Reason, out.Detail, out.Attempts = t.ID, t.Title, t.Card, t.state, t.reason, t.detail, t.attempts
	if !t.ended() { // the run was refused before it began
		out.Status = cancelled
	}
	out.Ants = r.count.ants[t.ID]
	out.Usage, out.USD, out.Price = r.count.bill.Task(t.ID)
	return out
}

// exit is the first that applies of colony's own failure, a signal, the provider, a cap, an ask, a task.
func (r *run) exit(ctx context.Context) int {
	switch {
	case r.refused != nil:
		return r.refused.Exit
	case r.broken:
		return exitBroken
	case r.all() && r.undelivered != "":
		return exitUnlanded
	case r.all():
		return exitDone
	case ctx.Err() != nil && stopped(ctx) != exitAsked:
		return stopped(ctx)
	case r.fatal, r.lostToModel() >= 0:
		return exitProvider
	case r.capped:
		return exitCapped
	case r.asked, ctx.Err() != nil:
		return exitAsked
	}
	return exitUnlanded
}

// stopped is the exit code that the one who stopped the run wants.
func stopped(ctx context.Context) int {
	var coded interface {
		error
		ExitCode() int
	}
	if errors.As(context.Cause(ctx), &coded) {
		return coded.ExitCode()
	}
	return exitStopped
}

// lostToModel is the place of the first task that the provider cost; -1 where it cost none.
func (r *run) lostToModel() int {
	return slices.IndexFunc(r.graph.order, func(t *task) bool { return t.state == failed && t.reason == string(Model) })
}

// all reports whether every task went well; without a plan none did.
func (r *run) all() bool {
	return len(r.graph.order) > 0 && !slices.ContainsFunc(r.graph.order, func(t *task) bool { return !t.met() })
}

func (r *run) status(ctx context.Context, exit int) string {
	switch {
	case exit == exitDone:
		return landed
	case exit == exitCapped:
		return "capped"
	case ctx.Err() != nil && exit == exitAsked:
		return "waiting"
	case ctx.Err() != nil && exit != exitBroken && exit != exitRefused:
		return "stopped"
	case slices.ContainsFunc(r.graph.order, func(t *task) bool { return t.state == landed }):
		return "partial"
	}
	return failed
}
