package repo_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"colony/repo"

	"github.com/sourcegraph/conc"
)

// TestAWorktreeServesAgain: one that goes becomes a spare where it is as git made it, and nothing else does: what was
// touched, even to the same content, what came, ignored or not, an empty directory, a file with two names.
func TestAWorktreeServesAgain(t *testing.T) {
	r, base := started(t, fresh(t, map[string]string{"a": "a\n", "d/b": "b\n", ".gitignore": "*.tmp\n"}))
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	cases := map[string]struct {
		serves, stays bool
		change        func(tree *repo.Tree)
	}{
		"nothing":      {true, false, func(*repo.Tree) {}},
		"a commit":     {true, false, func(tree *repo.Tree) { write(t, tree.Dir, "c/new", "x\n"); commit(t, tree, "new") }},
		"same content": {false, false, func(tree *repo.Tree) { write(t, tree.Dir, "a", "a\n") }},
		"a mode":       {false, false, func(tree *repo.Tree) { must(os.Chmod(filepath.Join(tree.Dir, "a"), 0o600)) }},
		"a directory":  {false, false, func(tree *repo.Tree) { must(os.MkdirAll(filepath.Join(tree.Dir, "d", "empty"), 0o700)) }},
		"two names": {false, false, func(tree *repo.Tree) {
			write(t, tree.Dir, "one", "x\n")
			must(os.Link(filepath.Join(tree.Dir, "one"), filepath.Join(tree.Dir, "two")))
			commit(t, tree, "linked")
		}},
		"ignored":   {false, true, func(tree *repo.Tree) { write(t, tree.Dir, "x.tmp", "x\n") }},
		"untracked": {false, true, func(tree *repo.Tree) { write(t, tree.Dir, "x", "x\n") }},
	}
	ctx, stop := context.WithCancel(t.Context())
	var wg conc.WaitGroup
	defer wg.Wait()
	defer stop()
	trees := map[string]*repo.Tree{}
	for name := range cases { // before there are spares
		trees[name] = worktree(t, r, "w"+name[:1]+name[len(name)-2:], base)
	}
	nextSecond(t, trees["a mode"])
	wg.Go(func() { r.Ahead(ctx, base, len(cases)) })
	for name, c := range cases {
		tree := trees[name]
		c.change(tree)
		dir, err := os.Open(tree.Dir) // while it is open no other gets its inode
		must(err)
		defer dir.Close()
		was, err := dir.Stat()
		must(err)
		err = tree.Remove(t.Context())
		if (err != nil) != c.stays {
			t.Errorf("%s: %v", name, err)
		}
		if serves := slices.ContainsFunc(spares(filepath.Dir(tree.Dir)), func(dotGit string) bool {
			is, err := os.Stat(filepath.Dir(dotGit))
			return err == nil && os.SameFile(was, is)
		}); serves != c.serves {
			t.Errorf("%s: it serves again: %v", name, serves)
		}
	}
}

// TestReleasedWorktreesGo: in a quiet moment, and as Remove would do it.
func TestReleasedWorktreesGo(t *testing.T) {
	r, base := started(t, fresh(t, map[string]string{"a": "a\n"}))
	clean, holds := worktree(t, r, "clean", base), worktree(t, r, "holds", base)
	write(t, holds.Dir, "x", "x\n")
	holds.Release()
	clean.Release()
	ctx, stop := context.WithCancel(t.Context())
	var wg conc.WaitGroup
	defer wg.Wait()
	defer stop()
	wg.Go(func() { r.Ahead(ctx, base, 1) })
	for {
		if _, err := os.Stat(clean.Dir); err != nil {
			break
		}
	}
	if _, err := os.Stat(filepath.Join(holds.Dir, "x")); err != nil {
		t.Error(err)
	}
}

// nextSecond returns when a file that is made now is of another second than those of the worktree: many a git compares whole
// seconds, and cannot tell a change of a file's inode alone in the same one from none.
func nextSecond(t *testing.T, tree *repo.Tree) {
	t.Helper()
	second := func(path string) int64 {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.ModTime().Unix()
	}
	made, probe := second(filepath.Join(tree.Dir, "a")), t.TempDir()
	for now := made; now <= made; now = second(filepath.Join(probe, "now")) {
		write(t, probe, "now", "")
	}
}
