package repo_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"colony/repo"
)

// loose are the objects of the state repository's own.
func loose(t *testing.T, state string) (ids []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(state, "git", "objects"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && len(d.Name()) == 38 {
			ids = append(ids, filepath.Base(filepath.Dir(path))+d.Name())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

func shared(t *testing.T, r *repo.Repo, before time.Time) (objects repo.Thing) {
	t.Helper()
	things, err := r.CleanShared(t.Context(), before)
	if err != nil {
		t.Fatal(err)
	}
	for _, thing := range things {
		if thing.Kind == "objects" {
			return thing
		}
	}
	return repo.Thing{}
}

// Objects of the state repository go when no ref and no worktree needs them: not while a run is at work, not before their
// time, and never those of a worktree that stays.
func TestObjectsThatNothingNeedsGo(t *testing.T) {
	dir := fresh(t, map[string]string{"a.txt": "a\n", ".gitignore": "*.log\n"})
	state := filepath.Join(t.TempDir(), "state")
	r := openAt(t, dir, state, "r1")
	base := git(t, dir, "rev-parse", "HEAD")
	if err := r.Start(t.Context(), base); err != nil {
		t.Fatal(err)
	}
	head := land(t, r, base, work(t, r, "landed", base, "b.txt", "b\n").SHA)
	stays := worktree(t, r, "stays", base)
	write(t, stays.Dir, "c.txt", "c\n")
	kept := commit(t, stays, "c")
	write(t, stays.Dir, "x.log", "ignored\n")
	alone := work(t, r, "unlanded", base, "d.txt", "d\n") // its worktree goes with the run's end, its commit does not

	later := time.Now().Add(time.Hour)
	other := openAt(t, dir, state, "r2")
	if got := shared(t, other, later); !strings.Contains(got.Why, "at work") {
		t.Errorf("beside a run: %+v", got)
	}
	ended(t, r)
	git(t, dir, "merge", "-q", head)
	if got := clean(t, dir, state, "r1"); got["base"] == "" || got["stays"] == "" || !strings.Contains(got["unlanded"], alone.SHA) || got["landed"] != "" {
		t.Errorf("clean-up: %q", got)
	}
	before := len(loose(t, state))
	if got := shared(t, other, time.Now().Add(-time.Hour)); got.Name != "" || len(loose(t, state)) != before {
		t.Errorf("before their time: %+v", got)
	}
	if got := shared(t, other, later); got.Why != "" || !strings.Contains(got.Name, "that nothing needs") {
		t.Errorf("got %+v", got)
	}
	if after := len(loose(t, state)); after >= before || after == 0 {
		t.Errorf("%d objects of %d are left", after, before)
	}
	for _, id := range []string{kept.SHA, alone.SHA} {
		git(t, stays.Dir, "show", "--stat", id)
	}
	git(t, stays.Dir, "fsck", "--no-dangling")
	if got := git(t, stays.Dir, "status", "--porcelain"); got != "" {
		t.Errorf("the worktree that stays: %s", got)
	}

	// Once nothing is kept any more, nothing is left.
	if err := os.Remove(filepath.Join(stays.Dir, "x.log")); err != nil {
		t.Fatal(err)
	}
	if got := clean(t, dir, state, "r1", kept.SHA, alone.SHA); got["stays"] != "" || got["base"] != "" || got["unlanded"] != "" {
		t.Errorf("clean-up: %q", got)
	}
	shared(t, other, later)
	if left := loose(t, state); len(left) != 0 {
		t.Errorf("objects are left: %v", left)
	}
	git(t, dir, "fsck", "--strict", "--no-dangling")
}
