package queen

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"colony/event"
	"colony/repo"

	"github.com/sourcegraph/conc/panics"
)

// arrival is what a landing came to.
type arrival struct {
	outcome   string // landed, conflict, gate, stale, empty
	candidate repo.Candidate
	conflict  *repo.Conflict
	receipts  []event.GateReceipt
	ratchet   *ratchet
}

// land joins a task's work to the branch: staged on its head, gates on the combined tree, then the branch
// moves if it still is where it was. An error leaves the branch where it is.
func land(ctx context.Context, p Parts, t *task, head string, ratchet *ratchet) (b back) {
	b.task, b.landing = t, &arrival{ratchet: ratchet}
	caught := panics.Try(func() { b.err = b.landing.run(ctx, p, t, head) })
	if caught != nil {
		b.err = caught.AsError()
	}
	if b.err != nil {
		b.err = fmt.Errorf("land %s: %w", t.ID, b.err)
	}
	return b
}

func (a *arrival) run(ctx context.Context, p Parts, t *task, head string) error {
	started := event.LandingStarted{Onto: head, Commit: t.work}
	if err := record(ctx, p, event.Event{Task: t.ID, Ant: t.ant, Body: started}); err != nil {
		return err
	}
	if err := a.try(ctx, p, t, head); err != nil {
		return err
	}
	done := event.LandingDone{Onto: head, Commit: a.candidate.Commit, Outcome: a.outcome, Files: a.candidate.Files}
	if a.conflict != nil {
		done.Commit, done.Files = t.work, a.conflict.Files
	}
	return record(ctx, p, event.Event{Task: t.ID, Ant: t.ant, Body: done})
}

func (a *arrival) try(ctx context.Context, p Parts, t *task, head string) (err error) {
	if a.candidate, a.conflict, err = p.Repo.Stage(ctx, head, t.work); err != nil {
		return err
	}
	switch {
	case a.conflict != nil:
		a.outcome = "conflict"
		return nil
	case a.candidate.Empty:
		a.outcome = "empty"
		return nil
	}
	gates := gateRun{where: "landing", task: t.ID, commit: a.candidate.Commit, tree: a.candidate.Tree, gates: t.gates}
	if a.receipts, err = runGates(ctx, p, a.ratchet, gates); err != nil {
		return err
	}
	if len(a.red(p, t)) > 0 {
		a.outcome = "gate"
		return nil
	}
	moved, err := p.Repo.Advance(ctx, p.Branch, head, a.candidate.Commit)
	if a.outcome = "stale"; moved {
		a.outcome = "landed"
	}
	return err
}

// red are the receipts that hold the work back.
func (a *arrival) red(p Parts, t *task) []event.GateReceipt {
	binds := map[gateKey]bool{}
	for _, g := range a.ratchet.binding(p, t) {
		binds[keyOf(g)] = true
	}
	var red []event.GateReceipt
	for i, receipt := range a.receipts {
		if receipt.Exit != 0 && binds[keyOf(t.gates[i])] {
			red = append(red, receipt)
		}
	}
	return red
}

// arrived takes a landing into the run.
func (r *run) arrived(ctx context.Context, t *task, a *arrival) error {
	maps.Copy(r.ratchet.passed, a.ratchet.passed)
	if a.receipts != nil {
		t.report.Receipt.Gates = a.receipts
	}
	switch a.outcome {
	case "landed":
		r.head = a.candidate.Commit
		r.ratchet.bind(t.gates, a.receipts)
		t.report.Commit, t.report.Files = a.candidate.Commit, a.candidate.Files
		return r.end(ctx, t, landed, "")
	case "empty":
		return r.end(ctx, t, noChange, "the branch has all of it already")
	case "conflict":
		return r.again(ctx, t, Order{Base: a.conflict.Commit, Kind: "conflict", Told: toldConflict(a.conflict.Files)}, "conflict")
	case "gate":
		red := a.red(r.p, t)
		return r.again(ctx, t, Order{Base: a.candidate.Commit, Kind: "gate", Told: toldGates(red), Red: red}, "gate")
	}
	r.halt(&r.stale, true, "somebody else moved the branch "+r.p.Branch)
	return r.end(ctx, t, failed, "conflict")
}

// toldConflict says to an ant why its work comes back.
func toldConflict(files []string) string {
	return "Your work does not join the branch: other work landed meanwhile and changed the same places.\n" +
		"Your worktree now holds the branch with your work on it. Both versions stand between conflict markers in:\n- " +
		strings.Join(files, "\n- ") +
		"\nRead each file, keep what both sides are for, remove every marker, then call done."
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
