package repo_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"colony/repo"
)

func lines(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("line " + strconv.Itoa(i) + "\n")
	}
	return b.String()
}

// contract 63: disjoint hunks of one file, new binary files and renames land.
func TestWorkThatJoinsLands(t *testing.T) {
	text := lines(30)
	dir := fresh(t, map[string]string{"f.txt": text, "old.txt": lines(20)})
	r, base := started(t, dir)
	one := work(t, r, "one", base, "f.txt", strings.Replace(text, "line 2\n", "two\n", 1))
	two := work(t, r, "two", base, "f.txt", strings.Replace(text, "line 27\n", "twenty-seven\n", 1))
	bin := work(t, r, "bin", base, "x.bin", "\x00\x01\xff")
	tree := worktree(t, r, "move", base)
	if err := os.Rename(filepath.Join(tree.Dir, "old.txt"), filepath.Join(tree.Dir, "new.txt")); err != nil {
		t.Fatal(err)
	}
	moved := commit(t, tree, "move")
	head := base
	for _, c := range []repo.Commit{one, two, bin, moved} {
		head = land(t, r, head, c.SHA)
	}
	if head == one.SHA || git(t, dir, "rev-parse", "colony/r1~3") != one.SHA {
		t.Error("the first landing is not the ant's own commit")
	}
	if got := git(t, dir, "show", "colony/r1:f.txt") + "\n"; got != strings.NewReplacer("line 2\n", "two\n", "line 27\n", "twenty-seven\n").Replace(text) {
		t.Errorf("joined: %s", got)
	}
	if got := git(t, dir, "ls-tree", "--name-only", "colony/r1"); got != "f.txt\nnew.txt\nx.bin" {
		t.Errorf("files: %s", got)
	}
	if got := git(t, dir, "log", "--format=%s", "colony/r1"); got != "move\nbin\ntwo\none\nstart" {
		t.Errorf("messages: %s", got)
	}
}

// contract 63: a conflict comes back with its files, lands after rework, and no marker ever lands.
func TestAConflictIsReworkedAndLands(t *testing.T) {
	dir := fresh(t, map[string]string{"f.txt": "a\nb\nc\n", "g.txt": "g\n"})
	r, base := started(t, dir)
	one := work(t, r, "one", base, "f.txt", "a\none\nc\n")
	two := work(t, r, "two", base, "f.txt", "a\ntwo\nc\n")
	head := land(t, r, base, one.SHA)
	_, conflict, err := r.Stage(t.Context(), head, two.SHA)
	if err != nil || conflict == nil || !slices.Equal(conflict.Files, []string{"f.txt"}) {
		t.Fatalf("%+v, %v", conflict, err)
	}

	tree := worktree(t, r, "two-again", conflict.Commit)
	if got := read(t, tree.Dir, "f.txt"); !strings.Contains(got, "<<<<<<< ") || !strings.Contains(got, "one\n") || !strings.Contains(got, "two\n") {
		t.Errorf("the rework begins with %q", got)
	}
	write(t, tree.Dir, "g.txt", "unrelated\n")
	marked := commit(t, tree, "two, markers left")
	if _, again, err := r.Stage(t.Context(), head, marked.SHA); err != nil || again == nil || !slices.Equal(again.Files, []string{"f.txt"}) {
		t.Errorf("markers would land: %+v, %v", again, err)
	}
	write(t, tree.Dir, "f.txt", "a\none and two\nc\n")
	reworked := commit(t, tree, "two, reworked")
	head = land(t, r, head, reworked.SHA)
	if got := git(t, dir, "show", "colony/r1:f.txt"); got != "a\none and two\nc" {
		t.Errorf("landed: %q", got)
	}
	if got := git(t, dir, "log", "--format=%s", "colony/r1"); got != "two, reworked\none\nstart" {
		t.Errorf("messages: %s", got)
	}
	if c, _, err := r.Stage(t.Context(), head, reworked.SHA); err != nil || !c.Empty {
		t.Errorf("landed twice: %+v, %v", c, err)
	}
}

func TestStageNamesAdvanceAndKeep(t *testing.T) {
	dir := fresh(t, map[string]string{"a": "a\n"})
	r, base := started(t, dir)
	one := work(t, r, "one", base, "b", "b\n")
	two := work(t, r, "two", base, "c", "c\n")
	c, _, err := r.Stage(t.Context(), base, one.SHA)
	if err != nil || c.Commit != one.SHA || c.Tree != one.Tree || !slices.Equal(c.Files, []string{"b"}) {
		t.Errorf("%+v, %v", c, err)
	}
	if tree, err := r.Tree(t.Context(), one.SHA); err != nil || tree != one.Tree {
		t.Errorf("tree %s, %v", tree, err)
	}
	head := land(t, r, base, one.SHA)
	if moved, err := r.Advance(t.Context(), r.Branch(), base, two.SHA); moved || err != nil {
		t.Errorf("a stale landing: %v, %v", moved, err)
	}
	if got := git(t, dir, "rev-parse", r.Branch()); got != head {
		t.Errorf("the branch is at %s", got)
	}
	for _, sha := range []string{two.SHA, two.SHA, one.SHA} {
		if err := r.Keep(t.Context(), r.KeptRef("t"), sha); err != nil {
			t.Fatal(err)
		}
	}
	if got := git(t, dir, "rev-list", r.KeptRef("t")); !strings.Contains(got, one.SHA) || !strings.Contains(got, two.SHA) {
		t.Errorf("a second keep lost the first: %s", got)
	}
}

