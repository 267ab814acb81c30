package queen

import (
	"context"
	"errors"
	"fmt"

	"colony/event"
	"colony/plan"
)

// Planner makes the plan of a run, and what it may cost. Every task of the plan names its card. It is called once, after
// the gates ran on the base and before any ant of a task. An error that is no *Unplanned is colony's own failure.
type Planner func(ctx context.Context) (plan.Plan, *event.Estimate, error)

// Planned is the planner of a plan that is there already.
func Planned(p plan.Plan, estimate *event.Estimate) Planner {
	return func(context.Context) (plan.Plan, *event.Estimate, error) { return p, estimate, nil }
}

// Unplanned is why a run ends before any task began, and the exit code that says so.
type Unplanned struct {
	Exit   int
	Reason string
}

func (e *Unplanned) Error() string { return e.Reason }

// plan has the plan made and records it.
func (r *run) plan(ctx context.Context) error {
	made, estimate, err := r.p.Planner(ctx)
	if errors.As(err, &r.refused) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	if len(made.Tasks) == 0 {
		return errors.New("plan: it has no task")
	}
	r.graph = newGraph(r.p, made)
	return r.append(ctx, event.Event{Body: r.graph.planMade(estimate)})
}

// Made is the plan as the log keeps it.
func Made(p plan.Plan, estimate *event.Estimate) event.PlanMade {
	g := graph{plan: p}
	return g.planMade(estimate)
}
