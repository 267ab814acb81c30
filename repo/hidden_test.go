package repo_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"colony/repo"

	"github.com/sourcegraph/conc"
)

// Without a sandbox an ant can tell git not to look at a file. What it changed there is work all the same, contract 62, and
// no other ant or gate may find it in a worktree of theirs: the worktree stays and is named.
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
			var held *repo.HeldError
			if err := tree.Remove(t.Context()); !errors.As(err, &held) || !strings.Contains(held.Why, "not to look") {
				t.Errorf("%v", err)
			}
			if got := read(t, tree.Dir, "a"); got != "another's\n" {
				t.Errorf("%q", got)
			}
		})
	}
}

// An index of any bytes is read to its end, and one that is not as git writes it is not trusted.
func FuzzReadIndex(f *testing.F) {
	r, base := started(f, fresh(f, map[string]string{"a": "a\n", "d/" + strings.Repeat("long", 40): "b\n"}))
	tree := worktree(f, r, "w", base)
	read := func() []byte {
		data, err := os.ReadFile(filepath.Join(tree.GitDir, "index"))
		if err != nil {
			f.Fatal(err)
		}
		return data
	}
	plain := read()
	write(f, tree.Dir, "new", "")
	git(f, tree.Dir, "add", "-N", "new")
	wider := read()
	for _, data := range [][]byte{plain, wider, plain[:len(plain)/2], nil} {
		f.Add(data)
	}
	if n, hides := repo.ReadIndex(plain); n != 2 || hides {
		f.Errorf("%d, %v", n, hides)
	}
	if n, hides := repo.ReadIndex(wider); n != 3 || hides {
		f.Errorf("%d, %v", n, hides)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if n, hides := repo.ReadIndex(data); !hides && len(data) < 64*n {
			t.Errorf("%d entries in %d bytes", n, len(data))
		}
	})
}