// contract 62: clean-up never loses uncommitted, ignored or unlanded work; clean worktrees go.
func TestRemoveKeepsWhatIsNowhereElse(t *testing.T) {
	dir := fresh(t, map[string]string{"a": "a\n", ".gitignore": "out/\n"})
	r, base := started(t, dir)
	cases := map[string]struct {
		do   func(*repo.Tree)
		held bool
	}{
		"clean":     {func(*repo.Tree) {}, false},
		"committed": {func(x *repo.Tree) { write(t, x.Dir, "b", "b"); commit(t, x, "b") }, false},
		"changed":   {func(x *repo.Tree) { write(t, x.Dir, "a", "x") }, true},
		"untracked": {func(x *repo.Tree) { write(t, x.Dir, "n/n", "x") }, true},
		"ignored":   {func(x *repo.Tree) { write(t, x.Dir, "out/o", "x") }, true},
		"deleted":   {func(x *repo.Tree) { os.Remove(filepath.Join(x.Dir, "a")) }, true},
		"own head": {func(x *repo.Tree) {
			write(t, x.GitDir, "HEAD", strings.Repeat("1", 40)+"\n")
		}, true},
	}
	want := 0
	for name, c := range cases {
		tree := worktree(t, r, strings.ReplaceAll(name, " ", "-"), base)
		c.do(tree)
		if c.held {
			want++
		}
		var held *repo.HeldError
		err := tree.Remove(t.Context())
		if errors.As(err, &held) != c.held || (err != nil) != c.held {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(tree.Dir); (err == nil) != c.held {
			t.Errorf("%s: the directory: %v", name, err)
		}
		if _, err := r.Worktree(t.Context(), strings.ReplaceAll(name, " ", "-"), base); c.held && err == nil {
			t.Errorf("%s: a second worktree of the same name", name)
		}
	}
	held, err := r.Close(t.Context())
	if err != nil || len(held) != want {
		t.Errorf("close left %q, %v", held, err)
	}
}

func TestKeepOfNothingIsNothing(t *testing.T) {
	dir := fresh(t, map[string]string{"a": "a\n"})
	r, base := started(t, dir)
	tree := worktree(t, r, "w", base)
	if sha, err := tree.Keep(t.Context(), r.KeptRef("t")); sha != "" || err != nil {
		t.Errorf("%q, %v", sha, err)
	}
	if made := commit(t, tree, "nothing"); !made.Empty {
		t.Errorf("%+v", made)
	}
	made := work(t, r, "x", base, "b", "b")
	again := worktree(t, r, "again", made.SHA)
	if sha, err := again.Keep(t.Context(), r.KeptRef("t")); sha != made.SHA || err != nil {
		t.Errorf("unlanded work an ant began with: %q, %v", sha, err)
	}
}

func TestCheckoutIsPrivateAndGoes(t *testing.T) {
	dir := fresh(t, map[string]string{"a": "a\n"})
	r, base := started(t, dir)
	first, err := r.Checkout(t.Context(), base)
	if err != nil {
		t.Fatal(err)
	}
	second, err := r.Checkout(t.Context(), base)
	if err != nil || second.Dir == first.Dir {
		t.Fatalf("%v, %v", second, err)
	}
	write(t, first.Dir, "deep/read-only/file", "x")
	if err := os.Chmod(filepath.Join(first.Dir, "deep", "read-only"), 0o500); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(first.Remove(), second.Remove()); err != nil {
		t.Fatal(err)
	}
	third, err := r.Checkout(t.Context(), base)
	if err != nil || third.Dir != first.Dir {
		t.Fatalf("the next is at %s, the first was at %s: %v", third.Dir, first.Dir, err)
	}
	if got := git(t, third.Dir, "status", "--porcelain"); got != "" || read(t, third.Dir, "a") != "a\n" {
		t.Errorf("not a clean checkout: %q", got)
	}
	if err := third.Remove(); err != nil {
		t.Fatal(err)
	}
}

func TestGitEndsWithItsContext(t *testing.T) {
	dir := fresh(t, map[string]string{"a": "a\n"})
	r, base := started(t, dir)
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := r.Worktree(ctx, "w", base); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
	worktree(t, r, "w", base) // nothing was left of the first
}
