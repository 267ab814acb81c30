package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"colony/repo"

	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/pool"
)

const (
	treesAlone  = 31
	treesAtOnce = 16
	treesFiles  = 10_000
	treesRounds = 1
)

// measureTrees is what it takes to give an ant a worktree: one by itself in the small repository, without and with a spare,
// and sixteen at once in one of 10,000 files, none of them made ahead.
func measureTrees(b *testing.B, w *benchWorld, t *figures) {
	small := treesOf(b, w.repo, filepath.Join(w.dir, "small"))
	var alone, renamed sample
	for i := range treesAlone {
		alone = append(alone, small.hatch(b, fmt.Sprint("alone", i)))
	}
	for i := range treesAlone {
		small.spare(b)
		renamed = append(renamed, small.hatch(b, fmt.Sprint("renamed", i)))
	}
	t.times("hatch of a worktree alone", alone, "")
	t.times("hatch of a worktree from a spare", renamed, "")
	for i := range treesFiles {
		w.write(b, fmt.Sprintf("large/d%d/f%d.go", i%97, i), fmt.Sprintf("package d\n\nconst C%d = %d\n", i, i))
	}
	large := filepath.Join(w.dir, "large")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "base"}} {
		git := exec.Command("git", append([]string{"-C", large}, args...)...)
		git.Env = w.environ("")
		if out, err := git.CombinedOutput(); err != nil {
			b.Fatalf("%v: %v: %s", git.Args, err, out)
		}
	}
	run := treesOf(b, large, filepath.Join(w.dir, "largestate"))
	var together sample
	for i := range treesRounds {
		began := time.Now()
		all := pool.New()
		for j := range treesAtOnce {
			all.Go(func() { run.hatch(b, fmt.Sprint("n", i, ".", j)) })
		}
		all.Wait()
		together = append(together, time.Since(began))
		run.close(b)
	}
	t.times("16 worktrees of a 10,000-file repository", together, "4000")
}

// benchTrees is a run's git without the rest of colony.
type benchTrees struct {
	repo *repo.Repo
	base string
}

func treesOf(b *testing.B, dir, state string) benchTrees {
	r, err := repo.Open(b.Context(), repo.Parts{Dir: dir, State: state, Run: "r-trees"})
	if err != nil {
		b.Fatal(err)
	}
	base, err := r.Resolve(b.Context(), "HEAD")
	if err == nil {
		err = r.Start(b.Context(), base)
	}
	if err != nil {
		b.Fatal(err)
	}
	return benchTrees{r, base}
}

// hatch is how long a worktree takes.
func (t benchTrees) hatch(b *testing.B, name string) time.Duration {
	began := time.Now()
	if _, err := t.repo.Worktree(b.Context(), name, t.base); err != nil {
		b.Error(err)
	}
	return time.Since(began)
}

func (t benchTrees) close(b *testing.B) {
	if _, err := t.repo.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
}

// spare lets one worktree be made ahead.
func (t benchTrees) spare(b *testing.B) {
	ctx, stop := context.WithTimeout(b.Context(), benchLimit)
	defer stop()
	var filling conc.WaitGroup
	filling.Go(func() { t.repo.Ahead(ctx, t.base, 1) })
	ready := filepath.Join(filepath.Dir(t.repo.Place("x")), "@*", ".git")
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for ctx.Err() == nil {
		if whole, err := filepath.Glob(ready); err != nil || len(whole) > 0 {
			break
		}
		<-tick.C
	}
	stop()
	filling.Wait()
}
