package repo_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sourcegraph/conc"
)

// TestAhead: a worktree made ahead is like any other when it is taken over, by one name only, and goes when nobody does.
func TestAhead(t *testing.T) {
	r, base := started(t, fresh(t, map[string]string{"a": "a\n", "d/b": "b\n"}))
	var wg conc.WaitGroup
	wg.Go(func() { r.Ahead(t.Context(), base) })
	wg.Go(func() { r.Ahead(t.Context(), base) })
	wg.Wait()
	for _, name := range []string{"w1", "w2"} {
		tree := worktree(t, r, name, base)
		if got := read(t, tree.Dir, "d/b"); got != "b\n" {
			t.Fatalf("%s has %q", name, got)
		}
		if got := git(t, tree.Dir, "status", "--porcelain"); got != "" {
			t.Fatalf("%s is not clean: %s", name, got)
		}
		if got := strings.TrimSpace(git(t, tree.Dir, "rev-parse", "--show-toplevel")); got != tree.Dir {
			t.Fatalf("%s is %s to git, want %s", name, got, tree.Dir)
		}
		write(t, tree.Dir, "a", name+"\n")
		if c := commit(t, tree, name); len(c.Files) != 1 || c.Files[0] != "a" {
			t.Fatalf("%s commits %v", name, c.Files)
		}
	}
	if _, err := r.Worktree(t.Context(), "w1", base); err == nil {
		t.Fatal("a name was given twice")
	}
	r.Ahead(t.Context(), base)
	if _, err := r.Worktree(t.Context(), "w2", base); err == nil {
		t.Fatal("a name was given twice from one made ahead")
	}
	dir := filepath.Dir(worktree(t, r, "w3", base).Dir)
	r.Ahead(t.Context(), base)
	if _, err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "@") {
			t.Fatalf("%s is left", e.Name())
		}
	}
}
