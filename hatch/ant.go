package hatch

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"colony/ant"
	"colony/cards"
	"colony/event"
	"colony/guard"
	"colony/ledger"
	"colony/queen"
	"colony/repo"
	"colony/tools"
)

// life is one ant at work on one order.
type life struct {
	*Colony
	order   queen.Order
	card    cards.Card
	model   chosen
	account ledger.Account
	tree    *repo.Tree
	box     confined // for what is not its own: gates, hooks
	reach   out      // what its commands reach
	lease   *lease
	env     *tools.Env
	ant     *ant.Ant
	chain   *chained                // the models that it asks
	shelf   *tools.Registry         // from which its own registry is carved
	ending  <-chan struct{}         // closed when the run is being stopped
	halted  func() error            // why the run is being stopped; nil while it is not
	work    repo.Commit             // what it changed so far; zero where nothing
	asked   atomic.Int64            // questions
	denied  atomic.Bool             // a permission was not given
	cut     context.CancelCauseFunc // ends this ant only
	ears    sync.Mutex              // guards heard, news and waiting
	heard   []string                // texts from outside that wait for the next tool boundary
	news    []news                  // work of others, likewise
	risen   bool                    // it works with the model that its card escalates to
	warned  map[string]bool         // the caps that the ant was told of, as low spells them without the amount
	before  before                  // what it did before a crash
	lost    string                  // of it, for the ant; empty where all is there
	waiting []event.AskOpened       // questions of an earlier process that nobody answered
	calls   []relived               // of an earlier process, for the loop guard
	parent  *life                   // whose helper it is; nil for an ant of the queen's
	depth   int                     // how many ants are above it
	family  *family                 // with its helpers, theirs, and those above it
	place   chan struct{}           // holds what its helper at work has of its own
	red     map[string]string       // by gate, the tree on which it was red last
}

var _ queen.Hatcher = (*Colony)(nil)

// Hatch carries one order out: a worktree, an ant until it is done, its commit, the gates in the worktree. The ant
// gets the output of a red gate back a bounded number of times.
func (c *Colony) Hatch(ctx context.Context, o queen.Order) (queen.Outcome, error) {
	c.pauser.wait(ctx, ctx.Done())
	if out, away := c.turnedAway(o); away && !o.Continues {
		return out, nil
	}
	l, err := c.newLife(ctx, o, c.registry)
	if err != nil && ctx.Err() == nil {
		return queen.Outcome{Reason: queen.Internal, Detail: err.Error()}, nil
	}
	if err != nil {
		return queen.Outcome{}, err
	}
	if o.Review != nil {
		return l.review(ctx)
	}
	var outcome queen.Outcome
	err = l.lead(ctx, l.task(), func(ctx context.Context) (ended ant.Reason, err error) {
		outcome, ended, err = l.live(ctx)
		return ended, err
	})
	if err != nil {
		return outcome, err
	}
	return l.settle(ctx, outcome)
}

// newLife gives an order's ant its worktree and its account.
func (c *Colony) newLife(ctx context.Context, o queen.Order, shelf *tools.Registry) (*life, error) {
	l := c.lifeOf(o, shelf)
	l.family = &family{}
	var err error
	if o.Continues {
		l.lost, err = l.goesOnIn(ctx)
	} else {
		l.tree, err = c.repo.Worktree(ctx, l.treeName(), o.Base)
	}
	if err != nil {
		return nil, err
	}
	c.book.OpenAnt(l.account, o.Caps)
	return l, nil
}

// lifeOf is the ant of an order, of which nothing is made yet.
func (c *Colony) lifeOf(o queen.Order, shelf *tools.Registry) *life {
	l := &life{Colony: c, order: o, card: c.cards[o.Card], model: c.models[o.Card], shelf: shelf, warned: map[string]bool{}, red: map[string]string{},
		place: make(chan struct{}, 1)}
	l.account = ledger.Account{Run: c.run, Task: o.Task, Ant: o.Ant, Card: o.Card, Provider: l.model.provider, Model: l.model.name}
	return l
}

