package repo_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"colony/repo"
)

// landedRun is a run with two tasks on its branch, and the base it began at.
func landedRun(t *testing.T, dir string) (r *repo.Repo, base, head string) {
	t.Helper()
	r, base = started(t, dir)
	head = land(t, r, base, work(t, r, "worker-1", base, "one.txt", "1\n").SHA)
	head = land(t, r, head, work(t, r, "worker-2", base, "two.txt", "2\n").SHA)
	return r, base, head
}

func target(t *testing.T, r *repo.Repo, branch string) repo.Target {
	t.Helper()
	to, err := r.Target(t.Context(), branch)
	if err != nil {
		t.Fatal(err)
	}
	return to
}

func TestTheCheckoutGoesAlongByAFastForward(t *testing.T) {
	dir := fresh(t, map[string]string{"a.txt": "a\n"})
	mark := filepath.Join(t.TempDir(), "PWNED")
	write(t, dir, ".git/hooks/post-merge", "#!/bin/sh\ntouch "+mark+"\n")
	if err := os.Chmod(filepath.Join(dir, ".git/hooks/post-merge"), 0o755); err != nil {
		t.Fatal(err)
	}
	r, base, head := landedRun(t, dir)
	write(t, dir, "untracked.txt", "mine\n")
	to := target(t, r, "main")
	if to.Head != base || r.On() != "main" {
		t.Errorf("target %+v on %q", to, r.On())
	}
	done, conflict, err := r.Rebase(t.Context(), to.Head, base, head)
	if err != nil || conflict != nil || done.Moved || done.Commit != head || !slices.Equal(done.Files, []string{"one.txt", "two.txt"}) {
		t.Fatalf("rebase: %+v, %v, %v", done, conflict, err)
	}
	if moved, err := r.Take(t.Context(), to, done.Commit); err != nil || !moved {
		t.Fatalf("take: %v, %v", moved, err)
	}
	if read(t, dir, "two.txt") != "2\n" || git(t, dir, "rev-parse", "main") != head || git(t, dir, "status", "--porcelain") != "?? untracked.txt" {
		t.Error("the checkout is not where its branch is")
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a hook ran")
	}
	if got := git(t, dir, "reflog", "-1", "--format=%gs", "main"); !strings.Contains(got, "colony land r1") {
		t.Errorf("reflog: %s", got)
	}
}

func TestACheckoutThatCannotGoAlongIsLeft(t *testing.T) {
	dir := fresh(t, map[string]string{"a.txt": "a\n"})
	r, base, head := landedRun(t, dir)
	to := target(t, r, "main")
	spoil := map[string]func(t *testing.T){
		"changed": func(t *testing.T) { write(t, dir, "a.txt", "changed\n") },
		"staged": func(t *testing.T) {
			write(t, dir, "b.txt", "b\n")
			git(t, dir, "add", "b.txt")
		},
		"in the way": func(t *testing.T) { write(t, dir, "one.txt", "mine\n") },
	}
	for name, spoil := range spoil {
		t.Run(name, func(t *testing.T) {
			spoil(t)
			before := picture(t, dir)
			var why *repo.CheckoutError
			moved, err := r.Take(t.Context(), to, head)
			if moved || !errors.As(err, &why) || why.Next == "" {
				t.Errorf("take: %v, %v", moved, err)
			}
			if git(t, dir, "rev-parse", "main") != base {
				t.Error("the branch moved")
			}
			if after := picture(t, dir); after != before && name != "in the way" { // git writes ORIG_HEAD before it refuses
				t.Error("the checkout changed")
			}
			git(t, dir, "reset", "-q", "--hard")
			git(t, dir, "clean", "-q", "-f", "-d")
		})
	}
}

