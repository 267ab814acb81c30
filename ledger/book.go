package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"colony/event"
	"colony/model"
)

// Parts are what a Book is made of.
type Parts struct {
	Log  event.Log
	Run  Caps
	Rate func(provider, model string) Rate
	Now  func() time.Time // wall caps count by it; it may stand still for a while
}

// Book holds the caps of a run, of its tasks and of its ants, all at once: no request is sent whose
// reservation does not fit under every cap that holds it. It is safe for concurrent use.
type Book struct {
	parts Parts

	mu      sync.Mutex // guards what follows
	run     *purse
	tasks   map[string]*purse
	ants    map[string]*antPurse
	made    map[attempt]bool
	served  map[string]string   // the service of each model's last reply
	before  map[string]*amounts // what ants used in earlier processes
	settled chan struct{}       // closed and replaced whenever something in flight is settled
}

// antPurse is the purse of an ant and how many bytes its last request had for how many tokens.
type antPurse struct {
	purse
	parent        string // the ant that hatched it
	bytes, tokens int64
}

// attempt is one request on its way to a provider.
type attempt struct {
	run, ant, request string
	number            int
}

// NewBook opens the book of a run; its wall time begins now.
func NewBook(p Parts) (*Book, error) {
	if p.Log == nil || p.Rate == nil || p.Now == nil {
		return nil, errors.New("open book: it needs a log, rates and a clock")
	}
	return &Book{
		parts: p, run: &purse{scope: "run", caps: p.Run, since: p.Now()},
		tasks: map[string]*purse{}, ants: map[string]*antPurse{}, made: map[attempt]bool{}, served: map[string]string{}, before: map[string]*amounts{},
		settled: make(chan struct{}),
	}, nil
}

// OpenTask sets the caps of a task. The first call starts its wall time; what it has spent stays.
func (b *Book) OpenTask(task string, c Caps) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := b.tasks[task]; t != nil {
		t.caps = c
		return
	}
	b.tasks[task] = &purse{scope: "task", caps: c, since: b.parts.Now()}
}

// OpenAnt sets the caps of an ant. The first call starts its wall time; what it has spent stays.
func (b *Book) OpenAnt(a Account, c Caps) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := b.ants[a.Ant]; t != nil {
		t.caps = c
		return
	}
	b.ants[a.Ant] = &antPurse{parent: a.Parent, purse: purse{scope: "ant", caps: c, since: b.parts.Now(), used: *b.spent(a.Ant)}}
}

// purses are those that hold an account, the widest first.
func (b *Book) purses(a Account) ([]*purse, *antPurse, error) {
	ant := b.ants[a.Ant]
	if ant == nil {
		return nil, nil, fmt.Errorf("book: ant %q has no account", a.Ant)
	}
	purses := []*purse{b.run}
	if a.Task != "" {
		task := b.tasks[a.Task]
		if task == nil {
			return nil, nil, fmt.Errorf("book: task %q has no account", a.Task)
		}
		purses = append(purses, task)
	}
	for parent := b.ants[ant.parent]; parent != nil; parent = b.ants[parent.parent] {
		purses = slices.Insert(purses, 1+min(1, len(a.Task)), &parent.purse)
	}
	return append(purses, &ant.purse), ant, nil
}

// Calls counts n tool calls. It is a *model.CapError, and counts nothing, where they do not fit under every
// cap.
func (b *Book) Calls(a Account, n int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	purses, _, err := b.purses(a)
	if err != nil {
		return err
	}
	for _, p := range purses {
		if c := p.caps.Calls; c != nil && add(p.used.calls, int64(n)) > *c {
			return p.capError("calls", fmt.Sprintf("%d of %d calls are used, %d more are asked for", p.used.calls, *c, n))
		}
	}
	for _, p := range purses {
		p.used.calls = add(p.used.calls, int64(n))
	}
	return nil
}

// Context ends at the first wall cap of the account, with a *model.CapError as its cause.
func (b *Book) Context(ctx context.Context, a Account) (context.Context, context.CancelFunc) {
	b.mu.Lock()
	defer b.mu.Unlock()
	purses, _, err := b.purses(a)
	if err != nil {
		ctx, cancel := context.WithCancelCause(ctx)
		cancel(err)
		return ctx, func() {}
	}
	var first *purse
	for _, p := range purses {
		if p.caps.Wall != nil && (first == nil || p.since.Add(*p.caps.Wall).Before(first.since.Add(*first.caps.Wall))) {
			first = p
		}
	}
	if first == nil {
		return context.WithCancel(ctx)
	}
	timed, cancel := context.WithCancelCause(ctx)
	left := func() time.Duration { return first.since.Add(*first.caps.Wall).Sub(b.parts.Now()) }
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		watch(timed, left, func() { cancel(first.wallError()) })
	}()
	return timed, func() {
		cancel(context.Canceled)
		<-watched
	}
}

// wallLook is how soon time is looked at again that the book's clock did not count.
const wallLook = 100 * time.Millisecond

// watch calls over once nothing is left by the book's clock, which may stand still for a while.
func watch(ctx context.Context, left func() time.Duration, over func()) {
	for d := left(); d > 0; d = left() {
		timer := time.NewTimer(max(d, wallLook))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
	over()
}

// Meter is a provider that reserves, records and charges every attempt of an ant before and after next.
// A request that does not fit under every cap is not sent and is a *model.CapError. It goes round an
// adapter, inside the governor: each attempt of a request has a number of its own.
func (b *Book) Meter(a Account, next model.Provider) model.Provider {
	return &meter{book: b, account: a, next: next}
}