// lead lets the ant live, within its caps and for a while longer than ctx, from what it is told first to its end.
func (l *life) lead(ctx context.Context, first string, live func(context.Context) (ant.Reason, error)) (err error) {
	l.ending, l.halted = ctx.Done(), func() error { return context.Cause(ctx) }
	if l.parent != nil {
		l.ending, l.halted = l.parent.ending, l.parent.halted
	}
	long, end := grace(ctx, time.Duration(l.settings.limits.Stop))
	defer end()
	long, l.cut = context.WithCancelCause(long)
	defer l.cut(nil)
	defer l.crew.enter(l)()
	if l.lease == nil { // a helper has its parent's
		if l.lease, err = takeLease(l.parts.leases(), l.order.Locks); err != nil {
			return err
		}
		defer l.lease.end()
	}
	timed, stop := l.book.Context(long, l.account)
	defer stop()
	if err := l.wake(timed, first); err != nil {
		return err
	}
	defer l.env.Jobs.Close()
	ended, err := live(timed)
	if err != nil {
		return err
	}
	return l.append(event.AntEnded{Reason: string(ended)})
}

// wake builds the ant, from the log where it lived before, and tells it what it is for, or why it comes back.
func (l *life) wake(ctx context.Context, first string) error {
	memory, err := l.recall(ctx)
	if err != nil {
		return err
	}
	if err := l.furnish(); err != nil {
		return err
	}
	if err := l.remind(ctx); err != nil {
		return err
	}
	if l.order.Continues {
		return l.goOn(ctx, memory)
	}
	if err := l.animate(ctx, memory); err != nil {
		return err
	}
	if memory.Turns() == 0 {
		return l.ant.Tell(ctx, "task", l.redact(first))
	}
	return l.ant.Tell(ctx, l.order.Kind, l.redact(l.order.Told+l.redOutput()))
}

// animate makes the ant of a memory, with the model that it works with now.
func (l *life) animate(ctx context.Context, memory *ant.Memory) (err error) {
	policy := l.policy()
	layers, err := l.layers(ctx, policy)
	if err != nil {
		return err
	}
	system := l.system(l.card)
	l.ant, err = ant.New(ant.Parts{
		Run: l.run, Task: l.order.Task, Ant: l.order.Ant, System: system, Name: l.model.name, Effort: l.effort(),
		Model:    resting{l.way(), l.pauser, l.ending},
		CacheKey: l.card.Name, OutputLimit: l.outputLimit(), Env: l.env, Layers: layers, Foresee: policy.Foresee, Log: l.log,
		Width: l.settings.limits.Width, Nudges: l.settings.limits.TextNudges, Memory: memory,
		Calls: func(n int) error { return l.book.Calls(l.account, n) },
		Low:   l.low, Heard: l.listen, Window: l.window(), Priority: l.urgency(),
	})
	if err != nil {
		return err
	}
	return l.hatched(system)
}

// recall is the ant's memory from the log; that of a new ant is empty.
func (l *life) recall(ctx context.Context) (*ant.Memory, error) {
	memory := ant.NewMemory(l.tree.Dir)
	if l.order.Attempt == 1 && !l.risen {
		return memory, nil
	}
	asked, worktree := int64(0), ""
	for e, err := range l.log.Read(ctx, 0) {
		if err != nil {
			return nil, err
		}
		if e.Ant != l.order.Ant {
			continue
		}
		if err := memory.Apply(e); err != nil {
			return nil, err
		}
		switch b := e.Body.(type) {
		case event.AskOpened:
			asked++
		case event.AntTold:
			l.wasLow(b.Text)
		case event.AntHatched:
			if b.Worktree != worktree {
				worktree, l.calls = b.Worktree, nil
			}
		case event.ToolStarted:
			l.calls = append(l.calls, relived{call: tools.Call{ID: b.Call, Name: b.Tool, Args: b.Args}})
		case event.ToolDone:
			l.relive(b)
		}
	}
	l.asked.Store(max(asked, l.asked.Load()))
	l.waiting = memory.Asks()
	if worktree != l.tree.Dir {
		l.calls = nil
	}
	if !l.order.Continues {
		memory.Move(l.tree.Dir)
	}
	return memory, nil
}

// furnish gives the ant its registry and what its calls share.
func (l *life) furnish() (err error) {
	if l.box, err = l.confine("ants"); err != nil {
		return err
	}
	scratch := filepath.Join(l.scratch(), l.order.Ant)
	if err := os.MkdirAll(scratch, 0o700); err != nil {
		return fmt.Errorf("make the scratch directory: %w", err)
	}
	l.box = l.box.in(l.tree.Dir, scratch).with(l.lease.env())
	hands, err := l.hands()
	if err != nil {
		return err
	}
	registry, err := l.shelf.Child(l.allowed(), nil)
	if err != nil {
		return err
	}
	if modeOf(l.order.Card, guard.Mode(l.mode)) == guard.ModePlan {
		registry.FreezeReadOnly()
	} else {
		registry.Freeze()
	}
	l.env = &tools.Env{
		Root: l.tree.Dir, Ant: l.order.Ant, Tools: registry, Files: tools.NewFileState(), Jobs: tools.NewJobs(hands.exec),
		Locks: tools.NewPathLocks(), Blobs: l.blobs, Ask: l.ask, Exec: hands.exec, Dial: noDial, Now: l.parts.Now,
		Progress: l.progress,
	}
	return l.equip(scratch)
}

