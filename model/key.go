package model

import (
	"sync"
	"time"
)

// Key is what the governors of one provider key share: a wait that the provider asks for holds for all its models, and a
// key that is refused or has nothing left is so for all. It is safe for concurrent use.
type Key struct {
	mu        sync.Mutex // guards governors
	governors []*Governor
}

// NewKey returns a key that nobody uses yet.
func NewKey() *Key { return &Key{} }

func (k *Key) join(g *Governor) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.governors = append(k.governors, g)
}

// share tells the others what one of them knows of the key.
func (k *Key) share(from *Governor) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.governors) < 2 {
		return
	}
	from.mu.Lock()
	cool, dead := from.cool, keyless(from.dead)
	from.mu.Unlock()
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
