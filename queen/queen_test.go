package queen_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"colony/event"
	"colony/plan"
	"colony/queen"
	"colony/repo"
)

func TestAPlanLands(t *testing.T) {
	w := newWorld()
	w.ant = w.slow
	f := run(t, t.Context(), w.parts(tasks(task("a"), task("b"), task("c", "a", "b")), "test"))
	if f.Exit != 0 || f.Status != "landed" || statuses(f) != "a=landed b=landed c=landed" || f.Commit != w.branch {
		t.Errorf("%+v", f)
	}
	for _, r := range f.Tasks {
		if !r.Verified || len(r.Receipt.Gates) != 1 || r.Receipt.Gates[0].Command != "test" || r.Receipt.Gates[0].Tree == "" || r.Attempts != 1 || len(r.Ants) != 1 {
			t.Errorf("%+v", r)
		}
	}
	types := w.types(t)
	if want := "gate.started gate.done plan.made task.ready task.ready task.claimed task.claimed landing.started gate.started gate.done landing.done task.done"; !strings.HasPrefix(types, want) {
		t.Errorf("%s", types)
	}
	if !strings.HasSuffix(types, "task.done run.finished") {
		t.Errorf("%s", types)
	}
	if o := w.orders[2]; o.Task != "c" || o.Base != w.moves[1].to || o.Attempt != 1 || o.Fence != 3 || o.Told != "" || len(o.Gates) != 1 {
		t.Errorf("%+v", o)
	}
}

func TestAntsWorkSideBySideUpToTheLimit(t *testing.T) {
	w := newWorld()
	inside, all := make(chan struct{}, 8), make(chan struct{})
	w.ant = func(ctx context.Context, o queen.Order) (queen.Outcome, error) {
		inside <- struct{}{}
		if len(inside) == 3 {
			close(all)
		}
		<-all // each waits until three are inside
		return w.work(o), nil
	}
	p := w.parts(tasks(task("a"), task("b"), task("c")))
	p.Ants = 3
	if f := run(t, t.Context(), p); f.Exit != 0 || w.most != 3 || f.Tasks[0].Verified {
		t.Errorf("%d at once, %+v", w.most, f)
	}
}

func TestACardBoundsItsAnts(t *testing.T) {
	w := newWorld()
	w.ant = func(_ context.Context, o queen.Order) (queen.Outcome, error) {
		for range 100 {
			runtime.Gosched()
		}
		return w.work(o), nil
	}
	p := w.parts(tasks(task("a"), task("b"), task("c"), task("d")))
	p.Most = func(string) int { return 2 }
	if f := run(t, t.Context(), p); f.Exit != 0 || w.most > 2 {
		t.Errorf("%d at once, %+v", w.most, f)
	}
}

func TestDepthFirst(t *testing.T) {
	w := newWorld()
	p := w.parts(tasks(task("a"), task("x"), task("b", "a"), task("c", "b")))
	p.Ants = 1
	run(t, t.Context(), p)
	var got []string
	for _, o := range w.orders {
		got = append(got, o.Task)
	}
	if !slices.Equal(got, []string{"a", "x", "b", "c"}) {
		t.Error(got)
	}
}

// contract 75
func TestBaseGates(t *testing.T) {
	t.Run("red is refused before anything is spent", func(t *testing.T) {
		w := newWorld()
		w.green = func(gate, _ string) bool { return gate != "test" }
		f := run(t, t.Context(), w.parts(tasks(task("a")), "lint", "test"))
		if f.Exit != 2 || f.Status != "failed" || !strings.HasPrefix(f.Reason, "red_base: ") || !strings.Contains(f.Reason, "--red-base allow") || len(w.orders) > 0 {
			t.Errorf("%+v", f)
		}
		if got := w.types(t); got != "gate.started gate.done gate.started gate.done run.finished" {
			t.Error(got)
		}
	})
	t.Run("a task's own gate or its card's will do, and stays off the base", func(t *testing.T) {
		w := newWorld()
		own := task("a")
		own.Gates = []plan.Gate{{Run: "own"}}
		p := w.parts(tasks(own))
		p.Cards = func(string) []plan.Gate { return []plan.Gate{{Run: "card's"}, {Run: "own"}} }
		f := run(t, t.Context(), p)
		if f.Exit != 0 || !slices.Equal(w.ran, []string{"card's on a.1 base", "own on a.1 base"}) {
			t.Errorf("%v, %+v", w.ran, f)
		}
	})
	t.Run("allowed red advises until it first passes, then binds", func(t *testing.T) {
		w := newWorld()
		w.green = func(_, tree string) bool { return strings.Contains(tree, "b.") && !strings.Contains(tree, "c.") }
		p := w.parts(tasks(task("a"), task("b", "a"), task("c", "b")), "test")
		p.RedBase, p.Returns = allowed, 0
		f := run(t, t.Context(), p)
		if statuses(f) != "a=landed b=landed c=failed:gate" || f.Exit != 3 || f.Status != "partial" {
			t.Errorf("%s, %+v", statuses(f), f)
		}
		if a := f.Tasks[0]; a.Verified || !a.Receipt.Gates[0].Red || a.Receipt.Gates[0].Exit != 1 {
			t.Errorf("%+v", a)
		}
		if b, c := f.Tasks[1], f.Tasks[2]; !b.Verified || b.Receipt.Gates[0].Red || c.Receipt.Gates[0].Red {
			t.Errorf("%+v, %+v", b, c)
		}
		if len(w.orders[0].Gates) != 0 || len(w.orders[2].Gates) != 1 {
			t.Errorf("the ants' gates: %v, %v", w.orders[0].Gates, w.orders[2].Gates)
		}
	})
}

