package queen

import (
	"context"

	"colony/event"
)

// restore goes on where earlier processes were: what landed stays, what was under way goes on, the rest begins at the
// head of the branch.
func (r *run) restore(past *Past) {
	r.graph = newGraph(r.p, past.Plan)
	r.head, r.fence, r.names = past.Head, past.fence, past.names
	for _, g := range union(r.p.Gates) {
		if past.advises[g.Run] {
			r.ratchet.advises[keyOf(g)] = true
		}
	}
	for _, t := range r.graph.order {
		at := past.trace(t.ID)
		if !at.anew() {
			t.takeUp(at)
		}
		report, ended := past.Ended[t.ID]
		if !ended && past.stays(t.ID) {
			t.state, t.reason, t.detail, t.kept, t.attempts, t.crew = at.end.Status, at.end.Reason, at.end.Detail, at.end.Kept, at.attempts, at.crew
			continue
		}
		if !ended {
			if at.anew() || at.stage == "" {
				t.order.Prompt = t.Prompt + left(past.Kept[t.ID])
			}
			continue
		}
		t.state, t.reason, t.report = report.Status, report.Reason, report
		for _, d := range t.dependents {
			d.unmet--
		}
	}
}

// takeUp gives a task what its trace knows.
func (t *task) takeUp(at *trace) {
	t.crew, t.attempts, t.returns, t.review = at.crew, at.attempts, at.returns, at.review
	t.from, t.work, t.account = at.from, at.work, at.account
	t.report.Receipt.Gates = at.last()
}

// goOn records what earlier processes could not, and takes up what they left under way.
func (r *run) goOn(ctx context.Context) error {
	if r.p.Past == nil {
		return r.ready(ctx, r.graph.roots())
	}
	if err := r.catchUp(ctx); err != nil {
		return err
	}
	for _, t := range r.graph.order {
		at := r.p.Past.trace(t.ID)
		if t.state != pending || at.anew() {
			continue
		}
		switch at.stage {
		case stageLand:
			r.wait(t)
		case stageJudged:
			if t.review.returned > r.p.Rounds {
				t.detail = "sent back by the reviewer: " + worst(t.review.findings)
				if err := r.end(ctx, t, failed, "review"); err != nil {
					return err
				}
				continue
			}
			r.address(t, author, Order{Base: t.work, Kind: "review", Told: toldFindings(t.review.findings)})
		case stageWork:
			r.address(t, at.member, r.order(t, at))
		}
	}
	return r.ready(ctx, r.graph.roots())
}

// order is that of an attempt which goes on.
func (r *run) order(t *task, at *trace) Order {
	o := Order{Base: at.base, Continues: true}
	if at.kind != "task" && at.kind != "nudge" {
		o.Kind = at.kind
	}
	if at.member == reviewer {
		o.Kind, o.Review = "review", r.question(t, nil)
	}
	return o
}

// catchUp records landings of which only the branch knew, and the ends of tasks that landed.
func (r *run) catchUp(ctx context.Context) error {
	if err := r.count.read(ctx, r.p.Log); err != nil {
		return err
	}
	var events []event.Event
	for _, f := range r.p.Past.found {
		events = append(events, event.Event{Task: f.task, Ant: r.p.Past.trace(f.task).author(), Body: f.done})
	}
	for _, t := range r.graph.order {
		if r.p.Past.open[t.ID] {
			events = append(events, r.done(t))
		}
	}
	if len(events) == 0 {
		return nil
	}
	return r.append(ctx, events...)
}

// left is what an ant is told of the work that an earlier one left.
func left(ref string) string {
	if ref == "" {
		return ""
	}
	return "\n\nAn earlier ant began this task and was interrupted. What it left is not in your worktree: `git show " + ref +
		"` shows it. Look at it first, and take from it what holds."
}
