package repo_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"colony/repo"
)

// slowGit is a git that hangs amid `add` with the index locked, as long as a file says so. It says when it does.
func slowGit(t *testing.T) (bin, hang, hung string) {
	dir := t.TempDir()
	bin, hang, hung = filepath.Join(dir, "git"), filepath.Join(dir, "hang"), filepath.Join(dir, "hung")
	write(t, dir, "git", `#!/bin/sh
if [ -e `+hang+` ]; then case "$*" in *" add --all"*)
	for a; do case "$a" in --git-dir=*) : > "${a#--git-dir=}/index.lock" ;; esac; done
	: > `+hung+`
	exec sleep 600 ;;
esac; fi
exec git "$@"
`)
	if err := os.Chmod(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	return bin, hang, hung
}

// WT02: the lock of a git that colony itself ended is removed, and told.
func TestTheLockOfAGitThatWasEndedGoes(t *testing.T) {
	dir := fresh(t, map[string]string{"a": "a\n"})
	bin, hang, hung := slowGit(t)
	r, err := repo.Open(t.Context(), repo.Parts{Dir: dir, State: filepath.Join(t.TempDir(), "state"), Run: "r1", Git: bin})
	if err != nil {
		t.Fatal(err)
	}
	base := git(t, dir, "rev-parse", "HEAD")
	if err := r.Start(t.Context(), base); err != nil {
		t.Fatal(err)
	}
	tree := worktree(t, r, "w", base)
	write(t, tree.Dir, "b", "b\n")
	write(t, filepath.Dir(hang), "hang", "")
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(hung); err == nil {
				stop()
			}
		}
	}()
	if _, err := tree.Commit(ctx, repo.Message{Subject: "b"}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	lock := filepath.Join(tree.GitDir, "index.lock")
	if _, err := os.Stat(lock); err != nil {
		t.Fatalf("the git left no lock: %v", err)
	}
	if err := os.Remove(hang); err != nil {
		t.Fatal(err)
	}
	if kept, err := tree.Keep(t.Context(), r.KeptRef("t")); err != nil || git(t, dir, "show", kept+":b") != "b" {
		t.Errorf("%s, %v", kept, err)
	}
	if got := r.Unlocked(); !slices.Equal(got, []string{lock}) {
		t.Errorf("told of %v", got)
	}
}

// old makes a lock file that is no longer young.
func old(t *testing.T, path string) {
	t.Helper()
	write(t, filepath.Dir(path), filepath.Base(path), "")
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, long, long); err != nil {
		t.Fatal(err)
	}
}

// WT02: the locks that a dead owner left, in its worktrees and on the refs of its run, are removed and told when the run
// goes on. WT04: what its ants had committed, and what they had not, is kept.
func TestTheLocksOfADeadOwnerGo(t *testing.T) {
	dir, state := fresh(t, map[string]string{"a": "a\n"}), filepath.Join(t.TempDir(), "state")
	r := openAt(t, dir, state, "r1")
	base := git(t, dir, "rev-parse", "HEAD")
	if err := r.Start(t.Context(), base); err != nil {
		t.Fatal(err)
	}
	made := work(t, r, "committed.1", base, "b", "b\n")
	tree := worktree(t, r, "amid.1", base)
	write(t, tree.Dir, "c", "c\n")
	locks := []string{
		filepath.Join(dir, ".git", "refs", "heads", "colony", "r1.lock"), filepath.Join(tree.GitDir, "index.lock"), filepath.Join(tree.GitDir, "HEAD.lock"),
	}
	for _, l := range locks {
		old(t, l)
	}
	next := openAt(t, dir, state, "r1")
	if _, err := next.Resume(t.Context(), base, base); err != nil {
		t.Fatal(err)
	}
	kept, err := next.Rescue(t.Context(), func(string) bool { return false })
	if err != nil || kept["committed.1"] != made.SHA || git(t, dir, "show", kept["amid.1"]+":c") != "c" {
		t.Fatalf("%v, %v", kept, err)
	}
	if got := next.Unlocked(); !slices.Equal(got, locks) {
		t.Errorf("told of %v, want %v", got, locks)
	}
	if moved, err := next.Advance(t.Context(), next.Branch(), base, made.SHA); err != nil || !moved {
		t.Errorf("%v, %v", moved, err)
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
	for branch, lock := range map[string]string{"other": foreign[1], "main": foreign[0]} {
		target, err := r.Target(t.Context(), branch)
		if err != nil {
			t.Fatal(err)
		}
		var held *repo.CheckoutError
		if moved, err := r.Take(t.Context(), target, head); moved || !errors.As(err, &held) || !strings.Contains(err.Error(), filepath.Base(lock)) {
			t.Errorf("%s: %v, %v", branch, moved, err)
		}
	}
	if _, err := tree.Commit(t.Context(), repo.Message{Subject: "c"}); err == nil || !strings.Contains(err.Error(), "index.lock") {
		t.Errorf("committed beside a lock: %v", err)
	}
	for _, l := range foreign {
		if _, err := os.Stat(l); err != nil {
			t.Errorf("%s is gone", l)
		}
	}
	if got := r.Unlocked(); len(got) > 0 {
		t.Errorf("told of %v", got)
	}
}
