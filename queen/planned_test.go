package queen_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"colony/event"
	"colony/plan"
	"colony/queen"
)

// A run without a plan ends before any task, with the code and the reason of its planner; what is no *Unplanned is
// colony's own failure. The base is looked at first.
func TestARunWithoutAPlan(t *testing.T) {
	for _, c := range []struct {
		name   string
		err    error
		exit   int
		reason string
	}{
		{"declined", &queen.Unplanned{Exit: 5, Reason: "declined"}, 5, "declined"},
		{"wrapped", fmt.Errorf("x: %w", &queen.Unplanned{Exit: 3, Reason: "no"}), 3, "no"},
		{"broken", errors.New("broken"), 1, ""},
		{"empty", nil, 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			p := w.parts(plan.Plan{}, "test")
			p.Planner = func(context.Context) (plan.Plan, *event.Estimate, error) { return plan.Plan{}, nil, c.err }
			f, err := queen.Run(t.Context(), p)
			if (err != nil) != (c.exit == 1) || f.Exit != c.exit || f.Reason != c.reason || len(f.Tasks) > 0 {
				t.Errorf("got %+v, %v", f, err)
			}
			if got := w.types(t); got != "gate.started gate.done run.finished" {
				t.Errorf("the log holds %s", got)
			}
		})
	}
}

// A signal during the planning is the run's end, not a run in which every task went well.
func TestARunStoppedWhilePlanning(t *testing.T) {
	w := newWorld()
	p := w.parts(plan.Plan{})
	ctx, cancel := context.WithCancel(t.Context())
	p.Planner = func(ctx context.Context) (plan.Plan, *event.Estimate, error) {
		cancel()
		return plan.Plan{}, nil, ctx.Err()
	}
	if f := run(t, ctx, p); f.Exit != 130 || f.Status != "stopped" {
		t.Errorf("got %+v", f)
	}
}

// plan.made holds the estimate, and that a person changed the plan.
func TestThePlanIsRecorded(t *testing.T) {
	w := newWorld()
	made := tasks(task("a"))
	made.Edited = true
	p := w.parts(made)
	p.Planner = queen.Planned(made, &event.Estimate{Basis: "a guess"})
	run(t, t.Context(), p)
	for _, e := range w.events(t) {
		if b, ok := e.Body.(event.PlanMade); ok && b.Edited && b.Estimate.Basis == "a guess" && len(b.Tasks) == 1 {
			return
		}
	}
	t.Error("no plan.made with all of it in " + strings.ReplaceAll(w.types(t), " ", ", "))
}
