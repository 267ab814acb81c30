package model

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Key is what the governors of one provider key share: a wait that the provider asks for holds for all its models, and a
// key that is refused or has nothing left is so for all. It is safe for concurrent use.
type Key struct {
	mu        sync.Mutex // guards governors
	governors []*Governor

	first chan struct{} // held by the request that finds out whether the key is any good
	good  atomic.Bool   // it was not refused at the first attempt, whatever that came to
}

// NewKey returns a key that nobody uses yet.
func NewKey() *Key { return &Key{first: make(chan struct{}, 1)} }

// enter waits until no other request finds out whether the key is any good.
func (k *Key) enter(ctx context.Context, t *turn) error {
	if t.finds || k.good.Load() {
		return nil
	}
	select {
	case k.first <- struct{}{}:
		t.finds = true
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// leave lets the next one find out.
func (k *Key) leave(t *turn) {
	if t.finds {
		t.finds = false
		<-k.first
	}
}

func (k *Key) join(g *Governor) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.governors = append(k.governors, g)
}

// share tells the others what one of them knows of the key.
func (k *Key) share(from *Governor) {
	k.mu.Lock()
	defer k.mu.Unlock()
	from.mu.Lock()
	cool, dead := from.cool, keyless(from.dead)
	from.mu.Unlock()
	if dead == nil {
		k.good.Store(true)
	}
	for _, g := range k.governors {
		if g != from {
			g.told(cool, dead)
		}
	}
}

// keyless is an error that says something of the key, and not of one model.
func keyless(err error) error {
	if e, ok := err.(*Error); ok && (e.Kind == Auth || e.Kind == Quota) {
		return e
	}
	return nil
}

// told takes over what another model of the key came to.
func (g *Governor) told(cool time.Time, dead error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !cool.After(g.cool) && (dead == nil || g.dead != nil) {
		return
	}
	g.cool = latest(g.cool, cool)
	if g.dead == nil {
		g.dead = dead
	}
	g.stir()
}
