package repo

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// lease says that a run is at work on the state repository. It is held by the run's process and by each git that it
// started, so it is free when the last of them has ended, whatever ended them. Beside it lies a note for each git that is
// writing: the locks that it may take. A note that nobody holds tells which locks are a dead git's of this run, and no
// other lock is ever removed.
type lease struct {
	dir string // of the run: the lease, and its notes
	all string // held shared by every run, whole by clean-up

	mu        sync.Mutex // guards what follows
	held      []*os.File
	recovered []string // locks of dead gits that were removed
}

const (
	leaseName = "held"
	notePart  = "writing."
	settle    = 3 * time.Second // in which a git of a dead process ends, and another lets go of a lock
	pause     = 50 * time.Millisecond
)

func newLease(state, run string) *lease {
	return &lease{dir: filepath.Join(state, "leases", run), all: filepath.Join(state, "leases.all")}
}

// take holds the lease from now on. Where nobody held it, what dead gits left is freed first.
func (l *lease) take(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.held) > 0 {
		return nil
	}
	all, err := openLock(l.all)
	if err != nil {
		return err
	}
	if err := share(ctx, all); err != nil { // clean-up may be at work
		return errors.Join(err, all.Close())
	}
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return errors.Join(err, all.Close())
	}
	own, err := openLock(filepath.Join(l.dir, leaseName))
	if err != nil {
		return errors.Join(err, all.Close())
	}
	if err = l.free(ctx, own); err == nil {
		err = share(ctx, own)
	}
	if err != nil {
		return errors.Join(err, all.Close(), own.Close())
	}
	l.held = []*os.File{own, all}
	return nil
}

// alone holds all leases, so that no run is at work and none begins; let is nil where one is.
func (l *lease) alone() (let func() error, err error) {
	var held []*os.File
	free := func() error {
		var errs []error
		for _, f := range held {
			errs = append(errs, f.Close())
		}
		return errors.Join(errs...)
	}
	others, err := filepath.Glob(filepath.Join(filepath.Dir(l.dir), "*", leaseName))
	for _, path := range append([]string{l.all}, others...) {
		f, openErr := openLock(path)
		if openErr != nil {
			return nil, errors.Join(err, openErr, free())
		}
		held = append(held, f)
		ours, lockErr := flock(f, syscall.LOCK_EX)
		if err = errors.Join(err, lockErr); err != nil || !ours {
			return nil, errors.Join(err, free())
		}
	}
	return free, nil
}

// share locks a file together with others.
func share(ctx context.Context, f *os.File) error {
	for {
		if free, err := flock(f, syscall.LOCK_SH); err != nil || free {
			return err
		}
		if err := rest(ctx); err != nil {
			return err
		}
	}
}

// free removes the locks of dead gits, if the lease is nobody's.
func (l *lease) free(ctx context.Context, own *os.File) error {
	notes, err := l.notes()
	if err != nil || len(notes) == 0 {
		return err
	}
	for began := time.Now(); ; {
		alone, err := flock(own, syscall.LOCK_EX)
		if err != nil {
			return err
		}
		if alone {
			break
		}
		if time.Since(began) > settle {
			return nil // another process is at work on the run, as `colony land` may be
		}
		if err := rest(ctx); err != nil {
			return err
		}
	}
	for _, note := range notes {
		if err := l.settleNote(note); err != nil {
			return err
		}
	}
	return nil
}

func (l *lease) notes() ([]string, error) {
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		return nil, err
	}
	var notes []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), notePart) {
			notes = append(notes, filepath.Join(l.dir, e.Name()))
		}
	}
	return notes, nil
}

// settleNote removes the locks that a dead git noted, and the note.
func (l *lease) settleNote(note string) error {
	data, err := os.ReadFile(note)
	if err != nil {
		return err
	}
	for _, lock := range strings.Split(string(data), "\x00") {
		if !strings.HasSuffix(lock, ".lock") || !filepath.IsAbs(lock) {
			continue // the note itself was cut off: its git did not begin
		}
		switch err := os.Remove(lock); {
		case err == nil:
			l.recovered = append(l.recovered, lock)
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			return err
		}
	}
	return os.Remove(note)
}

// note tells which locks a git is going to take; empty where the lease is not held or there are none.
func (l *lease) note(locks []string) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	locks = slices.DeleteFunc(slices.Clone(locks), func(lock string) bool { // one that is there is another's
		_, err := os.Lstat(lock)
		return err == nil
	})
	if len(l.held) == 0 || len(locks) == 0 {
		return "", nil
	}
	f, err := os.CreateTemp(l.dir, notePart)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(strings.Join(locks, "\x00") + "\x00")
	return f.Name(), errors.Join(err, f.Close())
}

// ended takes a note away. A git that was killed has its locks freed first.
func (l *lease) ended(note string, killed bool) error {
	if note == "" {
		return nil
	}
	if !killed {
		return os.Remove(note)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.settleNote(note)
}

// noted does what takes locks, with a note of them. What killed says of its error is whether it may have left them.
func (l *lease) noted(locks []string, do func() error, killed func(error) bool) (err error) {
	note, err := l.note(locks)
	if err != nil {
		return err
	}
	err = do()
	return errors.Join(err, l.ended(note, killed(err)))
}

// files are what a git of the run inherits, so that the lease is held while it lives.
func (l *lease) files() []*os.File {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.held)
}

func (l *lease) release() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for _, f := range l.held {
		errs = append(errs, f.Close())
	}
	l.held = nil
	return errors.Join(errs...)
}

func openLock(path string) (*os.File, error) { return os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) }

// flock tries to lock a file; false where another has it.
func flock(f *os.File, how int) (bool, error) {
	for {
		switch err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, syscall.EINTR):
			return false, err
		}
	}
}

// rest waits a moment, or until ctx ends.
func rest(ctx context.Context) error {
	select {
	case <-time.After(pause):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Unlocked are the locks that gits of this run left when they were killed, and that were removed since it was asked last.
func (r *Repo) Unlocked() []string {
	r.lease.mu.Lock()
	defer r.lease.mu.Unlock()
	paths := r.lease.recovered
	r.lease.recovered = nil
	return paths
}
