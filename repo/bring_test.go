package repo_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"colony/repo"
)

// What .worktreeinclude names is found in worktrees and gate checkouts, lands never, and holds no worktree. Contract 73.
func TestIncludedFilesAreThereAndNeverLand(t *testing.T) {
	dir := fresh(t, map[string]string{"a": "a", ".gitignore": "*.env\nlocal/\n", ".worktreeinclude": "*.env\nlocal/**\n!local/not\n"})
	outside := filepath.Join(t.TempDir(), "secret")
	write(t, filepath.Dir(outside), "secret", "SECRET")
	write(t, dir, "x.env", "X=1\n")
	write(t, dir, "local/deep/key", "k")
	write(t, dir, "local/not", "n")
	write(t, dir, "plain.txt", "untracked, not ignored")
	for name, to := range map[string]string{"local/out": outside, "local/up": "../../" + filepath.Base(filepath.Dir(outside)), "local/in": "deep/key"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	r, base := started(t, dir)
	if got := r.Left(); !slices.Equal(got, []string{"local/out", "local/up"}) {
		t.Errorf("left out: %q", got)
	}
	write(t, dir, "x.env", "X=2, written after the run began\n")
	tree := worktree(t, r, "worker-1", base)
	out, err := r.Checkout(t.Context(), base)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{tree.Dir, out.Dir} {
		if read(t, at, "x.env") != "X=1\n" || read(t, at, "local/deep/key") != "k" || read(t, at, "local/in") != "k" {
			t.Error("an included file is missing or another")
		}
		for _, name := range []string{"local/not", "local/out", "local/up", "plain.txt"} {
			if _, err := os.Lstat(filepath.Join(at, name)); err == nil {
				t.Errorf("%s is there", name)
			}
		}
	}
	if err := out.Remove(); err != nil {
		t.Fatal(err)
	}
	// The ant takes the files out of .gitignore and changes one.
	write(t, tree.Dir, ".gitignore", "")
	write(t, tree.Dir, "local/deep/key", "changed")
	write(t, tree.Dir, "b", "b")
	made := commit(t, tree, "add b")
	if !slices.Equal(made.Files, []string{".gitignore", "b"}) || !slices.Equal(made.Refused, []string{"local/deep/key"}) {
		t.Errorf("commit: %+v", made)
	}
	if names := git(t, dir, "--git-dir", tree.GitDir, "ls-tree", "-r", "--name-only", made.SHA); strings.Contains(names, "local") || strings.Contains(names, ".env") {
		t.Errorf("landed: %s", names)
	}
	var held *repo.HeldError
	if err := tree.Remove(t.Context()); !errors.As(err, &held) || !slices.Equal(held.Files, []string{"local/deep/key"}) {
		t.Errorf("remove: %v", err)
	}
	clean := worktree(t, r, "worker-2", base)
	if err := clean.Remove(t.Context()); err != nil {
		t.Errorf("a worktree with nothing but what was brought stays: %v", err)
	}
}

func TestIncludeIsBounded(t *testing.T) {
	cases := map[string]func(t *testing.T, dir string){
		"too large": func(t *testing.T, dir string) {
			write(t, dir, ".worktreeinclude", "big\n")
			write(t, dir, "big", "")
			if err := os.Truncate(filepath.Join(dir, "big"), 300<<20); err != nil {
				t.Fatal(err)
			}
		},
		"no file": func(t *testing.T, dir string) {
			if err := os.Mkdir(filepath.Join(dir, ".worktreeinclude"), 0o755); err != nil {
				t.Fatal(err)
			}
		},
		"long":   func(t *testing.T, dir string) { write(t, dir, ".worktreeinclude", strings.Repeat("x\n", 64<<10)) },
		"a link": func(t *testing.T, dir string) { os.Symlink("a", filepath.Join(dir, ".worktreeinclude")) },
	}
	for name, spoil := range cases {
		t.Run(name, func(t *testing.T) {
			dir := fresh(t, map[string]string{"a": "a", ".gitignore": "big\n"})
			spoil(t, dir)
			r := open(t, dir, "r1")
			base, _ := r.Resolve(t.Context(), "HEAD")
			var bad *repo.IncludeError
			if err := r.Prepare(t.Context(), base); !errors.As(err, &bad) {
				t.Error(err)
			}
		})
	}
}

// withSubmodule is a repository whose submodule has one of its own.
func withSubmodule(t *testing.T) string {
	t.Helper()
	dir := fresh(t, map[string]string{"a": "a"})
	inner := filepath.Join(t.TempDir(), "inner")
	outer := filepath.Join(t.TempDir(), "outer")
	for _, at := range []string{inner, outer} {
		write(t, at, "text", filepath.Base(at)+"\n")
		git(t, at, "init", "-q", "-b", "main")
		git(t, at, "add", "-A")
		git(t, at, "-c", "user.name=u", "-c", "user.email=u@e", "commit", "-q", "-m", "x")
	}
	git(t, outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", inner, "deep/inner")
	git(t, outer, "-c", "user.name=u", "-c", "user.email=u@e", "commit", "-q", "-m", "inner")
	git(t, dir, "-c", "protocol.file.allow=always", "submodule", "add", "-q", "--name", "some name", outer, "libs/outer")
	git(t, dir, "-c", "protocol.file.allow=always", "submodule", "update", "-q", "--init", "--recursive")
	git(t, dir, "commit", "-q", "-m", "submodule")
	return dir
}

func TestSubmodulesComeFromTheUsersObjects(t *testing.T) {
	dir := withSubmodule(t)
	before := picture(t, dir)
	r, base := started(t, dir)
	tree := worktree(t, r, "worker-1", base)
	if read(t, tree.Dir, "libs/outer/text") != "outer\n" || read(t, tree.Dir, "libs/outer/deep/inner/text") != "inner\n" {
		t.Error("a submodule has other files")
	}
	write(t, tree.Dir, "b", "b")
	write(t, tree.Dir, "libs/outer/text", "changed in the submodule")
	write(t, tree.Dir, "libs/outer/new", "new in the submodule")
	made := commit(t, tree, "add b")
	if !slices.Equal(made.Files, []string{"b"}) || !slices.Equal(made.Refused, []string{"libs/outer/new", "libs/outer/text"}) {
		t.Errorf("commit: %+v", made)
	}
	var held *repo.HeldError
	if err := tree.Remove(t.Context()); !errors.As(err, &held) || len(held.Files) != 2 {
		t.Errorf("remove: %v", err)
	}
	clean := worktree(t, r, "worker-2", base)
	if err := clean.Remove(t.Context()); err != nil {
		t.Errorf("a worktree with untouched submodules stays: %v", err)
	}
	if after := picture(t, dir); after != before {
		t.Error("the user's repository changed")
	}
}

func TestASubmoduleThatIsNotThereIsRefusedByName(t *testing.T) {
	spoil := map[string]func(t *testing.T, dir string) string{
		"not initialised": func(t *testing.T, dir string) string {
			git(t, dir, "submodule", "deinit", "-q", "-f", "libs/outer")
			os.RemoveAll(filepath.Join(dir, ".git/modules"))
			return "libs/outer"
		},
		"nested one gone": func(t *testing.T, dir string) string {
			os.RemoveAll(filepath.Join(dir, ".git/modules/some name/modules"))
			os.RemoveAll(filepath.Join(dir, "libs/outer/deep/inner/.git"))
			return "libs/outer/deep/inner"
		},
		"a name that leads out": func(t *testing.T, dir string) string {
			text := strings.ReplaceAll(read(t, dir, ".gitmodules"), "some name", "../../elsewhere")
			write(t, dir, ".gitmodules", text)
			git(t, dir, "commit", "-q", "-a", "-m", "hostile")
			return "libs/outer"
		},
		"a link to another repository": func(t *testing.T, dir string) string {
			modules := filepath.Join(dir, ".git/modules")
			other := filepath.Join(t.TempDir(), "other")
			if err := errors.Join(os.Rename(modules, other), os.Symlink(other, modules)); err != nil {
				t.Fatal(err)
			}
			return "libs/outer"
		},
	}
	for name, spoil := range spoil {
		t.Run(name, func(t *testing.T) {
			dir := withSubmodule(t)
			path := spoil(t, dir)
			r := open(t, dir, "r1")
			base, _ := r.Resolve(t.Context(), "HEAD")
			var missing *repo.SubmoduleError
			if err := r.Prepare(t.Context(), base); !errors.As(err, &missing) || missing.Path != path || !strings.Contains(err.Error(), "git submodule update --init") {
				t.Error(err)
			}
		})
	}
}

// Setup runs once for ants and once for gates, for each set of lockfiles; what it leaves ignored is in every checkout.
func TestSetupRunsOnceForEachSetOfLockfiles(t *testing.T) {
	dir := fresh(t, map[string]string{"a": "a", ".gitignore": "deps/\n", "go.sum": "one\n"})
	state := filepath.Join(t.TempDir(), "state")
	ran := map[bool]int{}
	setup := repo.Setup{Key: "make deps", Run: func(_ context.Context, at string, gates bool) error {
		ran[gates]++
		write(t, at, "deps/lock", read(t, at, "go.sum"))
		write(t, at, "loose", "not ignored: not brought")
		return os.Symlink("lock", filepath.Join(at, "deps/link"))
	}}
	begin := func(run string) (*repo.Repo, string) {
		r, err := repo.Open(t.Context(), repo.Parts{Dir: dir, State: state, Run: run, Setup: setup})
		if err != nil {
			t.Fatal(err)
		}
		base, _ := r.Resolve(t.Context(), "HEAD")
		if err := errors.Join(r.Start(t.Context(), base), r.SetUp(t.Context(), base)); err != nil {
			t.Fatal(err)
		}
		return r, base
	}
	r, base := begin("r1")
	tree := worktree(t, r, "worker-1", base)
	if read(t, tree.Dir, "deps/link") != "one\n" {
		t.Error("what setup left is not there")
	}
	if _, err := os.Stat(filepath.Join(tree.Dir, "loose")); err == nil {
		t.Error("what git does not ignore was brought")
	}
	write(t, tree.Dir, "go.sum", "two\n")
	made := commit(t, tree, "lock")
	if !slices.Equal(made.Files, []string{"go.sum"}) {
		t.Errorf("commit: %+v", made)
	}
	out, err := r.Checkout(t.Context(), made.SHA)
	if err != nil {
		t.Fatal(err)
	}
	if read(t, out.Dir, "deps/lock") != "two\n" {
		t.Error("a tree with another lockfile was not prepared anew")
	}
	if err := out.Remove(); err != nil {
		t.Fatal(err)
	}
	begin("r2")
	if ran[false] != 1 || ran[true] != 2 {
		t.Errorf("setup ran %v", ran)
	}
}

// Where a lockfile that an ant changed cannot be installed, the gates say so: they run with what the base needs.
func TestASetupThatAnAntBrokeLeavesTheBases(t *testing.T) {
	dir := fresh(t, map[string]string{"a": "a", ".gitignore": "deps/\n", "go.sum": "one\n"})
	r, err := repo.Open(t.Context(), repo.Parts{Dir: dir, State: filepath.Join(t.TempDir(), "state"), Run: "r1", Setup: repo.Setup{Key: "x",
		Run: func(_ context.Context, at string, _ bool) error {
			if read(t, at, "go.sum") != "one\n" {
				return errors.New("cannot be installed")
			}
			write(t, at, "deps/x", "x")
			return nil
		}}})
	if err != nil {
		t.Fatal(err)
	}
	base, _ := r.Resolve(t.Context(), "HEAD")
	if err := r.Start(t.Context(), base); err != nil {
		t.Fatal(err)
	}
	made := work(t, r, "worker-1", base, "go.sum", "broken\n")
	out, err := r.Checkout(t.Context(), made.SHA)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Remove()
	if read(t, out.Dir, "deps/x") != "x" {
		t.Error("nothing was brought")
	}
}

// A file that an edit left half written is swept: it never lands and holds no worktree.
func TestHalfWrittenFilesAreSwept(t *testing.T) {
	dir := fresh(t, map[string]string{"a": "a"})
	r, base := started(t, dir)
	tree := worktree(t, r, "worker-1", base)
	write(t, tree.Dir, ".colony-tmp-ABC", "half")
	write(t, tree.Dir, "sub/dir/.colony-tmp-DEF", "half")
	write(t, tree.Dir, "b", "b")
	if made := commit(t, tree, "b"); !slices.Equal(made.Files, []string{"b"}) {
		t.Errorf("commit: %+v", made)
	}
	if _, err := os.Lstat(filepath.Join(tree.Dir, "sub/dir/.colony-tmp-DEF")); err == nil {
		t.Error("it is still there")
	}
	write(t, tree.Dir, ".colony-tmp-GHI", "half")
	if err := tree.Remove(t.Context()); err != nil {
		t.Error(err)
	}
}
