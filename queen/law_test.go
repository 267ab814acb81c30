package queen_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"colony/event"
	"colony/plan"
	"colony/queen"

	"pgregory.net/rapid"
)

// Law 4, law 7, law 11, contracts 63 and 64: over 2,000 random plans, ants, caps, conflicts, reviews, denials, strays, deaths, retries, stops and gates no task
// starts before all it needs have landed or ended no_change, or beside one whose files or locks it shares; every task
// ends once in a final state, blocked ones by a named root; never more ants at once than allowed; no request is sent that does not fit under the caps; and the branch moves only to where the gates of all tasks
// that land there are green and no gate of the repository that was green before is red.
func TestLawsOverRandomPlans(t *testing.T) {
	for i := range 20 { // a hundred plans each
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, lawsHold)
		})
	}
}

// hangs is how long a run in memory may take at most.
const hangs = time.Minute

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
	book := newPurse(rt, w)
	again := make(chan string, 8)
	w.ant = func(ctx context.Context, o queen.Order) (queen.Outcome, error) {
		if spent, err := book.spend(ctx, o, chance(3, seed, o.Ant, o.Attempt, "requests")); spent != nil || err != nil {
			return *spent, err
		}
		for range chance(6, seed, o.Task, o.Attempt, "turns") {
			runtime.Gosched()
		}
		if chance(8, seed, o.Ant, "again") == 0 {
			select {
			case again <- p.Tasks[chance(uint32(len(p.Tasks)), seed, o.Ant, "which again")].ID:
			default: // often enough
			}
		}
		out := w.work(o)
		if chance(6, seed, o.Task, o.Attempt, "strays") == 0 {
			out.Stray = []string{"a/x.go", "z.txt"}[:1+chance(2, seed, o.Ant, "how far")]
		}
		if chance(bad, seed, o.Task, o.Attempt, "bad") != 0 {
			return out, nil
		}
		out.Asked = chance(3, seed, o.Task, "denied") == 0
		return wrong(out, chance(12, seed, o.Task, "which")), nil
	}
	w.judge = func(o queen.Order) queen.Outcome {
		switch chance(4, seed, o.Ant, o.Attempt, "verdict") {
		case 0:
			return queen.Outcome{Reason: queen.Done, Verdict: queen.SendBack, Findings: []event.Finding{{File: "f", Severity: 1, Text: "wrong"}}}
		case 1:
			return queen.Outcome{Reason: queen.Reason([]string{"no_progress", "internal", "usd"}[chance(3, seed, o.Ant)])}
		}
		return queen.Outcome{Reason: queen.Done, Verdict: queen.Approve}
	}
	begun, stop := &begun{}, &stopped{after: int64(rapid.SampledFrom([]int{-1, -1, 0, 3, 10}).Draw(rt, "attempts before it is stopped"))}
	w.onHatch = func(o queen.Order) {
		stop.hatched()
		needsAreMet(rt, w, p, o)
		begun.apart(rt, w, p, o)
	}

	parts := w.parts(p, "lint", "test")
	parts.Ants, parts.RedBase, parts.Again = ants, allowed, again
	parts.Batch = rapid.IntRange(0, 5).Draw(rt, "batch")
	parts.Review = rapid.IntRange(0, 3).Draw(rt, "review") == 0
	f := returns(rt, parts, stop)
	if w.most > ants {
		rt.Errorf("%d ants at once, allowed are %d", w.most, ants)
	}
	everyTaskEnds(rt, w, p, f)
	landingsEnd(rt, w)
	book.holds(rt)
	reviewedLands(rt, w, p, parts.Review)
	branchStaysGreen(rt, w, p)
	exitTellsTheTruth(rt, f)
}

// stopped is a person who stops the run after so many attempts; never where that is negative.
type stopped struct {
	after int64
	began atomic.Int64
	stop  context.CancelCauseFunc
}

func (s *stopped) hatched() {
	if s.began.Add(1) == s.after+1 && s.after >= 0 {
		s.stop(errors.New("enough"))
	}
}

