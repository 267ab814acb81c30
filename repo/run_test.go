package repo_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"colony/repo"
)

// Law 9: the user's checkout, index, config, hooks and existing refs are byte-identical before and after.
func TestTheUsersRepositoryStaysAsItWas(t *testing.T) {
	dir := fresh(t, map[string]string{"a.txt": "a\n", "sub/b.txt": "b\n", ".gitignore": "*.log\n"})
	git(t, dir, "branch", "other")
	git(t, dir, "tag", "v1")
	write(t, dir, "a.txt", "changed, not committed\n")
	write(t, dir, "untracked.txt", "x\n")
	before := picture(t, dir)

	r, base := started(t, dir)
	if dirty, err := r.Dirty(t.Context()); err != nil || !slices.Equal(dirty, []string{"a.txt", "untracked.txt"}) {
		t.Errorf("dirty: %q, %v", dirty, err)
	}
	tree := worktree(t, r, "worker-1", base)
	if got := read(t, tree.Dir, "a.txt"); got != "a\n" {
		t.Errorf("the worktree has the user's uncommitted text: %q", got)
	}
	write(t, tree.Dir, "new.txt", "new\n")
	write(t, tree.Dir, "debug.log", "ignored\n")
	made := commit(t, tree, "add new")
	if !slices.Equal(made.Files, []string{"new.txt"}) || made.Empty {
		t.Errorf("commit: %+v", made)
	}
	head := land(t, r, base, made.SHA)
	write(t, tree.Dir, "later.txt", "left\n")
	kept, err := tree.Keep(t.Context(), r.KeptRef("t1"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}

	if after := picture(t, dir); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	refs := git(t, dir, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/colony", "refs/colony")
	want := "refs/colony/r1/base " + base + "\nrefs/colony/r1/kept/t1 " + kept + "\nrefs/heads/colony/r1 " + head
	if refs != want {
		t.Errorf("refs:\n%s\nwant:\n%s", refs, want)
	}
	git(t, dir, "fsck", "--strict", "--no-dangling")
	if got := git(t, dir, "log", "-1", "--format=%an <%ae> %cn|%s|%(trailers:key=Colony-Run,valueonly)", "colony/r1"); strings.TrimSpace(got) != "Ada L <ada@example.org> Ada L|add new|r1" {
		t.Errorf("the landed commit: %q", got)
	}
	if got := git(t, dir, "show", kept+":later.txt"); got != "left" {
		t.Errorf("kept: %q", got)
	}
}

func TestOpenRefusesWithTheNextStep(t *testing.T) {
	parts := func(dir string) repo.Parts {
		return repo.Parts{Dir: dir, State: filepath.Join(t.TempDir(), "state"), Run: "r1"}
	}
	t.Run("no repository", func(t *testing.T) {
		_, err := repo.Open(t.Context(), parts(t.TempDir()))
		if !errors.Is(err, repo.ErrNoRepository) || !strings.Contains(err.Error(), "git init") {
			t.Error(err)
		}
	})
	t.Run("no commit", func(t *testing.T) {
		dir := t.TempDir()
		git(t, dir, "init", "-q")
		if _, err := repo.Open(t.Context(), parts(dir)); !errors.Is(err, repo.ErrEmpty) || !strings.Contains(err.Error(), "git commit") {
			t.Error(err)
		}
	})
	t.Run("branch named colony", func(t *testing.T) {
		dir := fresh(t, map[string]string{"a": "a"})
		git(t, dir, "branch", "colony")
		var e *repo.BranchError
		if _, err := repo.Open(t.Context(), parts(dir)); !errors.As(err, &e) || !strings.Contains(err.Error(), "git branch -m") {
			t.Error(err)
		}
	})
	t.Run("bare, inside .git, partial, state inside", func(t *testing.T) {
		dir := fresh(t, map[string]string{"a": "a"})
		bare := filepath.Join(t.TempDir(), "bare")
		git(t, dir, "clone", "-q", "--bare", dir, bare)
		inside := parts(dir)
		inside.State = filepath.Join(dir, ".state")
		cases := map[string]repo.Parts{"bare": parts(bare), "inside .git": parts(filepath.Join(dir, ".git")), "state": inside}
		for name, p := range cases {
			var e *repo.UnsupportedError
			if _, err := repo.Open(t.Context(), p); !errors.As(err, &e) {
				t.Errorf("%s: %v", name, err)
			}
		}
		git(t, dir, "config", "remote.origin.promisor", "true")
		var e *repo.UnsupportedError
		if _, err := repo.Open(t.Context(), parts(dir)); !errors.As(err, &e) {
			t.Errorf("partial: %v", err)
		}
	})
	t.Run("run that exists", func(t *testing.T) {
		dir := fresh(t, map[string]string{"a": "a"})
		_, base := started(t, dir)
		var e *repo.RunExistsError
		if err := open(t, dir, "r1").Start(t.Context(), base); !errors.As(err, &e) {
			t.Error(err)
		}
	})
}

// GT06: a name from outside never becomes an option or a path.
func TestNamesAreChecked(t *testing.T) {
	dir := fresh(t, map[string]string{"a": "a"})
	r, base := started(t, dir)
	mark := filepath.Join(t.TempDir(), "PWNED")
	for _, name := range []string{"--upload-pack=touch " + mark + "; false", "-x", "", "..", "a..b", "a/b", "../../x", "a.lock", "a.", "a\nb", "a b", "é", strings.Repeat("a", 200)} {
		var bad *repo.NameError
		if _, err := r.Worktree(t.Context(), name, base); !errors.As(err, &bad) {
			t.Errorf("worktree %q: %v", name, err)
		}
		if err := r.Keep(t.Context(), r.KeptRef(name), base); !errors.As(err, &bad) {
			t.Errorf("keep %q: %v", name, err)
		}
		if _, err := repo.Open(t.Context(), repo.Parts{Dir: dir, State: t.TempDir(), Run: name}); !errors.As(err, &bad) {
			t.Errorf("run %q: %v", name, err)
		}
		var rev *repo.RevError
		if sha, err := r.Resolve(t.Context(), name); !errors.As(err, &rev) {
			t.Errorf("resolve %q: %s, %v", name, sha, err)
		}
	}
	for _, id := range []string{"HEAD", "--all", "", base[:8], base + "^"} {
		if _, err := r.Worktree(t.Context(), "w", id); err == nil {
			t.Errorf("worktree at %q", id)
		}
		if _, _, err := r.Stage(t.Context(), base, id); err == nil {
			t.Errorf("stage %q", id)
		}
	}
	if err := r.Keep(t.Context(), "refs/heads/main", base); err == nil {
		t.Error("kept under the user's branch")
	}
	if _, err := r.Advance(t.Context(), "refs/heads/main", base, base); err == nil {
		t.Error("advanced the user's branch")
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("PWNED")
	}
}

func TestResolve(t *testing.T) {
	dir := fresh(t, map[string]string{"a": "a"})
	r, base := started(t, dir)
	git(t, dir, "tag", "-a", "v1", "-m", "v1")
	for _, rev := range []string{"HEAD", "main", "v1", base, base[:10], "refs/heads/main"} {
		if got, err := r.Resolve(t.Context(), rev); err != nil || got != base {
			t.Errorf("%s: %s, %v", rev, got, err)
		}
	}
}

func TestFileOfACommit(t *testing.T) {
	dir := fresh(t, map[string]string{"AGENTS.md": "be good\n", "odd\nname": "x", "big": strings.Repeat("x", 2<<20)})
	r, base := started(t, dir)
	for _, c := range []struct {
		path, text string
		ok         bool
	}{{"AGENTS.md", "be good\n", true}, {"odd\nname", "x", true}, {"none", "", false}, {"", "", false}, {"big", "", false}, {"../x", "", false}} {
		got, ok, err := r.File(t.Context(), base, c.path)
		if err != nil || ok != c.ok || string(got) != c.text {
			t.Errorf("%q: %q, %v, %v", c.path, got, ok, err)
		}
	}
}
