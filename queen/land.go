package queen

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"colony/event"
	"colony/repo"

	"github.com/sourcegraph/conc/panics"
)

// arrival is one task's work on its way to the branch, and what came of it.
type arrival struct {
	task      *task
	outcome   string // landed, conflict, gate, stale, empty or review; empty while it is open
	onto      string
	candidate repo.Candidate
	silent    string // the candidate without a word of its author, to go on from
	conflict  *repo.Conflict
	inputs    []string // what changed of that which gates run
	receipts  []event.GateReceipt
	red       []event.GateReceipt // those that hold it back
}

// batch is work that is joined to the branch together: staged one on the other, gates once on the sum,
// then the branch moves if it still is where it was. A sum that is red is halved until the guilty are alone.
type batch struct {
	p       Parts
	head    string // of the branch, also after this landing
	tasks   []*task
	ratchet *ratchet
	settled []*arrival
	started map[*task]bool
}

// board takes the work that lands next.
func (r *run) board() *batch {
	n := min(len(r.toLand), max(r.p.Batch, 1))
	l := &batch{p: r.p, head: r.head, tasks: slices.Clone(r.toLand[:n]), ratchet: r.ratchet.copy(), started: map[*task]bool{}}
	r.toLand = slices.Clone(r.toLand[n:])
	return l
}

// land carries a landing out. After an error the branch is where it says, and what is not settled stays undone.
func land(ctx context.Context, l *batch) (b back) {
	b.landing = l
	caught := panics.Try(func() { b.err = l.run(ctx, l.tasks) })
	if caught != nil {
		b.err = caught.AsError()
	}
	if b.err != nil {
		b.err = fmt.Errorf("land: %w", b.err)
	}
	return b
}

func (l *batch) run(ctx context.Context, tasks []*task) error {
	staged, err := l.stage(ctx, tasks)
	if err != nil {
		return err
	}
	return l.sum(ctx, staged)
}

// stage puts work on the head of the branch, one on the other. What conflicts with the head itself is settled; what
// conflicts only with work that has not landed yet waits for the next landing.
func (l *batch) stage(ctx context.Context, tasks []*task) (staged []*arrival, err error) {
	onto := l.head
	for _, t := range tasks {
		a := &arrival{task: t, onto: onto}
		if a.candidate, a.conflict, err = l.p.Repo.Stage(ctx, onto, t.work); err != nil {
			return nil, fmt.Errorf("%s: %w", t.ID, err)
		}
		switch {
		case a.conflict == nil && !a.candidate.Empty:
			if err := l.look(ctx, a); err != nil {
				return nil, err
			}
			if a.outcome != "" {
				l.settled = append(l.settled, a)
				continue
			}
			staged, onto = append(staged, a), a.candidate.Commit
			continue
		case onto != l.head:
			continue
		case a.conflict != nil:
			a.outcome = "conflict"
		default:
			a.outcome = "empty"
		}
		if err := l.begin(ctx, a); err != nil {
			return nil, err
		}
		if err := l.settle(ctx, a); err != nil {
			return nil, err
		}
	}
	return staged, nil
}

// look holds work back that changes what a gate runs, where nobody has looked at it, and gives the rest the message
// that it lands with.
func (l *batch) look(ctx context.Context, a *arrival) (err error) {
	t := a.task
	if a.inputs, err = l.p.inputs(ctx, a.onto, a.candidate.Commit, a.candidate.Files, t.gates); err != nil {
		return fmt.Errorf("%s: %w", t.ID, err)
	}
	if t.review.approved != t.work && slices.ContainsFunc(a.inputs, func(f string) bool { return !t.Names(f) }) {
		a.outcome = "review"
		return nil
	}
	a.silent = a.candidate.Commit
	a.candidate.Commit, err = l.p.Reword(ctx, a.candidate.Commit, t.account)
	return err
}

// sum runs the gates of all on the last of them, and advances the branch to it or halves the batch.
func (l *batch) sum(ctx context.Context, staged []*arrival) error {
	if len(staged) == 0 {
		return nil
	}
	for _, a := range staged {
		if err := l.begin(ctx, a); err != nil {
			return err
		}
	}
	red, err := l.gates(ctx, staged)
	switch {
	case err != nil:
		return err
	case !red:
		return l.advance(ctx, staged)
	case len(staged) == 1:
		staged[0].outcome = "gate"
		return l.settle(ctx, staged...)
	}
	half, second := staged[:len(staged)/2], staged[len(staged)/2:]
	if err := l.sum(ctx, half); err != nil {
		return err
	}
	if l.head == half[len(half)-1].candidate.Commit {
		return l.sum(ctx, second)
	}
	var tasks []*task
	for _, a := range second {
		tasks = append(tasks, a.task)
	}
	return l.run(ctx, tasks)
}

