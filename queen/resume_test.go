package queen_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"

	"colony/event"
	"colony/plan"
	"colony/queen"

	"pgregory.net/rapid"
)

var errKilled = errors.New("killed")

// mortal is a world whose process dies at an operation: before it, or after it had its effect. From then on nothing that
// it does has an effect.
type mortal struct {
	*world
	mu    sync.Mutex
	left  int
	after bool
	dead  bool
	log   event.Log
}

// do carries an operation out, if the process lives.
func (m *mortal) do(op func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return errKilled
	}
	if m.left--; m.left > 0 {
		return op()
	}
	m.dead = true
	if m.after {
		_ = op() // nobody hears of it
	}
	return errKilled
}

// mortalLog is the log of a mortal.
type mortalLog struct {
	event.Log
	m *mortal
}

func (l mortalLog) Append(ctx context.Context, events ...event.Event) (seq event.Seq, err error) {
	err = l.m.do(func() (err error) { seq, err = l.Log.Append(ctx, events...); return err })
	return seq, err
}

func (m *mortal) Advance(ctx context.Context, ref, old, new string) (moved bool, err error) {
	err = m.do(func() (err error) { moved, err = m.world.Advance(ctx, ref, old, new); return err })
	return moved, err
}

func (m *mortal) Keep(ctx context.Context, ref, commit string) error {
	return m.do(func() error { return m.world.Keep(ctx, ref, commit) })
}

// Hatch tells the log what an ant does, as a real one.
func (m *mortal) Hatch(ctx context.Context, o queen.Order) (queen.Outcome, error) {
	kind := o.Kind
	if o.Told == "" {
		kind = "task"
	}
	bodies := []event.Body{event.AntHatched{Worktree: fmt.Sprintf("/w/%s.%d", o.Ant, o.Attempt)}, event.AntTold{Kind: kind, Text: o.Told}}
	if o.Continues {
		bodies = []event.Body{event.AntTold{Kind: "nudge", Text: "goes on"}}
	}
	for _, b := range bodies {
		if _, err := m.log.Append(ctx, event.Event{Run: "r1", Task: o.Task, Ant: o.Ant, Body: b}); err != nil {
			return queen.Outcome{}, err
		}
	}
	return m.world.Hatch(ctx, o)
}

// recall is what a new process knows: the log, and landings of which only the branch knows.
func (w *world) recall(t rapid.TB) *queen.Past {
	t.Helper()
	past, err := queen.Recall(w.log.Read(context.Background(), 0))
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(w.moves, func(m move) bool { return m.to == past.Head })
	for _, m := range w.moves[at+1:] {
		head := m.from
		for _, work := range strings.Split(strings.TrimPrefix(m.to, m.from+"+"), "+") {
			id, _, _ := strings.Cut(work, ".")
			head += "+" + work
			past.Land(id, head, w.trees[m.to], []string{id})
		}
	}
	return past
}

// Law 5: a run that dies at any of its operations, again and again, ends with every task in a final state: nothing lands
// twice, what ended well is not begun again, no event is told twice, and the laws of the branch hold over all its lives.
func TestLaw5ResumeFromAnyCut(t *testing.T) {
	for i := range 3 { // a hundred plans each
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, diesAndGoesOn)
		})
	}
}

