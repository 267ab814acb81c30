package queen

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
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
	landing *batch
	tip     string // of a landing that is under way; the rest is empty
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
	ants := 0
	err := r.goOn(ctx)
	for {
		for err == nil && !r.halted(ctx) && r.mayHatch(ants) {
			t := r.graph.pop(r.p.Most, r.mayBegin(ants))
			if t == nil {
				break
			}
			if r.outdated(t) {
				r.lookAgain(t)
				continue
			}
			if err = r.claim(ctx, t); err == nil {
				ants++
				order := t.order
				wg.Go(func() { backs <- hatch(ctx, r.p.Hatcher, t, order) })
			}
		}
		if err == nil && ctx.Err() == nil && r.mayLand() {
			l, ctx := r.board(ctx)
			wg.Go(func() {
				backs <- land(ctx, l, func(tip string) { backs <- back{landing: l, tip: tip} })
			})
		}
		if ants == 0 && len(r.train) == 0 {
			if id := r.wanted(); id != "" && err == nil {
				err = r.anew(ctx, id)
				continue
			}
			break
		}
		var b back
		select {
		case b = <-backs:
		case id := <-r.p.Again:
			err = errors.Join(err, r.anew(ctx, id))
			continue
		}
		if b.landing == nil {
			ants--
		}
		err = errors.Join(err, r.take(ctx, b), r.adapt(ctx))
		if err != nil {
			r.broken = true
			cancel(err)
		}
	}
	r.broken = err != nil
	return errors.Join(err, r.leave(ctx))
}

// wanted is a task that is to begin again; empty where none is.
func (r *run) wanted() string {
	select {
	case id := <-r.p.Again:
		return id
	default:
		return ""
	}
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

// claim leases a task to the ant whose turn it is and writes the order for the attempt.
func (r *run) claim(ctx context.Context, t *task) error {
	member, known := t.crew[t.role]
	if !known {
		r.names[t.order.Card]++
		member.ant = t.order.Card + "-" + strconv.Itoa(r.names[t.order.Card])
	}
	if t.order.Base == "" {
		t.order.Base, t.from = r.head, r.head
	}
	member.times++
	t.crew[t.role] = member
	r.fence++
	t.state = running
	o := &t.order
	o.Run, o.Task, o.Title, o.Ant, o.Attempt, o.Fence = r.p.Run, t.ID, t.Title, member.ant, member.times, r.fence
	if o.Prompt == "" {
		o.Prompt = t.Prompt
	}
	if t.role != reviewer {
		t.attempts++
		o.Gates, o.Files, o.Locks, o.From = r.ratchet.binding(r.p, t), t.Files, t.Locks, t.from
	}
	capped := t.Task
	capped.Card = o.Card
	o.Caps = r.p.Caps(capped)
	until := r.p.Now().Add(leaseTime)
	if wall := o.Caps.Wall; wall != nil {
		until = r.p.Now().Add(*wall)
	}
	claimed := event.TaskClaimed{Lease: fmt.Sprintf("%s.%s.%d", t.ID, t.role, member.times), Token: r.fence, Until: until, Base: o.Base}
	return r.append(ctx, event.Event{Task: t.ID, Ant: member.ant, Body: claimed})
}

// send makes a task wait for an ant of a role.
func (r *run) send(t *task, role string, next Order) {
	r.address(t, role, next)
	r.graph.push(t)
}

// address makes the next attempt at a task that of an ant of a role.
func (r *run) address(t *task, role string, next Order) {
	next.Card = map[string]string{author: t.Card, reviewer: r.p.Reviewer, resolver: r.p.Resolver}[role]
	t.role, t.order = role, next
}

// hatch carries out an order. A panic is the end of this attempt, not of the run.
func hatch(ctx context.Context, h Hatcher, t *task, o Order) (b back) {
	b.task = t
	caught := panics.Try(func() { b.outcome, b.err = h.Hatch(ctx, o) })
	if caught != nil {
		b.outcome = Outcome{Reason: Internal, Detail: fmt.Sprintf("the ant %s ended in a panic: %v", o.Ant, caught.Value)}
	}
	if b.err != nil {
		b.err = fmt.Errorf("hatch %s for %s: %w", o.Ant, o.Task, b.err)
	}
	return b
}

// take turns what came back into the run's state.
func (r *run) take(ctx context.Context, b back) error {
	if b.tip != "" {
		b.landing.tip = b.tip
		return nil
	}
	if b.landing != nil {
		return errors.Join(b.err, r.arrived(ctx, b.landing))
	}
	if b.err != nil {
		return r.lost(ctx, b.task, b.err)
	}
	return r.came(ctx, b.task, b.outcome)
}

// lost ends a task with which colony could not go on: cancelled where the run is being stopped.
func (r *run) lost(ctx context.Context, t *task, err error) error {
	if ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))) {
		return r.end(ctx, t, cancelled, "")
	}
	return errors.Join(err, r.end(ctx, t, failed, string(Internal)))
}

