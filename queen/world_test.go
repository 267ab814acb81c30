package queen_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"colony/event"
	"colony/ledger"
	"colony/plan"
	"colony/queen"
	"colony/repo"

	"pgregory.net/rapid"
)

// world is git and the ants in memory. A tree is the sorted names of the changes it holds.
type world struct {
	mu       sync.Mutex
	branch   string
	trees    map[string]string            // by commit
	green    func(gate, tree string) bool // what a gate says of a tree
	conflict map[string]int               // how often the work of a task does not join, by task
	ant      func(ctx context.Context, o queen.Order) (queen.Outcome, error)
	judge    func(o queen.Order) queen.Outcome // a reviewer
	files    map[string]string                 // content, by commit and path
	kept     map[string]string
	moves    []move
	ran      []string // gates that ran, with their tree
	now      int      // ants at work
	most     int
	orders   []queen.Order
	log      *event.Memory
	all      []event.Event // of a run that is finished
	onHatch  func(queen.Order)

	endedMu sync.Mutex
	seen    event.Seq
	final   map[string]string
}

// move is the branch as it went.
type move struct{ from, to string }

const base = "c0"

func newWorld() *world {
	w := &world{branch: base, trees: map[string]string{base: "base"}, conflict: map[string]int{}, kept: map[string]string{},
		green: func(string, string) bool { return true }}
	w.log = event.NewMemory("r1", time.Now)
	w.ant = func(_ context.Context, o queen.Order) (queen.Outcome, error) { return w.work(o), nil }
	w.judge = func(queen.Order) queen.Outcome { return queen.Outcome{Reason: queen.Done, Verdict: queen.Approve} }
	return w
}

// work is an attempt that changed something.
func (w *world) work(o queen.Order) queen.Outcome {
	commit := fmt.Sprintf("%s.%d", o.Task, o.Attempt)
	if o.Card == "resolver" {
		commit = fmt.Sprintf("%s.r%d", o.Task, o.Attempt)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trees[commit] = with(w.trees[o.Base], commit)
	files := []string{o.Task}
	if _, shares := w.conflict[o.Task]; shares {
		files = append(files, "shared")
	}
	return queen.Outcome{Reason: queen.Done, Commit: commit, Tree: w.trees[commit], Files: files}
}

// slow is an ant whose gates take long: what it brings lands after all that lands.
func (w *world) slow(_ context.Context, o queen.Order) (queen.Outcome, error) {
	out := w.work(o)
	out.Gates = []event.GateReceipt{{Command: "test", Ms: time.Minute.Milliseconds()}}
	return out, nil
}

func with(tree string, changes ...string) string {
	all := append(strings.Split(tree, " "), changes...)
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " ")
}

func (w *world) Hatch(ctx context.Context, o queen.Order) (queen.Outcome, error) {
	w.mu.Lock()
	w.now++
	w.most = max(w.most, w.now)
	w.orders = append(w.orders, o)
	w.mu.Unlock()
	defer func() { w.mu.Lock(); w.now--; w.mu.Unlock() }()
	if w.onHatch != nil {
		w.onHatch(o)
	}
	if o.Review != nil {
		return w.judge(o), nil
	}
	return w.ant(ctx, o)
}

func (w *world) Stage(_ context.Context, onto, commit string) (repo.Candidate, *repo.Conflict, error) {
	runtime.Gosched()
	w.mu.Lock()
	defer w.mu.Unlock()
	tree := with(w.trees[onto], strings.Split(w.trees[commit], " ")...)
	id := onto + "+" + commit
	w.trees[id] = tree
	task, _, _ := strings.Cut(commit, ".")
	if w.conflict[task] > 0 {
		w.conflict[task]--
		return repo.Candidate{}, &repo.Conflict{Files: []string{"shared"}, Commit: id}, nil
	}
	return repo.Candidate{Commit: id, Tree: tree, Onto: onto, Files: []string{task}, Empty: tree == w.trees[onto]}, nil, nil
}

func (w *world) Checkout(_ context.Context, commit string) (repo.Checkout, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return repo.Checkout{Dir: w.trees[commit], Tree: w.trees[commit], Remove: func() error { return nil }}, nil
}

func (w *world) Advance(_ context.Context, ref, old, new string) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if ref != "refs/heads/colony/r1" || w.branch != old {
		return false, nil
	}
	w.moves = append(w.moves, move{old, new})
	w.branch = new
	return true, nil
}