func diesAndGoesOn(rt *rapid.T) {
	w, seed := newWorld(), rapid.Uint32().Draw(rt, "seed")
	p := randomPlan(rt)
	redness := rapid.SampledFrom([]uint32{1000, 8, 4}).Draw(rt, "one tree in so many is red")
	w.green = func(gate, tree string) bool { return chance(redness, seed, gate, tree) != 0 }
	for _, task := range p.Tasks {
		w.conflict[task.ID] = int(chance(4, seed, task.ID, "conflict")) - 1
	}
	w.judge = func(o queen.Order) queen.Outcome {
		if chance(3, seed, o.Ant, o.Review.Round, "verdict") == 0 {
			return queen.Outcome{Reason: queen.Done, Verdict: queen.SendBack, Findings: []event.Finding{{File: "f", Severity: 1, Text: "wrong"}}}
		}
		return queen.Outcome{Reason: queen.Done, Verdict: queen.Approve}
	}
	w.onHatch = func(o queen.Order) { needsAreMet(rt, w, p, o) }
	parts := w.parts(p, "lint", "test")
	if _, err := w.log.Append(context.Background(), event.Event{Run: "r1", Body: event.RunStarted{Base: base}}); err != nil {
		rt.Fatal(err)
	}
	parts.RedBase, parts.Review = allowed, rapid.IntRange(0, 3).Draw(rt, "review") == 0
	for range rapid.IntRange(1, 4).Draw(rt, "lives") {
		if w.finished(rt) {
			break
		}
		m := &mortal{world: w, left: rapid.IntRange(1, 60).Draw(rt, "dies at"), after: rapid.Bool().Draw(rt, "after it")}
		m.log = mortalLog{w.log, m}
		life := parts
		life.Log, life.Repo, life.Hatcher = m.log, m, m
		planned := slices.ContainsFunc(w.read(rt), func(e event.Event) bool { _, ok := e.Body.(event.PlanMade); return ok })
		if planned {
			if life.Past = w.recall(rt); life.Past.Over {
				break
			}
		} else if len(w.read(rt)) > 1 {
			return // it died before there was a plan: nothing can go on
		}
		if _, err := queen.Run(context.Background(), life); err == nil {
			break
		}
	}
	if !w.finished(rt) {
		if parts.Past = w.recall(rt); len(parts.Past.Plan.Tasks) == 0 {
			return
		}
		m := &mortal{world: w, left: 1 << 30}
		m.log = mortalLog{w.log, m}
		parts.Log, parts.Repo, parts.Hatcher = m.log, m, m
		returns(rt, parts, &stopped{after: -1})
	}
	onceEach(rt, w, p)
	branchStaysGreen(rt, w, p)
	approvedLands(rt, w, p, parts.Review)
}

// approvedLands wants an approval of exactly the work that lands, where one is needed.
func approvedLands(rt *rapid.T, w *world, p plan.Plan, all bool) {
	asked, approved, lands := map[string]string{}, map[string]string{}, map[string]string{}
	for _, e := range w.read(rt) {
		switch b := e.Body.(type) {
		case event.TaskClaimed:
			if strings.HasPrefix(e.Ant, "reviewer-") {
				asked[e.Task] = b.Base
			}
		case event.ReviewDone:
			if b.Verdict == queen.Approve {
				approved[e.Task] = asked[e.Task]
			}
		case event.LandingStarted:
			lands[e.Task] = b.Commit
		case event.LandingDone:
			at := slices.IndexFunc(p.Tasks, func(t plan.Task) bool { return t.ID == e.Task })
			if b.Outcome == "landed" && (all || p.Tasks[at].Review) && approved[e.Task] != lands[e.Task] {
				rt.Errorf("%s landed with %s, approved is %q", e.Task, lands[e.Task], approved[e.Task])
			}
		}
	}
}

func (w *world) finished(t rapid.TB) bool {
	events := w.read(t)
	if len(events) == 0 {
		return false
	}
	_, over := events[len(events)-1].Body.(event.RunFinished)
	return over
}

// onceEach wants one end and at most one landing of each task.
func onceEach(rt *rapid.T, w *world, p plan.Plan) {
	ended, landed, fence := map[string]int{}, map[string]int{}, int64(0)
	for _, e := range w.read(rt) {
		switch b := e.Body.(type) {
		case event.TaskDone:
			ended[e.Task]++
		case event.TaskClaimed:
			if b.Token <= fence {
				rt.Errorf("the fencing number %d comes after %d", b.Token, fence)
			}
			fence = b.Token
		case event.LandingDone:
			if b.Outcome == "landed" {
				landed[e.Task]++
			}
		}
	}
	moved := map[string]int{}
	for _, m := range w.moves {
		for _, one := range landedIn(m, p) {
			moved[one.ID]++
		}
	}
	for _, one := range p.Tasks {
		if ended[one.ID] != 1 || landed[one.ID] > 1 || landed[one.ID] != moved[one.ID] {
			rt.Errorf("%s ended %d times, landed %d times, the branch took it %d times", one.ID, ended[one.ID], landed[one.ID], moved[one.ID])
		}
	}
}

// read is the log as it is now.
func (w *world) read(t rapid.TB) []event.Event {
	return collect(t, w.log.Read(context.Background(), 0))
}

func collect(t rapid.TB, events iter.Seq2[event.Event, error]) (out []event.Event) {
	t.Helper()
	for e, err := range events {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}
