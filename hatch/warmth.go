package hatch

import (
	"context"
	"sync"
	"time"

	"colony/model"
)

// headStart is how long ants wait at most for the first of their card.
const headStart = 2 * time.Second

// warmth lets the first ant of a card begin alone, so that the others find the provider's cache of what their
// prompts have in common. It is safe for concurrent use.
type warmth struct {
	after func(time.Duration) <-chan time.Time
	mu    sync.Mutex // guards first
	first map[string]*first
}

// first is the first request of a card. Begun is closed when its reply begins, or when none comes.
type first struct {
	once  sync.Once
	begun chan struct{}
}

func (f *first) begin() { f.once.Do(func() { close(f.begun) }) }

func newWarmth(after func(time.Duration) <-chan time.Time) *warmth {
	return &warmth{after: after, first: map[string]*first{}}
}

// around is an ant's provider whose first request waits for that of the first ant of the card.
func (w *warmth) around(card string, next model.Provider) model.Provider {
	return &warmed{Provider: next, warmth: w, card: card}
}

type warmed struct {
	model.Provider
	warmth *warmth
	card   string
	begun  bool
}

// Complete is not for concurrent use: an ant makes one request after another.
func (p *warmed) Complete(ctx context.Context, req model.Request, show func(model.Delta)) (model.Reply, error) {
	if p.begun {
		return p.Provider.Complete(ctx, req, show)
	}
	p.begun = true
	f, mine := p.warmth.join(p.card)
	if mine {
		defer f.begin()
		return p.Provider.Complete(ctx, req, func(d model.Delta) {
			f.begin()
			show(d)
		})
	}
	select {
	case <-f.begun:
	case <-p.warmth.after(headStart):
	case <-ctx.Done():
	}
	return p.Provider.Complete(ctx, req, show)
}

// join is the first request of a card, and whether it is the caller's.
func (w *warmth) join(card string) (*first, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f, ok := w.first[card]; ok {
		return f, false
	}
	w.first[card] = &first{begun: make(chan struct{})}
	return w.first[card], true
}
