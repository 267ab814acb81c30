package tools

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
)

// PathLocks keep two calls from changing one file at once, however its path is spelt. They are safe for
// concurrent use.
type PathLocks struct {
	mu    sync.Mutex
	slots map[string]*pathSlot // guarded by mu
}

// pathSlot is held by whoever has put a value into held. Users counts holders and waiters.
type pathSlot struct {
	held  chan struct{}
	users int
}

// NewPathLocks holds nothing.
func NewPathLocks() *PathLocks { return &PathLocks{slots: map[string]*pathSlot{}} }

// Lock holds all the paths until unlock is called, which may be done more than once. Paths are resolved, and taken in
// one order, so that two calls never wait for each other. A caller resolves again once it holds them. The
// error is the context's, or a path's that cannot be resolved; then nothing is held.
func (l *PathLocks) Lock(ctx context.Context, paths ...string) (unlock func(), err error) {
	keys := make([]string, 0, len(paths))
	for _, p := range paths {
		key, err := canonicalPath(p)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	for i, key := range keys {
		if err := l.take(ctx, key); err != nil {
			l.release(keys[:i])
			return nil, fmt.Errorf("lock %s: %w", key, err)
		}
	}
	return sync.OnceFunc(func() { l.release(keys) }), nil
}

func (l *PathLocks) take(ctx context.Context, key string) error {
	l.mu.Lock()
	slot := l.slots[key]
	if slot == nil {
		slot = &pathSlot{held: make(chan struct{}, 1)}
		l.slots[key] = slot
	}
	slot.users++
	l.mu.Unlock()
	select {
	case slot.held <- struct{}{}:
		return nil
	case <-ctx.Done():
		l.drop(key)
		return ctx.Err()
	}
}

func (l *PathLocks) release(keys []string) {
	for _, key := range keys {
		l.mu.Lock()
		slot := l.slots[key]
		l.mu.Unlock()
		<-slot.held
		l.drop(key)
	}
}

func (l *PathLocks) drop(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.slots[key].users--; l.slots[key].users == 0 {
		delete(l.slots, key)
	}
}

// canonicalPath is the file that a write through the path would change.
func canonicalPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("resolve %s: %w", path, err)
	}
	return Resolve("/", abs)
}
