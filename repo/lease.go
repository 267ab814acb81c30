package repo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// lease says that a run is at work on the state repository. The run's process holds it together with others, and so does
// each git that it started, so it is free when the last of them has ended, whatever ended them.
type lease struct {
	path string

	mu   sync.Mutex // guards what follows
	held *os.File   // nil until it is taken
}

func newLease(state string) *lease { return &lease{path: filepath.Join(state, "lease")} }

// take holds the lease from now on. It waits for clean-up to end.
func (l *lease) take(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.held == nil {
		f, err := l.lock(syscall.LOCK_SH)
		if err != nil {
			return err
		}
		if l.held = f; f != nil {
			break
		}
		select {
		case <-time.After(lockPause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// alone holds the lease so that no run is at work and none begins; let is nil where one is at work.
func (l *lease) alone() (let func() error, err error) {
	f, err := l.lock(syscall.LOCK_EX)
	if err != nil || f == nil {
		return nil, err
	}
	return f.Close, nil
}

// lock is the file, locked; nil where others hold it in a way that forbids this.
func (l *lease) lock(how int) (*os.File, error) {
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for err = syscall.EINTR; errors.Is(err, syscall.EINTR); {
		err = syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, f.Close()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// files are what a git of the run inherits.
func (l *lease) files() []*os.File {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		return nil
	}
	return []*os.File{l.held}
}

func (l *lease) release() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		return nil
	}
	f := l.held
	l.held = nil
	return f.Close()
}
