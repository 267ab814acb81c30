package repo_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"colony/repo"
)

// WT03, contract 62: what an ant's worktree holds beyond its commit is never removed without a saved copy, whoever put it
// there and whichever process cleans up; and it is named.
func TestWhatAWorktreeHoldsIsSavedOrStays(t *testing.T) {
	cases := map[string]struct {
		leave func(t *testing.T, dir string)
		why   string
		saved string // a file that the rescue's commit has; empty: the worktree itself stays
	}{
		"untracked": {func(t *testing.T, dir string) { write(t, dir, "new", "work") }, "new", "new"},
		"changed":   {func(t *testing.T, dir string) { write(t, dir, "a", "work") }, "a", "a"},
		"staged": {func(t *testing.T, dir string) {
			write(t, dir, "new", "work")
			git(t, dir, "add", "new")
		}, "new", "new"},
		"ignored": {func(t *testing.T, dir string) { write(t, dir, "x.log", "work") }, "x.log", ""},
		"a commit on a detached head": {func(t *testing.T, dir string) {
			write(t, dir, "new", "work")
			git(t, dir, "add", "new")
			git(t, dir, "-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "-m", "mine")
		}, "", "new"},
		"a stash": {func(t *testing.T, dir string) {
			write(t, dir, "a", "work")
			git(t, dir, "-c", "user.name=x", "-c", "user.email=x", "stash", "-q")
		}, "stash", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := fresh(t, map[string]string{"a": "a\n", ".gitignore": "*.log\n"})
			state := filepath.Join(t.TempDir(), "state")
			r := openAt(t, dir, state, "r1")
			base := git(t, dir, "rev-parse", "HEAD")
			if err := r.Start(t.Context(), base); err != nil {
				t.Fatal(err)
			}
			tree := worktree(t, r, "w", base)
			c.leave(t, tree.Dir)

			var held *repo.HeldError
			if err := tree.Remove(t.Context()); !errors.As(err, &held) || !strings.Contains(err.Error(), c.why) {
				t.Errorf("removed: %v", err)
			}
			if got := ended(t, r); len(got) != 1 || got[0] != tree.Dir {
				t.Errorf("close leaves %q", got)
			}
			if why := clean(t, dir, state, "r1")["w"]; why == "" || !strings.Contains(why, c.why) {
				t.Errorf("gc: %q", why)
			}
			git(t, dir, "update-ref", r.Branch(), base) // clean-up took it: nothing had landed
			after := openAt(t, dir, state, "r1")
			if _, err := after.Resume(t.Context(), base, base); err != nil {
				t.Fatal(err)
			}
			kept, err := after.Rescue(t.Context(), func(string) bool { return false })
			if err != nil {
				t.Fatal(err)
			}
			if c.saved == "" {
				if _, err := os.Lstat(tree.Dir); err != nil {
					t.Error("the worktree is gone")
				}
				return
			}
			if got := git(t, dir, "show", after.KeptRef("w")+":"+c.saved); got != "work" || kept["w"] == "" {
				t.Errorf("rescued %q, %v", got, kept)
			}
		})
	}
}
