package queen_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"colony/event"
	"colony/plan"
	"colony/queen"

	"pgregory.net/rapid"
)

// Law 4, law 11, contract 64: over random plans, ants, conflicts and gates no task starts before all it
// needs have landed or ended no_change, every task ends once in a final state, blocked ones by a named root,
// never more ants at once than allowed, never two landings at once, and the branch moves only to where the
// task's gates are green and no gate of the repository that was green before is red.
func TestLawsOverRandomPlans(t *testing.T) {
	for _, half := range []string{"one", "two"} { // a hundred plans each
		t.Run(half, rapid.MakeCheck(lawsHold))
	}
}

func lawsHold(rt *rapid.T) {
	w, seed := newWorld(), rapid.Uint32().Draw(rt, "seed")
	p := randomPlan(rt)
	ants := rapid.IntRange(1, 5).Draw(rt, "ants")
	redness := rapid.SampledFrom([]uint32{1000, 8, 4, 2}).Draw(rt, "one tree in so many is red")
	w.green = func(gate, tree string) bool { return chance(redness, seed, gate, tree) != 0 }
	for _, task := range p.Tasks {
		w.conflict[task.ID] = int(chance(4, seed, task.ID, "conflict")) - 1
	}
	bad := rapid.SampledFrom([]uint32{1000, 12, 5}).Draw(rt, "one attempt in so many goes wrong")
	w.ant = func(_ context.Context, o queen.Order) (queen.Outcome, error) {
		for range chance(6, seed, o.Task, o.Attempt, "turns") {
			runtime.Gosched()
		}
		if chance(bad, seed, o.Task, o.Attempt, "bad") != 0 {
			return w.work(o), nil
		}
		return wrong(w.work(o), chance(12, seed, o.Task, "which")), nil
	}
	w.onHatch = func(o queen.Order) { needsAreMet(rt, w, p, o) }

	parts := w.parts(p, "lint", "test")
	parts.Ants, parts.RedBase = ants, allowed
	f, err := queen.Run(context.Background(), parts)
	if err != nil {
		rt.Fatal(err)
	}
	if w.most > ants {
		rt.Errorf("%d ants at once, allowed are %d", w.most, ants)
	}
	everyTaskEnds(rt, w, p, f)
	landingsAreAlone(rt, w)
	branchStaysGreen(rt, w, p)
	exitTellsTheTruth(rt, f)
}

func randomPlan(rt *rapid.T) plan.Plan {
	var p plan.Plan
	for i := range rapid.IntRange(1, 12).Draw(rt, "tasks") {
		one := plan.Task{ID: fmt.Sprintf("t%d", i)}
		for j := range i {
			if rapid.IntRange(0, 3).Draw(rt, "needs") == 0 {
				one.Needs = append(one.Needs, fmt.Sprintf("t%d", j))
			}
		}
		if rapid.Bool().Draw(rt, "own gate") {
			one.Gates = []plan.Gate{{Run: "own " + one.ID}}
		}
		p.Tasks = append(p.Tasks, one)
	}
	slices.Reverse(p.Tasks)
	return p
}

// wrong is an outcome that does not land.
func wrong(o queen.Outcome, which uint32) queen.Outcome {
	reasons := []queen.Reason{queen.NoChange, queen.Blocked, queen.NoProgress, queen.NoWork, queen.GateRed, queen.Turns,
		queen.Timeout, queen.Refused, queen.Model, queen.Cancelled, queen.Internal}
	if which == 11 {
		return queen.Outcome{Reason: queen.USD, Scope: "run", Detail: "the run's money is spent", Kept: "refs/colony/r1/kept/by-the-ant"}
	}
	o.Reason, o.Detail = reasons[which], "because"
	return o
}