// contract 63: a conflict is told to the same ant, which lands after rework or ends with its work kept.
func TestConflictComesBack(t *testing.T) {
	w := newWorld()
	w.conflict["a"] = 2
	f := run(t, t.Context(), w.parts(tasks(task("a"), task("b", "a")), "test"))
	if statuses(f) != "a=landed b=landed" || f.Tasks[0].Attempts != 3 || !slices.Equal(f.Tasks[0].Ants, []string{"worker-1"}) {
		t.Errorf("%+v", f)
	}
	if o := w.orders[1]; o.Ant != "worker-1" || o.Attempt != 2 || o.Kind != "conflict" || o.Base != "c0+a.1" || !strings.Contains(o.Told, "shared") {
		t.Errorf("%+v", o)
	}

	w = newWorld()
	w.conflict["a"] = 9
	f = run(t, t.Context(), w.parts(tasks(task("a"), task("b", "a"), task("c", "b")), "test"))
	if statuses(f) != "a=failed:conflict b=blocked:needs:a c=blocked:needs:a" || f.Exit != 3 || f.Status != "failed" {
		t.Errorf("%s %+v", statuses(f), f)
	}
	ref := "refs/colony/r1/kept/a"
	if w.kept[ref] != "a.r1" || !slices.Equal(f.Kept, []event.Kept{{Task: "a", Ref: ref}}) || w.branch != base {
		t.Errorf("kept %v, %v", w.kept, f.Kept)
	}
}

// What an ant had made before it said that nothing needs to change is kept.
func TestWorkBeforeNoChangeIsKept(t *testing.T) {
	w := newWorld()
	w.conflict["a"] = 1
	w.ant = func(_ context.Context, o queen.Order) (queen.Outcome, error) {
		if o.Kind == "conflict" {
			return queen.Outcome{Reason: queen.NoChange, Detail: "it is there already"}, nil
		}
		return w.work(o), nil
	}
	f := run(t, t.Context(), w.parts(tasks(task("a")), "test"))
	if statuses(f) != "a=no_change:it is there already" || w.kept["refs/colony/r1/kept/a"] != "a.1" || len(f.Kept) != 1 {
		t.Errorf("%s, kept %v, %v", statuses(f), w.kept, f.Kept)
	}
}

// contract 64: two green works with a broken sum: the second comes back with the gate, and does not land so.
func TestABrokenSumDoesNotLand(t *testing.T) {
	w := newWorld()
	w.green = func(_, tree string) bool { return !strings.Contains(tree, "a.1 b.1") || strings.Contains(tree, "b.2") }
	p := w.parts(tasks(task("a"), task("b")), "test")
	p.Ants = 1
	both := w.ant
	w.ant = func(ctx context.Context, o queen.Order) (queen.Outcome, error) {
		if o.Task == "b" && o.Attempt == 1 {
			o.Base = base // it began before a landed
		}
		return both(ctx, o)
	}
	f := run(t, t.Context(), p)
	if statuses(f) != "a=landed b=landed" || f.Tasks[1].Attempts != 2 {
		t.Errorf("%s, %+v", statuses(f), f)
	}
	if o := w.orders[2]; o.Kind != "gate" || !strings.Contains(o.Told, "test") || len(o.Red) != 1 || o.Base != "c0+a.1+b.1" {
		t.Errorf("%+v", o)
	}
}

