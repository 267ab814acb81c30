package queen

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"colony/event"
)

// Landings run one behind another where their gates are quick: each on what the one before it would make of the branch,
// its gates beside the other's. Each waits for the one before before it moves the branch, so that the branch moves in
// their order, and lands nothing where that came out otherwise. Long gates run one landing at a time: what comes
// meanwhile lands together, and the machine is not divided.
const (
	quick  = time.Second // of all gates of a task together
	behind = 8           // landings under way at most
)

// errOtherwise ends the gates of a landing where the one before it does not come to what it was staged on.
var errOtherwise = errors.New("the landing before came out otherwise")

// mayLand reports whether the work that waits may land now. The tree of the last landing under way must be known.
func (r *run) mayLand() bool {
	free := r.free()
	if len(free) == 0 || len(r.train) == 0 {
		return len(free) > 0
	}
	last := r.train[len(r.train)-1]
	return last.tip != "" && last.holds.Err() == nil && len(r.train) < behind && !slices.ContainsFunc(last.tasks, slow) && !slices.ContainsFunc(free, slow)
}

// wait puts a task's work where it waits to land, in the order in which work first came.
func (r *run) wait(t *task) {
	if t.state = landing; t.queued == 0 {
		r.queued++
		t.queued = r.queued
	}
	at, _ := slices.BinarySearchFunc(r.toLand, t.queued, func(t *task, n int) int { return t.queued - n })
	r.toLand = slices.Insert(r.toLand, at, t)
}

// slow reports whether the gates of a task took long in its worktree.
func slow(t *task) bool {
	var ms int64
	for _, g := range t.report.Receipt.Gates {
		ms += g.Ms
	}
	return ms >= quick.Milliseconds()
}

// board takes the work that lands next, behind what is landing, and the context in which it does.
func (r *run) board(ctx context.Context) (*batch, context.Context) {
	tasks := r.free()
	tasks = tasks[:min(len(tasks), max(r.p.Batch, 1))]
	l := &batch{p: r.p, head: r.head, tasks: tasks, ratchet: r.ratchet.copy(), begun: map[*task]bool{}, over: make(chan struct{})}
	if len(r.train) > 0 {
		l.before = r.train[len(r.train)-1]
		l.head, ctx = l.before.tip, l.before.holds
	}
	l.holds, l.fall = context.WithCancelCause(ctx)
	r.toLand = slices.DeleteFunc(r.toLand, func(t *task) bool { return slices.Contains(tasks, t) })
	r.train = append(r.train, l)
	return l, ctx
}

// confirmed waits for the landing before and takes over what it left. It reports whether that is what this one was
// staged on.
func (l *batch) confirmed() bool {
	before := l.before
	if before == nil {
		return true
	}
	<-before.over
	staged := l.head
	l.before, l.head = nil, before.head
	maps.Copy(l.ratchet.passed, before.ratchet.passed)
	maps.Copy(l.ratchet.red, before.ratchet.red)
	l.ratchet.advises = maps.Clone(before.ratchet.advises)
	return l.head == staged && before.holds.Err() == nil
}

// otherwise closes what was begun on a branch that did not come to be. Its tasks land again.
func (l *batch) otherwise(ctx context.Context, staged []*arrival) error {
	var events []event.Event
	for _, a := range staged {
		if l.begun[a.task] {
			a.outcome = "stale"
			events = append(events, l.done(a))
		}
	}
	return record(ctx, l.p, events...)
}

// arrived takes landings that are over into the run, in the order in which they moved the branch.
func (r *run) arrived(ctx context.Context, l *batch) error {
	l.back = true
	var errs []error
	for len(r.train) > 0 && r.train[0].back {
		first := r.train[0]
		r.train = r.train[1:]
		errs = append(errs, r.joined(ctx, first))
	}
	return errors.Join(errs...)
}
