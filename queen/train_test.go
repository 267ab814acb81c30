package queen_test

import (
	"context"
	"slices"
	"testing"

	"colony/event"
	"colony/plan"
	"colony/queen"
)

// chased is a run in which b comes to land while the gate of a's landing is at work, which ends only when a gate has
// begun on both.
func chased(t *testing.T, w *world) event.RunFinished {
	t.Helper()
	p := w.parts(tasks(task("a"), task("b")), "test")
	p.Ants, p.Returns = 2, 0
	first, both := make(chan struct{}), make(chan struct{})
	w.ant = func(ctx context.Context, o queen.Order) (queen.Outcome, error) {
		if o.Task == "b" {
			<-first
		}
		return w.work(o), nil
	}
	gate := p.Gate
	p.Gate = func(ctx context.Context, dir string, g plan.Gate) (event.GateReceipt, error) {
		switch dir {
		case with("base", "a.1"):
			close(first)
			<-both
		case with("base", "a.1", "b.1"):
			close(both)
		}
		return gate(ctx, dir, g)
	}
	return run(t, t.Context(), p)
}

// Quick gates of a landing run beside those of the landing before, on what that would make of the branch, and the branch
// moves in order.
func TestALandingFollowsTheOneBefore(t *testing.T) {
	w := newWorld()
	f := chased(t, w)
	if want := []move{{"c0", "c0+a.1"}, {"c0+a.1", "c0+a.1+b.1"}}; f.Exit != 0 || !slices.Equal(w.moves, want) {
		t.Errorf("%s, moves %v", statuses(f), w.moves)
	}
	onlyOnce(t, w)
}

// contract 64: what was staged on work that does not land is staged anew without it.
func TestALandingOutlivesTheOneBefore(t *testing.T) {
	w := newWorld()
	w.green = func(_, tree string) bool { return tree != with("base", "a.1") }
	f := chased(t, w)
	if want := []move{{"c0", "c0+b.1"}}; statuses(f) != "a=failed:gate b=landed" || !slices.Equal(w.moves, want) {
		t.Errorf("%s, moves %v", statuses(f), w.moves)
	}
	var outcomes []string
	for _, e := range w.events(t) {
		if d, ok := e.Body.(event.LandingDone); ok && e.Task == "b" {
			outcomes = append(outcomes, d.Outcome)
		}
	}
	if !slices.Equal(outcomes, []string{"stale", "landed"}) {
		t.Errorf("the landings of b came to %v", outcomes)
	}
}
