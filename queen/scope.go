package queen

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"colony/event"
)

// widenScope lets a task keep what it changed beside its files, where no other task that has not ended names them, and
// returns what it may not keep.
func (r *run) widenScope(ctx context.Context, t *task, stray []string) (refused []string, err error) {
	var granted []string
	for _, file := range stray {
		if r.graph.named(file, t) {
			refused = append(refused, file)
		} else {
			granted = append(granted, file)
		}
	}
	if len(granted) == 0 {
		return refused, nil
	}
	t.Files = append(slices.Clone(t.Files), granted...)
	for i := range r.graph.plan.Tasks {
		if r.graph.plan.Tasks[i].ID == t.ID {
			r.graph.plan.Tasks[i].Files = t.Files
		}
	}
	events := []event.Event{
		{Task: t.ID, Body: event.Granted{Rule: "files: " + strings.Join(granted, ", "), Scope: "task"}},
		{Body: event.PlanChanged(r.graph.planMade(nil))},
	}
	return refused, r.append(ctx, events...)
}

// named reports whether a task other than this one, which has not ended, has the file in its scope.
func (g *graph) named(file string, but *task) bool {
	return slices.ContainsFunc(g.order, func(t *task) bool { return t != but && !t.ended() && t.Names(file) })
}

// toldStray is what an ant is told whose work goes beyond its scope.
func toldStray(t *task, refused []string) string {
	return fmt.Sprintf("The task's files are %s, and these are other tasks':\n- %s\nPut back what you changed (`git show %s:FILE > FILE`) and remove "+
		"what you made there, then call done again. If the task cannot be done without them, end blocked and say so.",
		strings.Join(t.Files, ", "), strings.Join(refused, "\n- "), t.from)
}
