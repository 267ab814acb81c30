package repo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A lock file says that a git is at work, or was killed there. Colony removes one only where it knows that it was its own
// and that whoever made it is gone: in a worktree whose git it ended itself, and of a run whose owner is dead. All others,
// those of the user's index and of the user's own refs among them, are waited for, a bounded while, and stay.

// staleLock is how old a lock of a dead owner must be: a git that it started may have outlived it by a moment.
const staleLock = 3 * time.Second

// lockHeld finds the lock in what git says of one that it could not take.
var lockHeld = regexp.MustCompile(`Unable to create '(.*\.lock)': File exists`)

// heldLock is the lock that kept a git from its work; empty where it was something else.
func heldLock(err error) string {
	if m := lockHeld.FindStringSubmatch(errText(err)); m != nil {
		return m[1]
	}
	return ""
}

// unlock removes locks that a dead process of colony's left, and remembers them.
func (r *Repo) unlock(paths ...string) error {
	for _, path := range paths {
		gone, err := outwait(path)
		if err == nil && !gone {
			err = os.Remove(path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if !gone {
			r.noteUnlocked(path)
		}
	}
	return nil
}

// outwait waits until a lock is stale; true where it went by itself, or was never there.
func outwait(path string) (gone bool, err error) {
	for {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return true, nil
		}
		if err != nil || time.Since(info.ModTime()) > staleLock || time.Since(info.ModTime()) < -staleLock {
			return false, err
		}
		time.Sleep(lockPause)
	}
}

func (r *Repo) noteUnlocked(path string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unlocked = append(r.unlocked, path)
}

// Unlocked are the lock files of dead processes of colony's that were removed since it was asked last.
func (r *Repo) Unlocked() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	paths := r.unlocked
	r.unlocked = nil
	return slices.Compact(paths)
}

// refLocks are the locks on refs of the run in the user's repository. Nobody but the run's owner writes these.
func (r *Repo) refLocks() []string {
	var locks []string
	at := func(ref string) string { return filepath.Join(r.found.common, filepath.FromSlash(ref)) }
	for _, ref := range []string{r.Branch(), r.baseRef()} {
		locks = append(locks, at(ref)+".lock")
	}
	kept, err := os.ReadDir(at(r.KeptRef("")))
	if err != nil {
		return locks
	}
	for _, e := range kept {
		if strings.HasSuffix(e.Name(), ".lock") {
			locks = append(locks, filepath.Join(at(r.KeptRef("")), e.Name()))
		}
	}
	return locks
}

// locks are those that gits of colony's take in a worktree.
func (t *Tree) locks() []string {
	return []string{filepath.Join(t.GitDir, "index.lock"), filepath.Join(t.GitDir, "HEAD.lock"), t.workPath() + ".lock"}
}
