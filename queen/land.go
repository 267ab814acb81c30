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
	ran       string // the tree on which its gates ran
	silent    string // the candidate without a word of its author, to go on from
	conflict  *repo.Conflict
	held      string   // why it is not to land, though nothing else is against it
	inputs    []string // what changed of that which gates run
	receipts  []event.GateReceipt
	red       []event.GateReceipt // those that hold it back
}

// batch is work that is joined to the branch together: staged one on the other, gates once on the sum,
// then the branch moves if it still is where it was. A sum that is red is halved until the guilty are alone.
// While it is under way it belongs to the goroutine of land; tip and back are of the run's.
type batch struct {
	p       Parts
	head    string // of the branch, also after this landing
	tasks   []*task
	ratchet *ratchet
	settled []*arrival
	begun   map[*task]bool

	before *batch                  // what must come out as this one was staged
	holds  context.Context         // of those behind, as long as this one comes out as they were staged
	fall   context.CancelCauseFunc // ends holds
	over   chan struct{}           // closed when all of the above is final
	err    error

	tip  string // the branch if all that is staged lands; empty until it is known
	back bool
}

// land carries a landing out, and tells what the branch would be after it as soon as it knows. After an error the branch
// is where it says, and what is not settled stays undone.
func land(ctx context.Context, l *batch, tell func(tip string)) back {
	defer close(l.over)
	caught := panics.Try(func() { l.err = l.run(ctx, tell) })
	if caught != nil {
		l.err = caught.AsError()
	}
	if l.err != nil {
		l.err = fmt.Errorf("land: %w", l.err)
		l.fall(errOtherwise)
		l.confirmed() // to know where the branch is
	}
	return back{landing: l, err: l.err}
}

func (l *batch) run(ctx context.Context, tell func(tip string)) error {
	staged, rest, err := l.stage(ctx, l.tasks)
	if err == nil {
		tip := l.head
		if len(staged) > 0 {
			tip = staged[len(staged)-1].candidate.Commit
		}
		tell(tip)
		err = l.check(ctx, staged)
	}
	if !l.confirmed() {
		l.fall(errOtherwise)
		return l.otherwise(ctx, staged)
	}
	if err != nil {
		return err
	}
	return errors.Join(l.settle(ctx, rest...), l.judge(ctx, staged))
}

// again is run where all before it is settled.
func (l *batch) again(ctx context.Context, tasks []*task) error {
	staged, rest, err := l.stage(ctx, tasks)
	if err != nil {
		return err
	}
	return errors.Join(l.settle(ctx, rest...), l.sum(ctx, staged))
}

// stage puts work on the head of the branch, one on the other. The rest are those that do not land as they are, because of
// the head itself; what conflicts only with work that has not landed yet is in neither, and waits for the next landing.
func (l *batch) stage(ctx context.Context, tasks []*task) (staged, rest []*arrival, err error) {
	onto := l.head
	for _, t := range tasks {
		a := &arrival{task: t, onto: onto}
		if a.candidate, a.conflict, err = l.p.Repo.Stage(ctx, onto, t.work); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", t.ID, err)
		}
		switch {
		case a.conflict == nil && !a.candidate.Empty:
			if err := l.look(ctx, a); err != nil {
				return nil, nil, err
			}
			if a.held != "" && onto != l.head {
				continue // it would go on from work that may not land
			}
		case onto != l.head:
			continue
		case a.conflict != nil:
			a.outcome = "conflict"
		default:
			a.outcome = "empty"
		}
		if a.outcome != "" {
			rest = append(rest, a)
			continue
		}
		staged, onto = append(staged, a), a.candidate.Commit
	}
	return staged, rest, nil
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
	if l.p.Held != nil {
		if a.held, err = l.p.Held(ctx, t.ID, t.ant(), a.candidate); err != nil || a.held != "" {
			a.outcome = "gate"
			return err
		}
	}
	a.candidate.Commit, err = l.p.Reword(ctx, a.candidate.Commit, t.account)
	return err
}

// sum runs the gates of all on the last of them, and advances the branch to it or halves the batch.
func (l *batch) sum(ctx context.Context, staged []*arrival) error {
	if err := l.check(ctx, staged); err != nil {
		return err
	}
	return l.judge(ctx, staged)
}

// judge does what the gates of a sum say.
func (l *batch) judge(ctx context.Context, staged []*arrival) error {
	switch {
	case len(staged) == 0:
		return nil
	case !l.red(staged):
		return l.advance(ctx, staged)
	}
	l.fall(errOtherwise)
	if len(staged) == 1 {
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
	return l.again(ctx, tasks)
}

// check runs what the staged tasks must pass on the last commit, and hands each its receipts.
func (l *batch) check(ctx context.Context, staged []*arrival) error {
	if len(staged) == 0 {
		return nil
	}
	if err := l.begin(ctx, staged...); err != nil {
		return err
	}
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
		return err
	}
	of := map[gateKey]event.GateReceipt{}
	for i, g := range at.gates {
		of[keyOf(g)] = receipts[i]
	}
	for _, a := range staged {
		a.receipts, a.ran = nil, last.candidate.Tree
		for _, g := range a.task.gates {
			a.receipts = append(a.receipts, of[keyOf(g)])
		}
	}
	return nil
}

