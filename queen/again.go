package queen

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"colony/event"
)

// anew lets a task that ended without landing begin again with another ant. What was blocked for it waits for it again.
func (r *run) anew(ctx context.Context, id string) error {
	t := r.graph.find(id)
	if why := settled(t); why != "" || r.halted(ctx) {
		return r.append(ctx, event.Event{Body: event.Warned{Code: "no_retry", Text: fmt.Sprintf("the task %s cannot begin again: it %s", id, cmp.Or(why, "is being stopped with the run")), Next: "colony status @"}})
	}
	r.graph.renew(t, Order{Card: t.Card, Prompt: t.Prompt + left(cmp.Or(t.kept, t.work))})
	r.graph.push(t)
	events := []event.Event{{Task: t.ID, Body: event.TaskReady{Needs: t.Needs}}}
	for _, other := range r.graph.order {
		if other.failed() {
			events = append(events, r.block(other)...)
		}
	}
	return r.append(ctx, events...)
}

// settled says why a task does not begin again, or nothing.
func settled(t *task) string {
	switch {
	case t == nil:
		return "is not in the plan"
	case !t.ended():
		return "is " + t.state
	case t.met():
		return "has ended well"
	case !t.failed():
		return "is blocked, " + t.reason
	}
	return ""
}

// failed reports whether the task itself ended without landing, not one that it needs.
func (t *task) failed() bool {
	return t.ended() && !t.met() && !strings.HasPrefix(t.reason, "needs:")
}

// renew makes a task as it was before its first attempt, and those that were blocked for it.
func (g *graph) renew(t *task, order Order) {
	for _, d := range t.downstream() {
		if d.state == blocked && d.reason == t.root() {
			d.state, d.reason = pending, ""
		}
	}
	*t = task{Task: t.Task, place: t.place, gates: t.gates, dependents: t.dependents, state: pending, role: author, order: order,
		crew: map[string]crew{}, before: cmp.Or(t.kept, t.before)}
}

// find is the task of this id; nil where there is none.
func (g *graph) find(id string) *task {
	for _, t := range g.order {
		if t.ID == id {
			return t
		}
	}
	return nil
}
