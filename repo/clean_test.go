package repo_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"colony/repo"
)

func clean(t *testing.T, dir, state, run string, landed ...string) map[string]string {
	t.Helper()
	things, err := openAt(t, dir, state, run).Clean(t.Context(), "main", func(commit string) bool {
		for _, l := range landed {
			if l == commit {
				return true
			}
		}
		return false
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, thing := range things {
		got[filepath.Base(thing.Name)] = thing.Why
	}
	return got
}

// Contract 62: clean-up by another process loses nothing that is uncommitted, ignored, stashed or unlanded.
func TestCleanLosesNothing(t *testing.T) {
	dir := fresh(t, map[string]string{"a.txt": "a\n", ".gitignore": "*.log\nbrought\n", ".worktreeinclude": "brought\n"})
	write(t, dir, "brought", "b")
	state := filepath.Join(t.TempDir(), "state")
	r := openAt(t, dir, state, "r1")
	base, _ := r.Resolve(t.Context(), "HEAD")
	if err := r.Start(t.Context(), base); err != nil {
		t.Fatal(err)
	}
	at := func(name string) *repo.Tree { return worktree(t, r, name, base) }
	at("untouched")
	write(t, at("untracked").Dir, "new.txt", "x")
	write(t, at("ignored").Dir, "x.log", "x")
	write(t, at("edited").Dir, "brought", "changed")
	work(t, r, "unlanded", base, "u.txt", "u")
	gone := work(t, r, "landed-by-the-log", base, "l.txt", "l")
	kept := at("kept")
	write(t, kept.Dir, "k.txt", "k")
	if _, err := kept.Keep(t.Context(), r.KeptRef("kept")); err != nil {
		t.Fatal(err)
	}
	head := land(t, r, base, work(t, r, "branch", base, "b.txt", "b").SHA)
	torn := filepath.Join(state, "wt", "r1", "torn")
	write(t, torn, "file", "x")

	got := clean(t, dir, state, "r1", gone.SHA)
	removed := []string{"untouched", "landed-by-the-log", "branch"}
	for _, name := range removed {
		if why, looked := got[name]; !looked || why != "" {
			t.Errorf("%s: %q, %v", name, why, looked)
		}
		if _, err := os.Lstat(filepath.Join(state, "wt", "r1", name)); err == nil {
			t.Errorf("%s stands", name)
		}
	}
	for name, why := range map[string]string{"untracked": "new.txt", "ignored": "x.log", "edited": "brought", "unlanded": "has not landed", "torn": "git knows nothing", "r1": "colony land"} {
		if !strings.Contains(got[name], why) {
			t.Errorf("%s: %q, want %q", name, got[name], why)
		}
	}
	if _, err := os.Lstat(filepath.Join(state, "wt", "r1", "unlanded", "u.txt")); err != nil {
		t.Error(err)
	}

	// The user takes all of it: then the refs go. The base's stays while a worktree rests on it.
	git(t, dir, "merge", "-q", "--no-edit", head)
	git(t, dir, "merge", "-q", "--no-edit", r.KeptRef("kept"))
	clean(t, dir, state, "r1")
	if refs := git(t, dir, "for-each-ref", "--format=%(refname)", "refs/heads/colony", "refs/colony"); refs != "refs/colony/r1/base" {
		t.Errorf("refs: %s", refs)
	}
	git(t, dir, "fsck", "--strict", "--no-dangling")
}

func TestCleanKeepsABranchThatIsCheckedOutOrIsTheOnlyHolder(t *testing.T) {
	dir := fresh(t, map[string]string{"a.txt": "a\n"})
	state := filepath.Join(t.TempDir(), "state")
	r := openAt(t, dir, state, "r1")
	base, _ := r.Resolve(t.Context(), "HEAD")
	if err := r.Start(t.Context(), base); err != nil {
		t.Fatal(err)
	}
	head := land(t, r, base, work(t, r, "w", base, "b.txt", "b").SHA)
	next := openAt(t, dir, state, "r2") // goes on from it: a branch of colony's is no branch of the user's
	if err := next.Start(t.Context(), head); err != nil {
		t.Fatal(err)
	}
	if got := clean(t, dir, state, "r1"); !strings.Contains(got["r1"], "no branch of yours") {
		t.Errorf("%v", got)
	}
	git(t, dir, "checkout", "-q", "colony/r1")
	git(t, dir, "branch", "-f", "main", head)
	if got := clean(t, dir, state, "r1"); !strings.Contains(got["r1"], "checked out") {
		t.Errorf("%v", got)
	}
	git(t, dir, "checkout", "-q", "main")
	if got := clean(t, dir, state, "r1"); got["r1"] != "" {
		t.Errorf("%v", got)
	}
}

func TestSharedLeftoversGo(t *testing.T) {
	dir := fresh(t, map[string]string{"a.txt": "a\n"})
	r, base := started(t, dir)
	held, err := r.Checkout(t.Context(), base)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Remove()
	left := filepath.Join(filepath.Dir(held.Dir), "7") // as a killed process leaves it: no lock is held
	write(t, left, "file", "x")
	things, err := r.CleanShared(t.Context(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(left); err == nil {
		t.Error("a checkout that nobody has stands")
	}
	if _, err := os.Lstat(held.Dir); err != nil {
		t.Errorf("a checkout that a gate runs in went: %v, %v", err, things)
	}
}