// progress shows what a command prints to who looks on.
func (l *life) progress(line string) {
	if l.parts.Progress != nil {
		l.parts.Progress(l.order.Ant, l.redact(line))
	}
}

func (l *life) layers(ctx context.Context, policy *guard.Policy) ([]tools.Layer, error) {
	loops := tools.LoopGuard()
	return []tools.Layer{
		beginning(l.halted), tools.Catch(), loops, tools.Refused(), policy.Gate(), l.toolHooks(), tools.Cap(l.settings.limits.ResultCap, l.redact), tools.Retry(),
	}, l.remember(ctx, loops)
}

// What stands round the words of low.
const (
	lowHead = "Low: "
	lowTail = ". Make it compile, leave notes of what is open, and call done."
)

// low says once of each cap that under a fifth of it is left.
func (l *life) low() (string, error) {
	all, err := l.book.Low(l.account)
	var words []string
	for _, one := range all {
		word := fmt.Sprintf("%s are left of the %s's cap", one.Left, one.Scope)
		_, about, _ := strings.Cut(word, " ")
		if !l.warned[about] {
			l.warned[about] = true
			words = append(words, word)
		}
	}
	if len(words) == 0 {
		return "", err
	}
	return lowHead + strings.Join(words, "; ") + lowTail, err
}

// wasLow takes a text that the ant was told earlier: what it says of caps is not said again.
func (l *life) wasLow(text string) {
	words, ok := strings.CutPrefix(text, lowHead)
	if !ok {
		return
	}
	for _, one := range strings.Split(strings.TrimSuffix(words, lowTail), "; ") {
		_, about, _ := strings.Cut(one, " ")
		l.warned[about] = true
	}
}

func (l *life) hatched(system string) error {
	list, err := json.Marshal(l.env.Tools.Specs())
	if err != nil {
		return err
	}
	toolsBlob, err := l.blobs.Put("application/json", list)
	if err != nil {
		return err
	}
	systemBlob, err := l.blobs.Put("text/plain", []byte(system))
	if err != nil {
		return err
	}
	var names []string
	for _, s := range l.env.Tools.Specs() {
		names = append(names, s.Name)
	}
	return l.append(event.AntHatched{
		Card: l.card.Name, CardHash: l.card.SHA256, System: systemBlob.SHA256, Tools: names, ToolsSum: toolsBlob.SHA256,
		Model: l.model.String(), Worktree: l.tree.Dir, Attempt: l.order.Attempt, Parent: l.account.Parent,
	})
}

// effort is how much the model is told to think; nothing where it is known that it cannot be told.
func (l *life) effort() string {
	if e, ok := l.catalogue.Lookup(l.model.provider, l.model.name); ok && !slices.Contains(e.Can, "effort") {
		return ""
	}
	return l.card.Effort
}

func (l *life) append(body event.Body) error {
	_, err := l.log.Append(context.Background(), event.Event{Run: l.run, Task: l.order.Task, Ant: l.order.Ant, Body: body})
	return err
}

func (l *life) outputLimit() int {
	limit := l.settings.limits.Output
	if l.card.Caps.Output > 0 {
		limit = l.card.Caps.Output
	}
	if l.model.output > 0 {
		limit = min(limit, l.model.output)
	}
	return limit
}

// task is the first text that an ant is told. Its first line names the task.
func (l *life) task() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Task %s: %s\n\n%s\n", l.order.Task, l.order.Title, strings.TrimSpace(l.order.Prompt))
	if len(l.order.Files) > 0 {
		fmt.Fprintf(&b, "\nThe files of this task, beside which change nothing that it can do without: %s\n", strings.Join(l.order.Files, ", "))
	}
	if len(l.order.Gates) > 0 {
		b.WriteString("\nColony runs these gates after done:\n")
		for _, g := range l.order.Gates {
			fmt.Fprintf(&b, "- %s\n", g.Run)
		}
	}
	if l.parts.From != nil {
		b.WriteString("\n" + l.parts.From.Known())
	}
	return b.String()
}
