package repo_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"colony/repo"

	"github.com/sourcegraph/conc"
)

// fakeGit is a git that does something else where its arguments match a pattern of sh.
func fakeGit(t *testing.T, pattern, does string) string {
	t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "git")
	script := "#!/bin/sh\ncase \"$*\" in " + pattern + ")\n" + does + "\n;; esac\nexec " + real + " \"$@\"\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// lockedBy makes the fake git take the lock of the index as git would.
const lockedBy = `for a; do case "$a" in --git-dir=*) : > "${a#--git-dir=}/index.lock";; esac; done`

// WT02: the lock that a git of colony's left when both were killed is removed by the next process of the run, and reported.
func TestOwnDeadLockIsRecovered(t *testing.T) {
	dir := fresh(t, map[string]string{"a": "a\n"})
	state := filepath.Join(t.TempDir(), "state")
	said, killed := acted(t, dir, state, "REPO_TEST_GIT="+fakeGit(t, "*' add '*", lockedBy+"\nkill -9 $PPID\nexit 1"))
	if !killed || said != "wrote one\n" {
		t.Fatalf("killed %v, said %q", killed, said)
	}
	lock := filepath.Join(state, "git", "worktrees", "r1.one", "index.lock")
	if _, err := os.Lstat(lock); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(dir, ".git", "index.lock")
	write(t, filepath.Dir(foreign), "index.lock", "")
	r := openAt(t, dir, state, "r1")
	base := git(t, dir, "rev-parse", "main")
	if _, err := r.Resume(t.Context(), base, base); err != nil {
		t.Fatal(err)
	}
	if got := r.Unlocked(); !slices.Equal(got, []string{lock}) {
		t.Errorf("recovered %q", got)
	}
	kept, err := r.Rescue(t.Context(), func(string) bool { return false })
	if err != nil || git(t, dir, "show", kept["one"]+":one") != "one" {
		t.Errorf("rescued %v, %v", kept, err)
	}
	if _, err := os.Lstat(foreign); err != nil {
		t.Error("the lock of the user's git is gone")
	}
}

// WT02: a git that ends with its context leaves no lock, and is reported.
func TestALockOfAGitThatWasStoppedIsFreed(t *testing.T) {
	dir := fresh(t, map[string]string{"a": "a\n"})
	went := filepath.Join(t.TempDir(), "went")
	r, err := repo.Open(t.Context(), repo.Parts{Dir: dir, State: filepath.Join(t.TempDir(), "state"), Run: "r1",
		Git: fakeGit(t, "*' add '*", "if test ! -e "+went+"; then\n"+lockedBy+"\n: > "+went+"\nsleep 60\nfi")})
	if err != nil {
		t.Fatal(err)
	}
	base := git(t, dir, "rev-parse", "HEAD")
	if err := r.Start(t.Context(), base); err != nil {
		t.Fatal(err)
	}
	tree := worktree(t, r, "w", base)
	write(t, tree.Dir, "b", "b\n")
	ctx, stop := context.WithCancel(t.Context())
	var wg conc.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			if _, err := os.Lstat(went); err == nil {
				stop()
			}
		}
	})
	_, err = tree.Commit(ctx, repo.Message{Subject: "cut"})
	stop()
	wg.Wait()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if made := commit(t, tree, "again"); !slices.Equal(made.Files, []string{"b"}) || len(r.Unlocked()) != 1 {
		t.Errorf("made %+v, recovered %q", made, r.Unlocked())
	}
}

// WT02: a lock that colony did not note is another's, also to a process that goes on with the run: it is waited for, and
// never removed, whoever holds it.
func TestAForeignLockIsWaitedFor(t *testing.T) {
	dir := fresh(t, map[string]string{"a": "a\n"})
	state := filepath.Join(t.TempDir(), "state")
	r := openAt(t, dir, state, "r1")
	base := git(t, dir, "rev-parse", "HEAD")
	if err := r.Start(t.Context(), base); err != nil {
		t.Fatal(err)
	}
	tree := worktree(t, r, "w", base)
	write(t, tree.Dir, "b", "b\n")
	lock := filepath.Join(tree.GitDir, "index.lock")
	users := filepath.Join(dir, ".git", "index.lock")
	for _, l := range []string{lock, users} {
		write(t, filepath.Dir(l), "index.lock", "somebody's")
	}
	again := openAt(t, dir, state, "r1")
	if _, err := again.Resume(t.Context(), base, base); err != nil || len(again.Unlocked()) > 0 {
		t.Errorf("recovered %q, %v", again.Unlocked(), err)
	}
	for _, l := range []string{lock, users} {
		if data, err := os.ReadFile(l); string(data) != "somebody's" {
			t.Errorf("%s: %q, %v", l, data, err)
		}
	}

	// Whoever held it lets go: the wait ends.
	var wg conc.WaitGroup
	wg.Go(func() {
		<-time.After(100 * time.Millisecond)
		if err := os.Remove(lock); err != nil {
			t.Error(err)
		}
	})
	made := commit(t, tree, "b")
	wg.Wait()
	land(t, r, base, made.SHA) // beside the lock in the checkout, which is none of its business
}