// came takes an ant's outcome: work goes on to be reviewed or to land, all else ends the task.
func (r *run) came(ctx context.Context, t *task, o Outcome) error {
	r.halt(&r.capped, o.Scope == "run", o.Detail)
	r.halt(&r.fatal, o.Fatal, o.Detail)
	r.asked = r.asked || o.Asked
	if o.Commit != "" && (t.role == author || o.Reason == Done) {
		t.work = o.Commit
	}
	if o.Reason == Internal && t.retries < r.p.Retries && !r.halted(ctx) {
		return r.retry(ctx, t, o)
	}
	if t.role == reviewer {
		return r.judged(ctx, t, o)
	}
	t.report.Receipt.Gates = o.Gates
	t.report.Files = o.Files
	if o.Kept != "" && t.role == author {
		t.kept = o.Kept
	}
	if o.Reason == Done && o.Commit != "" {
		refused, err := r.widenScope(ctx, t, o.Stray)
		if err != nil {
			return err
		}
		if len(refused) > 0 {
			t.detail = "it changed files of other tasks: " + strings.Join(refused, ", ")
			return r.again(ctx, t, Order{Base: o.Commit, Kind: "gate", Told: toldStray(t, refused)}, "gate")
		}
		t.account = o.Detail
		if r.wantsReview(t) {
			return r.review(ctx, t, nil)
		}
		r.wait(t)
		return nil
	}
	t.detail = o.Detail
	status, reason := o.verdict()
	if status == noChange && (t.order.Kind == "gate" || t.order.Kind == "review") {
		status, reason = failed, t.order.Kind
	}
	return r.end(ctx, t, status, reason)
}

// retry hatches the same ant anew after colony itself lost an attempt.
func (r *run) retry(ctx context.Context, t *task, o Outcome) error {
	t.retries++
	next := t.order
	next.Continues = false
	if next.Told == "" {
		next.Kind = "nudge"
		next.Told = "Colony lost your last attempt. Your worktree is new and as it was when the attempt began: do the task again."
	}
	warned := event.Warned{Code: "retried", Text: "colony lost an attempt of " + next.Ant + ": " + o.Detail, Next: "The task is tried again"}
	if err := r.append(ctx, event.Event{Task: t.ID, Ant: next.Ant, Body: warned}); err != nil {
		return err
	}
	t.order = next
	r.graph.push(t)
	return nil
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

// again sends a task back to its author with the reason. Where it came back often enough, a conflict goes to the
// resolver, once, and all else ends the task.
func (r *run) again(ctx context.Context, t *task, next Order, reason string) error {
	_, resolved := t.crew[resolver]
	switch {
	case r.halted(ctx):
		return r.end(ctx, t, failed, reason)
	case t.returns < r.p.Returns && !resolved:
		t.returns++
		r.send(t, author, next)
		return nil
	case reason == "conflict" && !resolved && r.p.Resolver != "":
		r.send(t, resolver, next)
		return nil
	}
	return r.end(ctx, t, failed, reason)
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