// returns is the end of a run that must have one.
func returns(rt *rapid.T, parts queen.Parts, stop *stopped) (f event.RunFinished) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	stop.stop = cancel
	done := make(chan error, 1)
	go func() {
		var err error
		f, err = queen.Run(ctx, parts)
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			rt.Fatal(err)
		}
	case <-time.After(2 * hangs):
		rt.Fatal("the run hangs")
	}
	return f
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
		if rapid.IntRange(0, 2).Draw(rt, "scoped") == 0 {
			one.Files = []string{rapid.SampledFrom([]string{"a/**", "a/x.go", "b/*.go", "**/*.go", "c"}).Draw(rt, "files")}
		}
		if rapid.IntRange(0, 4).Draw(rt, "locked") == 0 {
			one.Locks = []string{rapid.SampledFrom([]string{"e2e", "db"}).Draw(rt, "lock")}
		}
		one.Review = rapid.IntRange(0, 4).Draw(rt, "reviewed") == 0
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
		switch d := e.Body.(type) {
		case event.TaskDone:
			if _, twice := ended[e.Task]; twice {
				rt.Errorf("%s ended twice", e.Task)
			}
			ended[e.Task] = d
		case event.TaskReady:
			reopened(ended, e.Task, func(d event.TaskDone) string { return d.Reason })
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

// reopened forgets the end of a task that begins again, and of those that were blocked for it.
func reopened[E any](ended map[string]E, task string, reason func(E) string) {
	delete(ended, task)
	maps.DeleteFunc(ended, func(_ string, e E) bool { return reason(e) == "needs:"+task })
}

func worked(w *world, task string) bool {
	for commit := range w.trees {
		if strings.HasPrefix(commit, task+".") {
			return true
		}
	}
	return false
}

// begun are the tasks that were hatched.
type begun struct {
	mu    sync.Mutex
	tasks map[string]bool
}

// apart wants no other task under way that shares files or locks.
func (b *begun) apart(rt *rapid.T, w *world, p plan.Plan, o queen.Order) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tasks == nil {
		b.tasks = map[string]bool{}
	}
	b.tasks[o.Task] = true
	ended := w.ended(rt)
	at := slices.IndexFunc(p.Tasks, func(t plan.Task) bool { return t.ID == o.Task })
	for _, other := range p.Tasks {
		if other.ID != o.Task && b.tasks[other.ID] && ended[other.ID] == "" && other.Meets(p.Tasks[at]) {
			rt.Errorf("%s works beside %s, which shares files or locks", o.Task, other.ID)
		}
	}
}

func landingsEnd(rt *rapid.T, w *world) {
	open := map[string]bool{}
	for _, e := range w.events(rt) {
		switch e.Body.(type) {
		case event.LandingStarted:
			if open[e.Task] {
				rt.Errorf("%s lands while it does", e.Task)
			}
			open[e.Task] = true
		case event.LandingDone:
			if !open[e.Task] {
				rt.Errorf("%s landed and did not begin to", e.Task)
			}
			delete(open, e.Task)
		}
	}
	if len(open) > 0 {
		rt.Errorf("landings without an end: %v", open)
	}
}

// landedIn are the tasks whose work a move of the branch brought.
func landedIn(m move, p plan.Plan) []plan.Task {
	var out []plan.Task
	for _, work := range strings.Split(strings.TrimPrefix(m.to, m.from+"+"), "+") {
		id, _, _ := strings.Cut(work, ".")
		at := slices.IndexFunc(p.Tasks, func(t plan.Task) bool { return t.ID == id })
		out = append(out, p.Tasks[at])
	}
	return out
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
		for _, one := range landedIn(m, p) {
			if len(one.Gates) > 0 && !w.green(one.Gates[0].Run, w.trees[m.to]) {
				rt.Errorf("%s landed with its gate red", one.ID)
			}
		}
		at = m.to
	}
	if at != w.branch {
		rt.Errorf("the branch is at %s, moved to %s", w.branch, at)
	}
}

// reviewedLands wants an approval, after the last work, of every landing that needs one.
func reviewedLands(rt *rapid.T, w *world, p plan.Plan, all bool) {
	approved := map[string]bool{}
	for _, e := range w.events(rt) {
		switch body := e.Body.(type) {
		case event.TaskClaimed:
			if !strings.HasPrefix(e.Ant, "reviewer-") {
				approved[e.Task] = false
			}
		case event.ReviewDone:
			approved[e.Task] = body.Verdict == queen.Approve
		case event.LandingDone:
			at := slices.IndexFunc(p.Tasks, func(t plan.Task) bool { return t.ID == e.Task })
			if body.Outcome == "landed" && (all || p.Tasks[at].Review) && !approved[e.Task] {
				rt.Errorf("%s landed without an approval", e.Task)
			}
		}
	}
}

func exitTellsTheTruth(rt *rapid.T, f event.RunFinished) {
	all := !slices.ContainsFunc(f.Tasks, func(r event.TaskReport) bool { return r.Status != "landed" && r.Status != "no_change" })
	if all != (f.Exit == 0) || all != (f.Status == "landed") {
		rt.Errorf("exit %d, status %s, tasks %s", f.Exit, f.Status, statuses(f))
	}
}
