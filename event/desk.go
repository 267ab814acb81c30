package event

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"colony/failpoint"
)

// Wish is what another process asks of a run's owner. Kind is stop, steer, answer, pause, resume or retry.
type Wish struct {
	Kind string `json:"kind"`
	Task string `json:"task,omitempty"` // of retry
	Ant  string `json:"ant,omitempty"`  // of steer, and of a stop that is for one ant only
	Ask  string `json:"ask,omitempty"`  // of answer
	Text string `json:"text,omitempty"` // of steer and answer
	By   By     `json:"by"`
}

const (
	wishEnd     = ".json"
	longestWish = 64 << 10 // bytes
	mostWishes  = 64       // taken at once
)

// Leave puts a wish on the desk of the run whose log is in dir. The owner takes it; where there is none it waits.
func Leave(dir string, w Wish) error {
	data, err := json.Marshal(w)
	if err != nil {
		return fmt.Errorf("leave a wish: %w", err)
	}
	if len(data) > longestWish {
		return fmt.Errorf("leave a wish: %d bytes, at most %d", len(data), longestWish)
	}
	if err := failpoint.Hit("event.leave.before"); err != nil {
		return fmt.Errorf("leave a wish: %w", err)
	}
	desk := filepath.Join(dir, "desk")
	if err := os.MkdirAll(desk, 0o700); err != nil {
		return fmt.Errorf("leave a wish: %w", err)
	}
	name := filepath.Join(desk, fmt.Sprintf("%020d-%s", time.Now().UnixNano(), rand.Text()[:8]))
	if err := writeSynced(name+".tmp", data); err != nil {
		return fmt.Errorf("leave a wish: %w", err)
	}
	if err := failpoint.Hit("event.rename.before"); err != nil {
		return fmt.Errorf("leave a wish: %w", err)
	}
	if err := errors.Join(os.Rename(name+".tmp", name+wishEnd), syncDir(desk)); err != nil {
		return fmt.Errorf("leave a wish: %w", err)
	}
	if err := failpoint.Hit("event.rename.after"); err != nil {
		return fmt.Errorf("leave a wish: %w", err)
	}
	return nil
}

func writeSynced(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// Take carries out the wishes on the desk in the order they were left, and removes each when carry has returned nil: one
// whose owner is killed meanwhile is taken again by the next. What is no wish is removed too. Only the owner takes.
func Take(dir string, carry func(Wish) error) error {
	desk := filepath.Join(dir, "desk")
	entries, err := os.ReadDir(desk)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at the desk: %w", err)
	}
	for n, e := range slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !strings.HasSuffix(e.Name(), wishEnd) }) {
		if n == mostWishes {
			break
		}
		if err := takeOne(filepath.Join(desk, e.Name()), carry); err != nil {
			return fmt.Errorf("take a wish: %w", err)
		}
	}
	return nil
}

func takeOne(path string, carry func(Wish) error) error {
	w, ok, err := readWish(path)
	if err != nil {
		return err
	}
	if ok {
		if err := carry(w); err != nil {
			return err
		}
	}
	if err := failpoint.Hit("event.take.before"); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	return failpoint.Hit("event.take.after")
}

// readWish reads what is on the desk, and reports whether it is a wish. A link is none.
func readWish(path string) (w Wish, ok bool, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return w, false, nil
	}
	if err != nil {
		return w, false, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, longestWish+1))
	if err != nil {
		return w, false, err
	}
	return w, len(data) <= longestWish && json.Unmarshal(data, &w) == nil && w.known(), nil
}

func (w Wish) known() bool {
	return slices.Contains([]string{"stop", "steer", "answer", "pause", "resume", "retry"}, w.Kind)
}