func TestHowAnOutcomeEndsATask(t *testing.T) {
	cases := map[queen.Reason]string{
		queen.NoChange: "no_change:because", queen.Blocked: "blocked:said", queen.NoProgress: "failed:no_progress", queen.NoWork: "failed:no_work",
		queen.GateRed: "failed:gate", queen.Turns: "failed:caps", queen.Calls: "failed:caps", queen.Tokens: "failed:caps", queen.USD: "failed:caps",
		queen.Wall: "failed:caps", queen.Timeout: "failed:timeout", queen.Refused: "failed:refused", queen.Model: "failed:model",
		queen.Cancelled: "cancelled", queen.Internal: "failed:internal", queen.Done: "failed:no_work", "": "failed:internal",
	}
	for reason, want := range cases {
		w := newWorld()
		w.ant = func(_ context.Context, o queen.Order) (queen.Outcome, error) {
			if o.Task == "b" {
				return w.work(o), nil
			}
			return queen.Outcome{Reason: reason, Detail: "because"}, nil
		}
		f := run(t, t.Context(), w.parts(tasks(task("a"), task("b", "a")), "test"))
		next := "b=blocked:needs:a"
		if reason == queen.NoChange {
			next = "b=landed"
		}
		if got := statuses(f); got != "a="+want+" "+next {
			t.Errorf("%q: %s", reason, got)
		}
	}
}

// contract 57: the run's cap stops new ants, lets the others finish and land, and ends with 4; 6 beats it.
func TestWhatEndsARunEarly(t *testing.T) {
	cases := []struct {
		name    string
		outcome queen.Outcome
		exit    int
		status  string
		want    string
	}{
		{"cap of the run", queen.Outcome{Reason: queen.USD, Scope: "run", Detail: "spent"}, 4, "capped", "a=failed:caps b=landed c=blocked:needs:a d=cancelled:caps"},
		{"cap of the ant", queen.Outcome{Reason: queen.USD, Scope: "ant"}, 3, "partial", "a=failed:caps b=landed c=blocked:needs:a d=landed"},
		{"provider", queen.Outcome{Reason: queen.Model, Fatal: true, Detail: "wrong key"}, 6, "partial", "a=failed:model b=landed c=blocked:needs:a d=cancelled:model"},
		{"cap and provider", queen.Outcome{Reason: queen.Model, Fatal: true, Scope: "run"}, 6, "partial", "a=failed:model b=landed c=blocked:needs:a d=cancelled:model"},
		{"ask", queen.Outcome{Reason: queen.Blocked, Asked: true}, 5, "partial", "a=blocked:said b=landed c=blocked:needs:a d=landed"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			began := make(chan struct{})
			w.ant = func(_ context.Context, o queen.Order) (queen.Outcome, error) {
				switch o.Task {
				case "a":
					<-began
					return c.outcome, nil
				case "b":
					close(began)
					w.untilEnded("a")
				}
				return w.work(o), nil
			}
			p := w.parts(tasks(task("a"), task("b"), task("c", "a"), task("d", "b")), "test")
			f := run(t, t.Context(), p)
			if f.Exit != c.exit || f.Status != c.status || statuses(f) != c.want || f.Resumable != (c.exit > 3) {
				t.Errorf("%d %s %s %v", f.Exit, f.Status, statuses(f), f.Resumable)
			}
			if c.outcome.Detail != "" && f.Reason != c.outcome.Detail {
				t.Errorf("reason %q", f.Reason)
			}
		})
	}
}

// untilEnded waits until the log says that a task ended.
func (w *world) untilEnded(task string) {
	for e := range w.log.Follow(context.Background(), 0) {
		if _, ok := e.Body.(event.TaskDone); ok && e.Task == task {
			return
		}
	}
}

type signal int

func (signal) Error() string   { return "interrupted" }
func (s signal) ExitCode() int { return int(s) }

func TestStopping(t *testing.T) {
	w := newWorld()
	ctx, cancel := context.WithCancelCause(t.Context())
	w.ant = func(ctx context.Context, o queen.Order) (queen.Outcome, error) {
		if o.Task == "a" {
			return w.work(o), nil
		}
		w.untilEnded("a")
		cancel(signal(143))
		<-ctx.Done()
		if o.Task == "b" {
			return queen.Outcome{}, context.Cause(ctx)
		}
		out := w.work(o)
		out.Reason = queen.Cancelled
		return out, nil
	}
	f := run(t, ctx, w.parts(tasks(task("a"), task("b"), task("c"), task("d", "c"), task("e", "a", "b")), "test"))
	if f.Exit != 143 || f.Status != "stopped" || !f.Resumable || statuses(f) != "a=landed b=cancelled c=cancelled d=cancelled e=cancelled" {
		t.Errorf("%d %s %s", f.Exit, f.Status, statuses(f))
	}
	if w.kept["refs/colony/r1/kept/c"] != "c.1" {
		t.Errorf("the work of a stopped ant is lost: %v", w.kept)
	}
	if !strings.HasSuffix(w.types(t), "run.finished") {
		t.Error("run.finished is not the last")
	}
}

// staleRepo is a branch that somebody else moves.
type staleRepo struct{ *world }

