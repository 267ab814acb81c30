package repo_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"colony/repo"
)

// WT04: another process takes a dead ant's worktree up as it was: commits, uncommitted, untracked and ignored files
// stay, a worktree that is gone is made again with what was kept of it.
func TestAdopt(t *testing.T) {
	dir := fresh(t, map[string]string{"a.txt": "a\n", ".gitignore": "*.log\n"})
	state := filepath.Join(t.TempDir(), "state")
	first := openAt(t, dir, state, "r1")
	base := git(t, dir, "rev-parse", "HEAD")
	if err := first.Start(t.Context(), base); err != nil {
		t.Fatal(err)
	}
	tree := worktree(t, first, "worker-1.1", base)
	write(t, tree.Dir, "one.txt", "1\n")
	one := commit(t, tree, "one")
	write(t, tree.Dir, "one.txt", "1, and more\n")
	write(t, tree.Dir, "two.txt", "2\n")
	write(t, tree.Dir, "debug.log", "ignored\n")

	adopt := func(head, content string) (*repo.Tree, bool) {
		t.Helper()
		r := openAt(t, dir, state, "r1")
		if _, err := r.Resume(t.Context(), base, base); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Rescue(t.Context(), func(name string) bool { return name == "worker-1.1" }); err != nil {
			t.Fatal(err)
		}
		got, whole, err := r.Adopt(t.Context(), "worker-1.1", head, content)
		if err != nil {
			t.Fatal(err)
		}
		return got, whole
	}
	again, whole := adopt(one.SHA, one.SHA)
	if !whole || again.Dir != tree.Dir || read(t, again.Dir, "one.txt") != "1, and more\n" || read(t, again.Dir, "debug.log") != "ignored\n" {
		t.Errorf("adopted %+v, whole %v", again, whole)
	}
	two := commit(t, again, "two")
	if len(two.Files) != 2 || git(t, tree.Dir, "log", "-1", "--format=%P") != one.SHA {
		t.Errorf("the commit after: %+v", two)
	}

	// Killed between a commit and its event: the commit is made again, on the one that is known.
	again, _ = adopt(one.SHA, one.SHA)
	if three := commit(t, again, "two again"); three.Empty || three.Tree != two.Tree {
		t.Errorf("made again: %+v, want the tree of %+v", three, two)
	}

	// The worktree is gone, its content was kept: it is uncommitted again.
	if err := os.RemoveAll(tree.Dir); err != nil {
		t.Fatal(err)
	}
	again, whole = adopt(one.SHA, two.SHA)
	if whole || again.Dir != tree.Dir || read(t, again.Dir, "two.txt") != "2\n" {
		t.Errorf("made anew at %s, whole %v", again.Dir, whole)
	}
	if four := commit(t, again, "two from what was kept"); four.Tree != two.Tree || len(four.Files) != 2 {
		t.Errorf("committed %+v", four)
	}

	// Files that git knows nothing of are nobody's to delete.
	if err := os.RemoveAll(tree.GitDir); err != nil {
		t.Fatal(err)
	}
	r := openAt(t, dir, state, "r1")
	_, _, err := r.Adopt(t.Context(), "worker-1.1", base, base)
	if held := new(repo.HeldError); !errors.As(err, &held) || read(t, tree.Dir, "two.txt") != "2\n" {
		t.Errorf("got %v", err)
	}
}
