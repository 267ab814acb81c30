package repo_test

import (
	"fmt"
	"path/filepath"
	"strconv"
	"testing"

	"colony/repo"
)

// BenchmarkBegin is what stands between a run and its first request: Open, Start and the first worktree.
func BenchmarkBegin(b *testing.B) {
	for _, n := range []int{50, 10_000} {
		b.Run(fmt.Sprint(n, " files"), func(b *testing.B) {
			files := map[string]string{}
			for i := range n {
				files[fmt.Sprintf("d%d/f%d.go", i%97, i)] = fmt.Sprintf("package d\n\nconst C%d = %d\n", i, i)
			}
			dir, state := fresh(b, files), filepath.Join(b.TempDir(), "state")
			for i := 0; b.Loop(); i++ {
				r, err := repo.Open(b.Context(), repo.Parts{Dir: dir, State: state, Run: "r" + strconv.Itoa(i)})
				if err != nil {
					b.Fatal(err)
				}
				base, _ := r.Resolve(b.Context(), "HEAD")
				if err := r.Start(b.Context(), base); err != nil {
					b.Fatal(err)
				}
				worktree(b, r, "w", base)
			}
		})
	}
}

// BenchmarkLand is a commit, its stage and its landing.
func BenchmarkLand(b *testing.B) {
	dir := fresh(b, map[string]string{"a": "a\n"})
	r, head := started(b, dir)
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		tree := worktree(b, r, "w"+strconv.Itoa(i), head)
		write(b, tree.Dir, strconv.Itoa(i), "x")
		b.StartTimer()
		head = land(b, r, head, commit(b, tree, "x").SHA)
	}
}
