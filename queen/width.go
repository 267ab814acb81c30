package queen

import (
	"context"
	"fmt"

	"colony/event"
)

// width is how many ants may be at work at once. It halves where they are in each other's way, or where a provider or the
// gates do not keep up, and rises by one while all goes through. After that, until it rises, what waits to land takes a place
// of a task that has not begun, so that what begins then begins from it.
type width struct {
	most, now int
	tight     bool // it would have been halved since it rose
	clean     int  // pieces of work that landed since it changed
	strikes   int  // pieces of work that did not join, since as many landed as ants may be at work
	cooled    int  // waits for a provider that it knows of
	crowded   bool // more work with slow gates waits than can land at once
}

// mayHatch reports whether one more ant may begin beside those at work.
func (r *run) mayHatch(atWork int) bool { return atWork < r.width.now }

// mayBegin reports whether that may be an ant on a task that no ant worked on before.
func (r *run) mayBegin(atWork int) bool {
	if r.width.tight {
		for _, t := range r.graph.order {
			if t.state == landing {
				atWork++
			}
		}
	}
	return atWork < r.width.now
}

// adapt looks at what came since the last time.
func (r *run) adapt(ctx context.Context) error {
	if err := r.count.read(ctx, r.p.Log); err != nil {
		return err
	}
	w := &r.width
	if cooled := r.count.cooled; cooled > w.cooled {
		w.cooled = cooled
		return r.narrow(ctx, "a provider asks for fewer requests")
	}
	waiting := 0
	for _, t := range r.toLand {
		if slow(t) {
			waiting++
		}
	}
	crowded := waiting > max(r.p.Batch, 1)
	if crowded && !w.crowded {
		w.crowded = true
		return r.narrow(ctx, fmt.Sprintf("%d pieces of work wait for their gates", waiting))
	}
	w.crowded = crowded
	return nil
}

// strike counts a piece of work that does not join the branch. One is an accident, the next is a habit.
func (r *run) strike(ctx context.Context, t *task) error {
	if r.width.strikes++; r.width.strikes < 2 {
		return nil
	}
	return r.narrow(ctx, t.ID+" conflicts with what landed meanwhile, as others do")
}

// narrow halves the width.
func (r *run) narrow(ctx context.Context, why string) error {
	r.width.clean, r.width.tight = 0, true
	return r.resize(ctx, max(1, r.width.now/2), why)
}

// patience is how many pieces of work land, for each ant that may be at work, before one more may.
const patience = 4

// widen counts a piece of work that landed.
func (r *run) widen(ctx context.Context) error {
	if r.width.clean++; r.width.clean >= r.width.now {
		r.width.strikes = 0
	}
	if r.width.clean < patience*r.width.now {
		return nil
	}
	r.width.clean, r.width.tight = 0, r.width.now+1 < r.width.most
	return r.resize(ctx, min(r.width.most, r.width.now+1), "what came meanwhile has landed")
}

func (r *run) resize(ctx context.Context, to int, why string) error {
	from := r.width.now
	if to == from {
		return nil
	}
	r.width.now = to
	return r.append(ctx, event.Event{Body: event.Throttled{Why: why, AntsFrom: from, AntsTo: to}})
}

// outdated reports whether the branch moved since an ant's work was found not to join it, so that it must be looked at again
// before the ant is told how.
func (r *run) outdated(t *task) bool {
	return t.order.Kind == "conflict" && !t.order.Continues && t.from != r.head
}

// lookAgain takes back that a task goes back to its ant, and lets its work come to land again.
func (r *run) lookAgain(t *task) {
	if t.role == author {
		t.returns--
	}
	t.again = true
	r.wait(t)
}