func needsAreMet(rt *rapid.T, w *world, p plan.Plan, o queen.Order) {
	ended := w.ended(rt)
	for _, one := range p.Tasks {
		if one.ID != o.Task {
			continue
		}
		for _, need := range one.Needs {
			if s := ended[need]; s != "landed" && s != "no_change" {
				rt.Errorf("%s starts while %s is %q", o.Task, need, s)
			}
		}
	}
	if ended[o.Task] != "" {
		rt.Errorf("%s starts after it ended", o.Task)
	}
}

func everyTaskEnds(rt *rapid.T, w *world, p plan.Plan, f event.RunFinished) {
	ended := map[string]event.TaskDone{}
	for _, e := range w.events(rt) {
		if d, ok := e.Body.(event.TaskDone); ok {
			if _, twice := ended[e.Task]; twice {
				rt.Errorf("%s ended twice", e.Task)
			}
			ended[e.Task] = d
		}
	}
	for i, one := range p.Tasks {
		d, ok := ended[one.ID]
		if !ok || !slices.Contains([]string{"landed", "no_change", "failed", "cancelled", "blocked"}, d.Status) {
			rt.Errorf("%s ended as %+v", one.ID, d)
		}
		if r := f.Tasks[i]; r.ID != one.ID || r.Status != d.Status || r.Reason != d.Reason || r.Verified != d.Verified {
			rt.Errorf("the report says %+v, the log %+v", r, d)
		}
		if root, ok := strings.CutPrefix(d.Reason, "needs:"); ok {
			if s := ended[root].Status; s != "failed" && s != "cancelled" && ended[root].Reason != "said" {
				rt.Errorf("%s is blocked by %s, which is %q", one.ID, root, s)
			}
		}
		if d.Status == "landed" && d.Kept != "" || d.Status == "failed" && worked(w, one.ID) && d.Kept == "" {
			rt.Errorf("%s ended %s, kept at %q", one.ID, d.Status, d.Kept)
		}
	}
}

func worked(w *world, task string) bool {
	for commit := range w.trees {
		if strings.HasPrefix(commit, task+".") {
			return true
		}
	}
	return false
}

func landingsAreAlone(rt *rapid.T, w *world) {
	open := ""
	for _, e := range w.events(rt) {
		switch e.Body.(type) {
		case event.LandingStarted:
			if open != "" {
				rt.Errorf("%s lands while %s does", e.Task, open)
			}
			open = e.Task
		case event.LandingDone:
			if open != e.Task {
				rt.Errorf("%s landed while %q did", e.Task, open)
			}
			open = ""
		}
	}
}

func branchStaysGreen(rt *rapid.T, w *world, p plan.Plan) {
	at := base
	for _, m := range w.moves {
		if m.from != at {
			rt.Errorf("the branch moved from %s, it was at %s", m.from, at)
		}
		for _, gate := range []string{"lint", "test"} {
			if w.green(gate, w.trees[m.from]) && !w.green(gate, w.trees[m.to]) {
				rt.Errorf("%s turned red from %q to %q", gate, w.trees[m.from], w.trees[m.to])
			}
		}
		work := m.to[strings.LastIndexByte(m.to, '+')+1:]
		id, _, _ := strings.Cut(work, ".")
		for _, one := range p.Tasks {
			if one.ID == id && len(one.Gates) > 0 && !w.green(one.Gates[0].Run, w.trees[m.to]) {
				rt.Errorf("%s landed with its gate red", id)
			}
		}
		at = m.to
	}
	if at != w.branch {
		rt.Errorf("the branch is at %s, moved to %s", w.branch, at)
	}
}

func exitTellsTheTruth(rt *rapid.T, f event.RunFinished) {
	all := !slices.ContainsFunc(f.Tasks, func(r event.TaskReport) bool { return r.Status != "landed" && r.Status != "no_change" })
	if all != (f.Exit == 0) || all != (f.Status == "landed") {
		rt.Errorf("exit %d, status %s, tasks %s", f.Exit, f.Status, statuses(f))
	}
}