// Never forced: where the branch moved meanwhile, Take is false and the branch is as it was.
func TestABranchThatMovedMeanwhileIsLeft(t *testing.T) {
	dir := fresh(t, map[string]string{"a.txt": "a\n"})
	git(t, dir, "branch", "side")
	r, _, head := landedRun(t, dir)
	for _, branch := range []string{"side", "main"} {
		to := target(t, r, branch)
		git(t, dir, "checkout", "-q", branch)
		git(t, dir, "commit", "-q", "--allow-empty", "-m", "mine")
		if branch == "side" {
			git(t, dir, "checkout", "-q", "main")
		}
		mine := git(t, dir, "rev-parse", branch)
		if moved, err := r.Take(t.Context(), to, head); moved {
			t.Errorf("%s: taken, %v", branch, err)
		}
		if got := git(t, dir, "rev-parse", branch); got != mine {
			t.Errorf("%s is at %s, want %s", branch, got, mine)
		}
	}
}

func TestRebaseKeepsEachTasksCommit(t *testing.T) {
	dir := fresh(t, map[string]string{"a.txt": "a\n"})
	r, base, head := landedRun(t, dir)
	write(t, dir, "mine.txt", "m\n")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "mine")
	to := target(t, r, "main")
	done, conflict, err := r.Rebase(t.Context(), to.Head, base, head)
	if err != nil || conflict != nil || !done.Moved {
		t.Fatalf("%+v, %v, %v", done, conflict, err)
	}
	if moved, err := r.Take(t.Context(), to, done.Commit); err != nil || !moved {
		t.Fatal(moved, err)
	}
	if got := git(t, dir, "log", "--format=%s %an %(trailers:key=Colony-Run,valueonly,separator=%x2c)", "-3"); got != "worker-2 Ada L r1\nworker-1 Ada L r1\nmine Ada L" {
		t.Errorf("log:\n%s", got)
	}
	// Once more there is nothing to do.
	again, conflict, err := r.Rebase(t.Context(), done.Commit, base, head)
	if err != nil || conflict != nil || again.Commit != done.Commit {
		t.Errorf("again: %+v, %v, %v", again, conflict, err)
	}
	git(t, dir, "fsck", "--strict", "--no-dangling")
}

func TestRebaseNamesWhatDoesNotJoin(t *testing.T) {
	dir := fresh(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
	r, base := started(t, dir)
	tree := worktree(t, r, "worker-1", base)
	write(t, tree.Dir, "a.txt", "theirs\n")
	write(t, tree.Dir, "b.txt", "theirs\n")
	head := land(t, r, base, commit(t, tree, "both").SHA)
	write(t, dir, "a.txt", "mine\n")
	git(t, dir, "commit", "-q", "-a", "-m", "mine")
	done, conflict, err := r.Rebase(t.Context(), git(t, dir, "rev-parse", "HEAD"), base, head)
	if err != nil || conflict == nil || !slices.Equal(conflict.Files, []string{"a.txt"}) {
		t.Errorf("%+v, %+v, %v", done, conflict, err)
	}
}

func TestTargetsAreTheUsersBranches(t *testing.T) {
	dir := fresh(t, map[string]string{"a.txt": "a\n"})
	r, _, _ := landedRun(t, dir)
	git(t, dir, "tag", "v1")
	for _, name := range []string{"nowhere", "v1", "main~0", "HEAD", "--all", "refs/tags/v1"} {
		var absent *repo.NoBranchError
		if _, err := r.Target(t.Context(), name); !errors.As(err, &absent) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"", "colony/r1", "refs/heads/colony/r1", "a\nb"} {
		var bad *repo.NameError
		if _, err := r.Target(t.Context(), name); !errors.As(err, &bad) {
			t.Errorf("%q: %v", name, err)
		}
	}
	// A branch amid a rebase is nobody's to move.
	git(t, dir, "checkout", "-q", "-b", "topic")
	write(t, dir, "a.txt", "topic\n")
	git(t, dir, "commit", "-q", "-a", "-m", "topic")
	git(t, dir, "checkout", "-q", "main")
	write(t, dir, "a.txt", "main\n")
	git(t, dir, "commit", "-q", "-a", "-m", "main")
	git(t, dir, "checkout", "-q", "topic")
	if _, err := gitMay(dir, "rebase", "-q", "main"); err == nil {
		t.Fatal("the rebase did not stop")
	}
	var amid *repo.CheckoutError
	if _, err := r.Target(t.Context(), "topic"); !errors.As(err, &amid) || !strings.Contains(err.Error(), "rebase") {
		t.Error(err)
	}
}
