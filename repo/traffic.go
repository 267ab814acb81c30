package repo

import (
	"context"
	"sync"
)

// traffic counts the gits that somebody waits for, so that work nobody waits for can let them by.
type traffic struct {
	mu    sync.Mutex // guards what follows
	n     int
	clear chan struct{} // closed while n is 0
}

func newTraffic() *traffic {
	t := &traffic{clear: make(chan struct{})}
	close(t.clear)
	return t
}

func (t *traffic) enter() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n++; t.n == 1 {
		t.clear = make(chan struct{})
	}
}

func (t *traffic) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n--; t.n == 0 {
		close(t.clear)
	}
}

// quiet waits for a moment without any; false when ctx ends.
func (t *traffic) quiet(ctx context.Context) bool {
	t.mu.Lock()
	clear := t.clear
	t.mu.Unlock()
	select {
	case <-clear:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