// file is what a commit has at a path: what the last of its works that has it put there.
func (w *world) file(_ context.Context, commit, path string) ([]byte, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := commit; ; {
		if text, ok := w.files[c+" "+path]; ok {
			return []byte(text), true, nil
		}
		at := strings.LastIndexByte(c, '+')
		if at < 0 {
			return nil, false, nil
		}
		if text, ok := w.files[c[at+1:]+" "+path]; ok {
			return []byte(text), true, nil
		}
		c = c[:at]
	}
}

func (w *world) Keep(_ context.Context, ref, commit string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept[ref] = commit
	return nil
}

func (w *world) gate(_ context.Context, dir string, g plan.Gate) (event.GateReceipt, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ran = append(w.ran, g.Run+" on "+dir)
	if w.green(g.Run, dir) {
		return event.GateReceipt{}, nil
	}
	return event.GateReceipt{Exit: 1}, nil
}

func (w *world) parts(p plan.Plan, gates ...string) queen.Parts {
	for i := range p.Tasks {
		if p.Tasks[i].Card == "" {
			p.Tasks[i].Card = "worker"
		}
	}
	parts := queen.Parts{Run: "r1", Planner: queen.Planned(p, nil), Branch: "refs/heads/colony/r1", Base: base, Log: w.log, Hatcher: w, Repo: w, Gate: w.gate,
		Caps:    func(plan.Task) ledger.Caps { return ledger.Caps{} },
		Cards:   func(string) []plan.Gate { return nil },
		Kept:    func(task string) string { return "refs/colony/r1/kept/" + task },
		RedBase: func(string, int) bool { return false },
		Most:    func(string) int { return 0 },
		Reword:  func(_ context.Context, commit, _ string) (string, error) { return commit, nil },
		File:    w.file,
		Batch:   8, Retries: 1, Rounds: 2, Reviewer: "reviewer", Resolver: "resolver",
		Ants: 4, Returns: 2, Now: time.Now}
	for _, g := range gates {
		parts.Gates = append(parts.Gates, plan.Gate{Run: g})
	}
	return parts
}

func task(id string, needs ...string) plan.Task { return plan.Task{ID: id, Needs: needs} }

func tasks(all ...plan.Task) plan.Plan { return plan.Plan{Tasks: all} }

func run(t testing.TB, ctx context.Context, p queen.Parts) event.RunFinished {
	t.Helper()
	f, err := queen.Run(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// statuses is each task's end in one word or two.
func statuses(f event.RunFinished) string {
	var out []string
	for _, t := range f.Tasks {
		out = append(out, strings.TrimSuffix(t.ID+"="+t.Status+":"+t.Reason, ":"))
	}
	return strings.Join(out, " ")
}

func (w *world) events(t rapid.TB) []event.Event {
	t.Helper()
	if w.all != nil {
		return w.all
	}
	var out []event.Event
	for e, err := range w.log.Read(context.Background(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
		if _, ok := e.Body.(event.RunFinished); ok {
			w.all = out
		}
	}
	return out
}

func (w *world) types(t rapid.TB) string {
	var out []string
	for _, e := range w.events(t) {
		out = append(out, e.Body.Type())
	}
	return strings.Join(out, " ")
}

// chance is a number below n that depends on nothing but the words.
func chance(n uint32, words ...any) uint32 {
	h := fnv.New32a()
	fmt.Fprint(h, words...)
	return h.Sum32() % n
}

// ended is the final status of each task that has one in the log.
func (w *world) ended(t rapid.TB) map[string]string {
	w.endedMu.Lock()
	defer w.endedMu.Unlock()
	if w.final == nil {
		w.final = map[string]string{}
	}
	for e, err := range w.log.Read(context.Background(), w.seen) {
		if err != nil {
			t.Error(err)
		}
		w.seen = e.Seq
		switch d := e.Body.(type) {
		case event.TaskDone:
			w.final[e.Task] = d.Status
		case event.TaskReady:
			if w.final[e.Task] != "" {
				w.final[e.Task] = "again"
			}
		case event.TaskClaimed:
			delete(w.final, e.Task)
		}
	}
	return maps.Clone(w.final)
}

func allowed(string, int) bool { return true }
