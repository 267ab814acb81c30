package queen

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"colony/event"

	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/panics"
)

// leaseTime is how long a claim holds where no cap on the wall clock says it.
const leaseTime = 24 * time.Hour

// back is what a goroutine hands to work: an ant's outcome, or a landing.
type back struct {
	task    *task
	outcome Outcome
	landing *arrival
	err     error
}

// work runs ants and landings side by side until nothing is left that can go on. Only this goroutine
// changes the run; it waits for all it started.
func (r *run) work(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg conc.WaitGroup
	defer wg.Wait()
	backs := make(chan back)
	ants, lands := 0, 0
	err := r.ready(ctx, r.graph.roots())
	for {
		for err == nil && !r.halted(ctx) && ants < r.p.Ants {
			t := r.graph.pop(r.p.Most)
			if t == nil {
				break
			}
			if err = r.claim(ctx, t); err == nil {
				ants++
				order := t.order
				wg.Go(func() { backs <- hatch(ctx, r.p.Hatcher, t, order) })
			}
		}
		if err == nil && ctx.Err() == nil && lands == 0 && len(r.toLand) > 0 {
			t, head, ratchet := r.toLand[0], r.head, r.ratchet.copy()
			r.toLand, lands = r.toLand[1:], 1
			wg.Go(func() { backs <- land(ctx, r.p, t, head, ratchet) })
		}
		if ants == 0 && lands == 0 {
			break
		}
		b := <-backs
		if b.landing == nil {
			ants--
		} else {
			lands--
		}
		err = errors.Join(err, r.take(ctx, b))
		if err != nil {
			r.broken = true
			cancel(err)
		}
	}
	r.broken = err != nil
	return errors.Join(err, r.leave(ctx))
}

// ready records that the tasks need nothing more.
func (r *run) ready(ctx context.Context, tasks []*task) error {
	var events []event.Event
	for _, t := range tasks {
		r.graph.push(t)
		events = append(events, event.Event{Task: t.ID, Body: event.TaskReady{Needs: t.Needs}})
	}
	if len(events) == 0 {
		return nil
	}
	return r.append(ctx, events...)
}

// claim leases a task to its ant and writes the order for the attempt.
func (r *run) claim(ctx context.Context, t *task) error {
	if t.ant == "" {
		r.names[t.Card]++
		t.ant = t.Card + "-" + strconv.Itoa(r.names[t.Card])
		t.order.Base = r.head
	}
	r.fence++
	t.attempts++
	t.state = running
	t.order = Order{Run: r.p.Run, Task: t.ID, Title: t.Title, Ant: t.ant, Card: t.Card, Prompt: t.Prompt, Attempt: t.attempts,
		Base: t.order.Base, Told: t.order.Told, Kind: t.order.Kind, Red: t.order.Red,
		Gates: r.ratchet.binding(r.p, t), Caps: r.p.Caps(t.Task), Fence: r.fence}
	until := r.p.Now().Add(leaseTime)
	if wall := t.order.Caps.Wall; wall != nil {
		until = r.p.Now().Add(*wall)
	}
	claimed := event.TaskClaimed{Lease: fmt.Sprintf("%s.%d", t.ID, t.attempts), Token: r.fence, Until: until}
	return r.append(ctx, event.Event{Task: t.ID, Ant: t.ant, Body: claimed})
}

// hatch carries out an order. A panic is an error like any other.
func hatch(ctx context.Context, h Hatcher, t *task, o Order) (b back) {
	b.task = t
	caught := panics.Try(func() { b.outcome, b.err = h.Hatch(ctx, o) })
	if caught != nil {
		b.err = caught.AsError()
	}
	if b.err != nil {
		b.err = fmt.Errorf("hatch %s for %s: %w", o.Ant, o.Task, b.err)
	}
	return b
}

// take turns what came back into the run's state.
func (r *run) take(ctx context.Context, b back) error {
	switch {
	case b.err != nil && ctx.Err() != nil && (errors.Is(b.err, ctx.Err()) || errors.Is(b.err, context.Cause(ctx))):
		return r.end(ctx, b.task, cancelled, "")
	case b.err != nil:
		return errors.Join(b.err, r.end(ctx, b.task, failed, string(Internal)))
	case b.landing != nil:
		return r.arrived(ctx, b.task, b.landing)
	}
	return r.came(ctx, b.task, b.outcome)
}

// came takes an ant's outcome: work goes on to land, all else ends the task.
func (r *run) came(ctx context.Context, t *task, o Outcome) error {
	t.report.Receipt.Gates = o.Gates
	t.report.Files = o.Files
	if o.Kept != "" {
		t.kept = o.Kept
	}
	r.halt(&r.capped, o.Scope == "run", o.Detail)
	r.halt(&r.fatal, o.Fatal, o.Detail)
	r.asked = r.asked || o.Asked
	if o.Commit != "" {
		t.work = o.Commit
	}
	if o.Reason == Done && o.Commit != "" {
		t.state = landing
		r.toLand = append(r.toLand, t)
		return nil
	}
	status, reason := o.verdict()
	return r.end(ctx, t, status, reason)
}

// halt raises a flag that stops further ants; the first reason is the run's.
func (r *run) halt(flag *bool, when bool, why string) {
	if !when {
		return
	}
	*flag = true
	if r.why == "" {
		r.why = why
	}
}

// again sends a task back to its ant, with the reason; or ends it where it came back often enough.
func (r *run) again(ctx context.Context, t *task, next Order, reason string) error {
	if t.returns >= r.p.Returns || r.halted(ctx) {
		return r.end(ctx, t, failed, reason)
	}
	t.returns++
	t.order.Base, t.order.Told, t.order.Kind, t.order.Red = next.Base, next.Told, next.Kind, next.Red
	r.graph.push(t)
	return nil
}

// leave ends what the run leaves undone.
func (r *run) leave(ctx context.Context) error {
	reason := ""
	switch {
	case r.broken:
		reason = string(Internal)
	case r.fatal:
		reason = string(Model)
	case r.capped:
		reason = "caps"
	}
	var errs []error
	for _, t := range r.graph.order {
		if !t.ended() {
			errs = append(errs, r.end(ctx, t, cancelled, reason))
		}
	}
	return errors.Join(errs...)
}