// gates runs what the staged tasks must pass on the last commit, and hands each its receipts.
func (l *batch) gates(ctx context.Context, staged []*arrival) (red bool, err error) {
	last := staged[len(staged)-1]
	at := gateRun{where: "landing", commit: last.candidate.Commit, tree: last.candidate.Tree}
	if len(staged) == 1 {
		at.task = last.task.ID
	}
	for _, a := range staged {
		at.gates = union(at.gates, a.task.gates)
	}
	receipts, err := runGates(ctx, l.p, l.ratchet, at)
	if err != nil {
		return false, err
	}
	of := map[gateKey]event.GateReceipt{}
	for i, g := range at.gates {
		of[keyOf(g)] = receipts[i]
	}
	for _, a := range staged {
		a.receipts, a.red = nil, nil
		for _, g := range a.task.gates {
			a.receipts = append(a.receipts, of[keyOf(g)])
		}
		for _, g := range l.ratchet.binding(l.p, a.task) {
			if of[keyOf(g)].Exit != 0 {
				a.red, red = append(a.red, of[keyOf(g)]), true
			}
		}
	}
	return red, nil
}

func (l *batch) advance(ctx context.Context, staged []*arrival) error {
	to := staged[len(staged)-1].candidate.Commit
	moved, err := l.p.Repo.Advance(ctx, l.p.Branch, l.head, to)
	if err != nil {
		return err
	}
	if moved {
		l.head = to
	}
	for _, a := range staged {
		if a.outcome = "stale"; moved {
			a.outcome = "landed"
			l.ratchet.bind(a.task.gates, a.receipts)
		}
	}
	return l.settle(ctx, staged...)
}

// begin records once that a task's work is being joined.
func (l *batch) begin(ctx context.Context, a *arrival) error {
	if l.started[a.task] {
		return nil
	}
	l.started[a.task] = true
	started := event.LandingStarted{Onto: a.onto, Commit: a.task.work}
	return record(ctx, l.p, event.Event{Task: a.task.ID, Ant: a.task.ant(), Body: started})
}

// settle records what came of work.
func (l *batch) settle(ctx context.Context, all ...*arrival) error {
	var events []event.Event
	for _, a := range all {
		done := event.LandingDone{Onto: a.onto, Commit: a.candidate.Commit, Outcome: a.outcome, Files: a.candidate.Files, GateInputsChanged: a.inputs}
		if a.conflict != nil {
			done.Commit, done.Files = a.task.work, a.conflict.Files
		}
		events = append(events, event.Event{Task: a.task.ID, Ant: a.task.ant(), Body: done})
	}
	l.settled = append(l.settled, all...)
	return record(ctx, l.p, events...)
}

// arrived takes a landing into the run. What it left open lands next, or ends with the error.
func (r *run) arrived(ctx context.Context, l *batch, err error) error {
	r.head = l.head
	maps.Copy(r.ratchet.passed, l.ratchet.passed)
	r.ratchet.advises = l.ratchet.advises
	open := slices.Clone(l.tasks)
	var errs []error
	for _, a := range l.settled {
		open = slices.DeleteFunc(open, func(t *task) bool { return t == a.task })
		errs = append(errs, r.settled(ctx, a))
	}
	if err == nil {
		r.toLand = append(open, r.toLand...)
		return errors.Join(errs...)
	}
	for _, t := range open {
		errs = append(errs, r.lost(ctx, t, err))
	}
	return errors.Join(errs...)
}

// settled takes what came of one task's work into the run.
func (r *run) settled(ctx context.Context, a *arrival) error {
	t := a.task
	if a.receipts != nil {
		t.report.Receipt.Gates = a.receipts
	}
	switch a.outcome {
	case "landed":
		t.report.Commit, t.report.Files = a.candidate.Commit, a.candidate.Files
		return r.end(ctx, t, landed, "")
	case "empty":
		return r.end(ctx, t, noChange, "the branch has all of it already")
	case "review":
		return r.review(ctx, t, a.inputs)
	case "conflict":
		t.from = a.onto
		return r.again(ctx, t, r.reconcile(t, a.conflict), "conflict")
	case "gate":
		t.from, t.detail = a.onto, "red on the combined tree: "+titles(a.red)
		return r.again(ctx, t, Order{Base: a.silent, Kind: "gate", Told: toldGates(a.red), Red: a.red}, "gate")
	}
	r.halt(&r.stale, true, "somebody else moved the branch "+r.p.Branch)
	return r.end(ctx, t, failed, "conflict")
}

func titles(red []event.GateReceipt) string {
	var names []string
	for _, g := range red {
		names = append(names, g.Command)
	}
	return strings.Join(names, ", ")
}

// toldGates says to an ant which gates are red on the combined tree.
func toldGates(red []event.GateReceipt) string {
	var b strings.Builder
	b.WriteString("Your work passed alone and is red together with what landed meanwhile. Your worktree now holds both.\n")
	for _, g := range red {
		fmt.Fprintf(&b, "`%s` ended with %d.\n", g.Command, g.Exit)
	}
	b.WriteString("Mend it, then call done.")
	return b.String()
}
