package queen_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"colony/event"
	"colony/plan"
	"colony/queen"
	"colony/repo"
)

// batched is a run with long gates in which a, b, c and d wait to land while first does.
func batched(t *testing.T, w *world, set func(*queen.Parts)) event.RunFinished {
	t.Helper()
	p := w.parts(tasks(task("first"), task("a"), task("b"), task("c"), task("d")), "test")
	p.Ants, p.Review, p.Returns = 5, true, 0
	reviewed := func(n int) {
		for e := range w.log.Follow(context.Background(), 0) {
			if _, ok := e.Body.(event.ReviewDone); ok {
				n--
			}
			if n == 0 {
				return
			}
		}
	}
	w.judge = func(o queen.Order) queen.Outcome {
		if o.Task != "first" {
			reviewed(1) // that of first
		}
		return queen.Outcome{Reason: queen.Done, Verdict: queen.Approve}
	}
	w.ant = w.slow
	gate := p.Gate
	p.Gate = func(ctx context.Context, dir string, g plan.Gate) (event.GateReceipt, error) {
		if dir == with("base", "first.1") {
			reviewed(5)
		}
		return gate(ctx, dir, g)
	}
	set(&p)
	return run(t, t.Context(), p)
}

// onlyOnce wants no gate to run twice on a tree.
func onlyOnce(t *testing.T, w *world) {
	t.Helper()
	all := slices.Sorted(slices.Values(w.ran))
	if len(slices.Compact(slices.Clone(all))) != len(all) {
		t.Errorf("a gate ran twice on a tree: %q", all)
	}
}

// Waiting works land together: the gates run once on their sum.
func TestABatchLandsAtOnce(t *testing.T) {
	w := newWorld()
	f := batched(t, w, func(*queen.Parts) {})
	if f.Exit != 0 || len(w.ran) != 3 || len(w.moves) != 2 {
		t.Errorf("%s, gates %q, moves %v", statuses(f), w.ran, w.moves)
	}
	onlyOnce(t, w)
	for _, r := range f.Tasks[1:] {
		if g := r.Receipt.Gates; len(g) != 1 || g[0].Tree != w.trees[w.branch] || !r.Verified {
			t.Errorf("%+v", r)
		}
	}
}

// contract 64: of a batch, the innocent land, and no gate runs twice on a tree.
func TestTheInnocentOfABatchLand(t *testing.T) {
	for _, guilty := range []string{"a", "b", "c", "d"} {
		w := newWorld()
		w.green = func(_, tree string) bool { return !strings.Contains(tree, guilty+".1") }
		f := batched(t, w, func(*queen.Parts) {})
		for _, r := range f.Tasks {
			if (r.Status == "landed") == (r.ID == guilty) || r.ID == guilty && r.Reason != "gate" {
				t.Errorf("%s is guilty: %s", guilty, statuses(f))
			}
		}
		if len(w.ran) > 8 {
			t.Errorf("%d gates ran: %q", len(w.ran), w.ran)
		}
		onlyOnce(t, w)
	}
}

// joins is a world in which one work does not join another one until that has landed.
type joins struct {
	*world
	work, with string
	asked      int
}

func (j *joins) Stage(ctx context.Context, onto, commit string) (repo.Candidate, *repo.Conflict, error) {
	if commit == j.work && strings.Contains(onto, j.with) && !strings.Contains(j.branch, j.with) {
		j.asked++
		return repo.Candidate{}, &repo.Conflict{Files: []string{"shared"}, Commit: onto}, nil
	}
	return j.world.Stage(ctx, onto, commit)
}

// What does not join work that has not landed itself waits for the next landing, and does not come back.
func TestAConflictWithinABatchWaits(t *testing.T) {
	for _, pair := range [][2]string{{"a.1", "d.1"}, {"d.1", "a.1"}} {
		w := newWorld()
		j := &joins{world: w, work: pair[0], with: pair[1]}
		f := batched(t, w, func(p *queen.Parts) { p.Repo = j })
		if f.Exit != 0 || len(w.moves) != 2+j.asked || slices.ContainsFunc(f.Tasks, func(r event.TaskReport) bool { return r.Attempts != 1 }) {
			t.Errorf("%s, moves %v, %d conflicts", statuses(f), w.moves, j.asked)
		}
	}
}

// At most so much lands at once.
func TestABatchIsBounded(t *testing.T) {
	w := newWorld()
	f := batched(t, w, func(p *queen.Parts) { p.Batch = 2 })
	if f.Exit != 0 || len(w.moves) != 3 {
		t.Errorf("%s, moves %v", statuses(f), w.moves)
	}
}
