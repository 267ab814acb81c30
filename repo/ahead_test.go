package repo_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"colony/repo"

	"github.com/sourcegraph/conc"
)

// filled fills the run's pool until so many spares lie ready, and then fills it no more.
func filled(t *testing.T, r *repo.Repo, at string, most int) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var wg conc.WaitGroup
	wg.Go(func() { r.Ahead(ctx, at, most) })
	home := filepath.Dir(r.Place("x"))
	for ctx.Err() == nil {
		if n := len(spares(home)); n >= most {
			break
		}
		runtime.Gosched()
	}
	r.Ahead(ctx, at, most) // a second one has nothing to do
	stop()
	wg.Wait()
}

// spares are the worktrees that are whole and nobody has.
func spares(home string) []string {
	whole, _ := filepath.Glob(filepath.Join(home, "@*", ".git"))
	return whole
}

// TestAhead: a worktree made ahead is like any other when it is taken over, by one name only, at whatever commit, and goes
// when nobody does.
func TestAhead(t *testing.T) {
	r, base := started(t, fresh(t, map[string]string{"a": "a\n", "d/b": "b\n", "gone": "x\n"}))
	tree := worktree(t, r, "w0", base)
	write(t, tree.Dir, "d/b", "new\n")
	write(t, tree.Dir, "e/c", "c\n")
	if err := os.Remove(filepath.Join(tree.Dir, "gone")); err != nil {
		t.Fatal(err)
	}
	next := commit(t, tree, "next").SHA
	filled(t, r, base, 3)
	for name, at := range map[string]string{"w1": base, "w2": next, "w3": next} {
		tree := worktree(t, r, name, at)
		if got := git(t, tree.Dir, "status", "--porcelain", "--ignored"); got != "" {
			t.Errorf("%s is not clean: %s", name, got)
		}
		if got, want := git(t, tree.Dir, "ls-files", "-s"), git(t, tree.Dir, "ls-tree", "-r", "--format=%(objectmode) %(objectname) 0\t%(path)", at); got != want {
			t.Errorf("%s has\n%s\nwant\n%s", name, got, want)
		}
		if got := git(t, tree.Dir, "rev-parse", "HEAD", "--show-toplevel"); got != at+"\n"+tree.Dir {
			t.Errorf("%s is %s to git, want %s", name, got, tree.Dir)
		}
		write(t, tree.Dir, "a", name+"\n")
		if c := commit(t, tree, name); len(c.Files) != 1 || c.Files[0] != "a" {
			t.Errorf("%s commits %v", name, c.Files)
		}
	}
	if left := spares(filepath.Dir(r.Place("x"))); len(left) != 0 {
		t.Errorf("spares were not taken: %v", left)
	}
	if _, err := r.Worktree(t.Context(), "w1", base); err == nil {
		t.Error("a name was given twice")
	}
}

// TestSparesGo: with the run's end, with clean-up after a crash, and before a run goes on, whole or not.
func TestSparesGo(t *testing.T) {
	dir, state := fresh(t, map[string]string{"a": "a\n"}), filepath.Join(t.TempDir(), "state")
	r := openAt(t, dir, state, "r1")
	base := git(t, dir, "rev-parse", "HEAD")
	if err := r.Start(t.Context(), base); err != nil {
		t.Fatal(err)
	}
	home := filepath.Dir(r.Place("x"))
	ends := map[string]func(){
		"close":  func() { closed(t, r) },
		"clean":  func() { cleaned(t, openAt(t, dir, state, "r1")) },
		"rescue": func() { rescued(t, openAt(t, dir, state, "r1")) },
	}
	for name, end := range ends {
		other := openAt(t, dir, state, "r1")
		filled(t, other, base, 2)
		if name == "close" {
			end = func() { closed(t, other) }
		}
		half := filepath.Join(home, "@1")
		if err := os.Remove(filepath.Join(half, "a")); err != nil { // as if it had been cut off
			t.Fatal(err)
		}
		end()
		if left := spares(home); len(left) != 0 {
			t.Errorf("%s leaves %v", name, left)
		}
		if known, _ := filepath.Glob(filepath.Join(state, "git", "worktrees", "r1.@*")); len(known) != 0 {
			t.Errorf("%s leaves %v", name, known)
		}
		if kept := git(t, dir, "for-each-ref", "refs/colony/r1/kept"); kept != "" {
			t.Errorf("%s kept %s", name, kept)
		}
	}
}

func closed(t *testing.T, r *repo.Repo) {
	t.Helper()
	if held, err := r.Close(t.Context()); err != nil || len(held) > 0 {
		t.Errorf("%v, %v", held, err)
	}
}

func rescued(t *testing.T, r *repo.Repo) {
	t.Helper()
	if kept, err := r.Rescue(t.Context(), func(string) bool { return false }); err != nil || len(kept) > 0 {
		t.Errorf("%v, %v", kept, err)
	}
}

func cleaned(t *testing.T, r *repo.Repo) {
	t.Helper()
	things, err := r.Clean(t.Context(), "main", func(string) bool { return false })
	if err != nil {
		t.Error(err)
	}
	for _, thing := range things {
		if thing.Why != "" && thing.Kind == "worktree" {
			t.Errorf("kept: %+v", thing)
		}
	}
}

// TestASpareIsMadeAnewWhereAttributesChange: what an attribute says of a file that did not change is as a new checkout has it.
func TestASpareIsMadeAnewWhereAttributesChange(t *testing.T) {
	r, base := started(t, fresh(t, map[string]string{"a.txt": "a\nb\n"}))
	next := work(t, r, "w0", base, ".gitattributes", "*.txt eol=crlf\n").SHA
	filled(t, r, base, 1)
	out, err := r.Checkout(t.Context(), next)
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, out.Dir, "a.txt"); got != "a\r\nb\r\n" {
		t.Errorf("%q", got)
	}
	if err := out.Remove(); err != nil {
		t.Error(err)
	}
}