func (staleRepo) Advance(context.Context, string, string, string) (bool, error) { return false, nil }

func TestABranchThatSomebodyElseMovesStopsTheRun(t *testing.T) {
	w := newWorld()
	p := w.parts(tasks(task("a"), task("b", "a"), task("c")), "test")
	p.Repo, p.Ants = staleRepo{w}, 1
	f := run(t, t.Context(), p)
	if f.Exit != 3 || statuses(f) != "a=failed:conflict b=blocked:needs:a c=failed:conflict" {
		t.Errorf("%d %s", f.Exit, statuses(f))
	}
	if !strings.Contains(f.Reason, "moved the branch") || w.kept["refs/colony/r1/kept/a"] == "" {
		t.Errorf("%q, %v", f.Reason, w.kept)
	}
}

func TestColonysOwnFailureEndsTheRunWithOne(t *testing.T) {
	broken := errors.New("disk is full")
	cases := map[string]func(*world, *queen.Parts){
		"hatcher": func(w *world, _ *queen.Parts) {
			w.ant = func(context.Context, queen.Order) (queen.Outcome, error) { return queen.Outcome{}, broken }
		},
		"gate": func(_ *world, p *queen.Parts) {
			p.Gates = nil
			p.Gate = func(context.Context, string, plan.Gate) (event.GateReceipt, error) {
				return event.GateReceipt{}, broken
			}
			p.Cards = func(string) []plan.Gate { return []plan.Gate{{Run: "x"}} }
		},
		"base gate": func(_ *world, p *queen.Parts) {
			p.Gate = func(context.Context, string, plan.Gate) (event.GateReceipt, error) {
				return event.GateReceipt{}, broken
			}
		},
		"stage": func(w *world, p *queen.Parts) { p.Repo = brokenRepo{w, broken} },
	}
	for name, set := range cases {
		w := newWorld()
		p := w.parts(tasks(task("a"), task("b", "a"), task("c")), "test")
		p.Ants = 1
		set(w, &p)
		f, err := queen.Run(t.Context(), p)
		if !errors.Is(err, broken) && !strings.Contains(err.Error(), broken.Error()) || f.Exit != 1 || f.Status != "failed" {
			t.Errorf("%s: %v, %d %s", name, err, f.Exit, statuses(f))
		}
		if !strings.HasSuffix(w.types(t), "run.finished") {
			t.Errorf("%s: run.finished is not the last", name)
		}
	}
}

type brokenRepo struct {
	*world
	err error
}

func (b brokenRepo) Stage(context.Context, string, string) (repo.Candidate, *repo.Conflict, error) {
	return repo.Candidate{}, nil, b.err
}

func TestDeniedCallsAndUsageAreReported(t *testing.T) {
	w := newWorld()
	usd := event.PicoUSD(5)
	w.ant = func(ctx context.Context, o queen.Order) (queen.Outcome, error) {
		_, err := w.log.Append(ctx,
			event.Event{Run: "r1", Task: o.Task, Ant: o.Ant, Body: event.ModelRequested{Request: o.Task, Attempt: 1, Model: "m", ReservedUSD: &usd}},
			event.Event{Run: "r1", Task: o.Task, Ant: o.Ant, Body: event.ModelReplied{Request: o.Task, Attempt: 1, Outcome: "ok", USD: &usd, Price: event.Known, Usage: event.Usage{Requests: 1, Input: 3, Output: 2}}},
			event.Event{Run: "r1", Task: o.Task, Ant: o.Ant, Body: event.ToolDone{Call: "1", Tool: "sh", Fault: "permission_denied", Rule: "deny: rm"}})
		return w.work(o), err
	}
	f := run(t, t.Context(), w.parts(tasks(task("a"), task("b", "a")), "test"))
	if f.Usage.Input != 6 || f.USD == nil || *f.USD != 10 || f.Tasks[1].Usage.Input != 3 || *f.Tasks[1].USD != 5 || f.Tasks[0].Price != event.Known {
		t.Errorf("%+v", f)
	}
	if !slices.Equal(f.Denied, []event.Denied{{Ant: "worker-1", Tool: "sh", Rule: "deny: rm"}, {Ant: "worker-2", Tool: "sh", Rule: "deny: rm"}}) {
		t.Errorf("%+v", f.Denied)
	}
	for _, e := range w.events(t) {
		if d, ok := e.Body.(event.TaskDone); ok && (d.Usage.Output != 2 || d.USD == nil || *d.USD != 5) {
			t.Errorf("%+v", d)
		}
	}
}

func TestRunNeedsItsParts(t *testing.T) {
	if _, err := queen.Run(t.Context(), queen.Parts{}); err == nil {
		t.Error("ran with nothing")
	}
}
