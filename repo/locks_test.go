package repo_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"colony/repo"
)

// old makes a lock file that is no longer young.
func old(t *testing.T, path string) {
	t.Helper()
	write(t, filepath.Dir(path), filepath.Base(path), "")
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, long, long); err != nil {
		t.Fatal(err)
	}
}

// WT02: a lock that is not colony's, or may be alive, stays: what needs it ends after a bounded wait and names it.
func TestAForeignLockStays(t *testing.T) {
	dir := fresh(t, map[string]string{"a": "a\n"})
	git(t, dir, "branch", "other")
	r, base := started(t, dir)
	one := work(t, r, "one", base, "b", "b\n")
	tree := worktree(t, r, "two", base)
	write(t, tree.Dir, "c", "c\n")
	foreign := []string{
		filepath.Join(dir, ".git", "index.lock"), filepath.Join(dir, ".git", "refs", "heads", "other.lock"), filepath.Join(tree.GitDir, "index.lock"),
	}
	for _, l := range foreign {
		old(t, l)
	}
	head := land(t, r, base, one.SHA) // a lock of the user's index holds nothing of a run back
	var waits sync.WaitGroup          // beside each other: each takes as long as a lock is waited for
	for branch, lock := range map[string]string{"other": foreign[1], "main": foreign[0]} {
		waits.Go(func() {
			target, err := r.Target(t.Context(), branch)
			if err != nil {
				t.Error(err)
				return
			}
			var held *repo.CheckoutError
			if moved, err := r.Take(t.Context(), target, head); moved || !errors.As(err, &held) || !strings.Contains(err.Error(), filepath.Base(lock)) {
				t.Errorf("%s: %v, %v", branch, moved, err)
			}
		})
	}
	waits.Go(func() {
		if _, err := tree.Commit(t.Context(), repo.Message{Subject: "c"}); err == nil || !strings.Contains(err.Error(), "index.lock") {
			t.Errorf("committed beside a lock: %v", err)
		}
	})
	waits.Wait()
	for _, l := range foreign {
		if _, err := os.Stat(l); err != nil {
			t.Errorf("%s is gone", l)
		}
	}
	if got := r.Unlocked(); len(got) > 0 {
		t.Errorf("told of %v", got)
	}
}