// red tells each of the staged which of its gates hold it back, and reports whether one does.
func (l *batch) red(staged []*arrival) (red bool) {
	for _, a := range staged {
		a.red = nil
		binding := map[gateKey]bool{}
		for _, g := range l.ratchet.binding(l.p, a.task) {
			binding[keyOf(g)] = true
		}
		for i, g := range a.task.gates {
			a.receipts[i].Red = a.receipts[i].Exit != 0 && l.ratchet.advises[keyOf(g)]
			if binding[keyOf(g)] && a.receipts[i].Exit != 0 {
				a.red, red = append(a.red, a.receipts[i]), true
			}
		}
	}
	return red
}

func (l *batch) advance(ctx context.Context, staged []*arrival) error {
	to := staged[len(staged)-1].candidate.Commit
	moved, err := l.p.Repo.Advance(ctx, l.p.Branch, l.head, to)
	if err != nil {
		return err
	}
	if moved {
		l.head = to
	} else {
		l.fall(errOtherwise)
	}
	for _, a := range staged {
		if a.outcome = "stale"; moved {
			a.outcome = "landed"
			l.ratchet.bind(a.task.gates, a.receipts)
		}
	}
	return l.settle(ctx, staged...)
}

// begin records once that work is being joined.
func (l *batch) begin(ctx context.Context, all ...*arrival) error {
	var events []event.Event
	for _, a := range all {
		if l.begun[a.task] {
			continue
		}
		l.begun[a.task] = true
		events = append(events, event.Event{Task: a.task.ID, Ant: a.task.ant(), Body: event.LandingStarted{Onto: a.onto, Commit: a.task.work}})
	}
	return record(ctx, l.p, events...)
}

// settle records what came of work.
func (l *batch) settle(ctx context.Context, all ...*arrival) error {
	if err := l.begin(ctx, all...); err != nil {
		return err
	}
	var events []event.Event
	for _, a := range all {
		events = append(events, l.done(a))
	}
	l.settled = append(l.settled, all...)
	return record(ctx, l.p, events...)
}

func (l *batch) done(a *arrival) event.Event {
	done := event.LandingDone{Onto: a.onto, Commit: a.candidate.Commit, Outcome: a.outcome, Files: a.candidate.Files, GateInputsChanged: a.inputs, Tree: a.ran}
	if a.conflict != nil {
		done.Commit, done.Files = a.task.work, a.conflict.Files
	}
	return event.Event{Task: a.task.ID, Ant: a.task.ant(), Body: done}
}

// joined takes a landing into the run. What it left open lands next, or ends with the error.
func (r *run) joined(ctx context.Context, l *batch) error {
	r.head = l.head
	maps.Copy(r.ratchet.passed, l.ratchet.passed)
	maps.Copy(r.ratchet.red, l.ratchet.red)
	r.ratchet.advises = l.ratchet.advises
	open := slices.Clone(l.tasks)
	var errs []error
	for _, a := range l.settled {
		open = slices.DeleteFunc(open, func(t *task) bool { return t == a.task })
		errs = append(errs, r.settled(ctx, a))
	}
	for _, t := range open {
		if l.err == nil {
			r.wait(t)
			continue
		}
		errs = append(errs, r.lost(ctx, t, l.err))
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
		return errors.Join(r.end(ctx, t, landed, ""), r.widen(ctx))
	case "empty":
		t.work = ""
		return r.end(ctx, t, noChange, "the branch has all of it already")
	case "review":
		return r.review(ctx, t, a.inputs)
	case "conflict":
		t.from = a.onto
		if !t.again {
			if err := r.strike(ctx, t); err != nil {
				return err
			}
		}
		if t.again = r.yields(t, a.conflict.Files); t.again {
			t.clash = a.conflict.Files
			r.wait(t)
			return nil
		}
		r.giveWay(t, a.conflict.Files)
		return r.again(ctx, t, r.reconcile(t, a.conflict), "conflict")
	case "gate":
		t.from, t.detail = a.onto, "red on the combined tree: "+titles(a.red)
		told := toldGates(a.red)
		if a.held != "" {
			t.detail, told = "a hook blocks the landing: "+a.held, "A hook of the user's keeps your work from landing: "+a.held+"\n\nMend it, then call done."
		}
		return r.again(ctx, t, Order{Base: a.silent, Kind: "gate", Told: told, Red: a.red}, "gate")
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
