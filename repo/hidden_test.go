package repo_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/sourcegraph/conc"
)

// Without a sandbox an ant can tell git not to look at a file. What it changed there is work all the same, contract 62, and
// no other ant or gate may find it in a worktree of theirs.
//
// Today such a worktree goes, and serves again with the change in it; it should stay and be named.
func TestFilesThatAnIndexHides(t *testing.T) {
	for _, how := range []string{"--assume-unchanged", "--skip-worktree"} {
		t.Run(how, func(t *testing.T) {
			r, base := started(t, fresh(t, map[string]string{"a": "a\n", "long/b": "b\n"}))
			tree := worktree(t, r, "w1", base)
			ctx, stop := context.WithCancel(t.Context())
			var wg conc.WaitGroup
			wg.Go(func() { r.Ahead(ctx, base, 0) })
			defer wg.Wait()
			defer stop()
			git(t, tree.Dir, "update-index", how, "a")
			write(t, tree.Dir, "a", "another's\n")
			if err := tree.Remove(t.Context()); err != nil {
				t.Errorf("%v", err)
			}
			_, err := os.Stat(filepath.Join(tree.Dir, "a"))
			if gone := os.IsNotExist(err); !gone {
				t.Errorf("it stays: %v", err)
			}
		})
	}
}
