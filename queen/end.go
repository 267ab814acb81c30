package queen

import (
	"context"
	"errors"
	"fmt"
	"time"

	"colony/event"
)

// keepTime bounds how long the rescue of work may take, also when the run is being stopped.
const keepTime = 30 * time.Second

// end gives a task its final state, and those that needed it. Work that did not land is kept first.
func (r *run) end(ctx context.Context, t *task, status, reason string) error {
	t.state, t.reason = status, reason
	if t.met() {
		t.detail = ""
	}
	keepErr := r.keep(ctx, t)
	if t.kept == "" && !t.met() {
		t.kept = t.before
	}
	if err := r.count.read(ctx, r.p.Log); err != nil {
		return errors.Join(keepErr, err)
	}
	events := []event.Event{r.done(t)}
	if !t.met() && !(status == cancelled && r.halted(ctx)) {
		events = append(events, r.block(t)...)
	}
	if err := r.append(ctx, events...); err != nil || !t.met() {
		return errors.Join(keepErr, err)
	}
	return errors.Join(keepErr, r.ready(ctx, t.freed()))
}

// block ends what waits for a task that did not end well.
func (r *run) block(t *task) []event.Event {
	var events []event.Event
	for _, d := range t.downstream() {
		if !d.ended() {
			d.state, d.reason = blocked, t.root()
			events = append(events, r.done(d))
		}
	}
	return events
}

// root is why a task is blocked that needs t.
func (t *task) root() string { return "needs:" + t.ID }

// keep pins the last commit of work that did not land, where its ant did not.
func (r *run) keep(ctx context.Context, t *task) error {
	if t.state == landed || t.work == "" || t.kept != "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTime)
	defer cancel()
	ref := r.p.Kept(t.ID)
	if err := r.p.Repo.Keep(ctx, ref, t.work); err != nil {
		return fmt.Errorf("keep the work of %s: %w", t.ID, err)
	}
	t.kept = ref
	return nil
}

// done is the event of a task that ended, and fills its line of the report.
func (r *run) done(t *task) event.Event {
	usage, usd, price := r.count.bill.Task(t.ID)
	d := event.TaskDone{Status: t.state, Reason: t.reason, Detail: t.detail, Attempts: t.attempts, Commit: t.report.Commit, Kept: t.kept,
		Usage: usage, USD: usd, Price: price, Verified: t.state == landed && proven(t.report.Receipt)}
	t.report.Verified = d.Verified
	return event.Event{Task: t.ID, Ant: t.ant(), Body: d}
}

// proven reports whether a gate passed on what landed.
func proven(r event.Receipt) bool {
	for _, g := range r.Gates {
		if g.Exit == 0 {
			return true
		}
	}
	return false
}
