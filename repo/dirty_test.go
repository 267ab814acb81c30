package repo_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"colony/repo"
)

// included is a run that began with the checkout's uncommitted files.
func included(t *testing.T, dir string) (r *repo.Repo, base string, taken []string) {
	t.Helper()
	r = open(t, dir, "r1")
	base, taken, err := r.TakeDirty(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(t.Context(), base); err != nil {
		t.Fatal(err)
	}
	return r, base, taken
}

// Law 9: the base has the files as they lie on disk, however they differ from HEAD and from the index, and the checkout and
// its index are as they were.
func TestTakeDirtyTakesTheFilesAsTheyLie(t *testing.T) {
	dir := fresh(t, map[string]string{
		"changed": "1\n", "gone": "1\n", "moved": "move\n", "staged gone": "1\n", "still": "1\n", "file": "1\n", "dir/in": "1\n", "half": "1\n",
		".gitignore": "*.log\n", ".gitattributes": "crlf text\n",
	})
	mark := filepath.Join(t.TempDir(), "MARK")
	git(t, dir, "config", "core.fsmonitor", "touch "+mark+"; false")
	write(t, dir, "changed", "2\n")
	write(t, dir, "half", "2\n")
	git(t, dir, "-c", "core.fsmonitor=false", "add", "half")
	write(t, dir, "half", "3\n")
	git(t, dir, "-c", "core.fsmonitor=false", "rm", "-q", "staged gone")
	git(t, dir, "-c", "core.fsmonitor=false", "mv", "moved", "to here")
	for _, name := range []string{"gone", "file", "dir/in", "dir"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, dir, "file/now/a dir", "1\n")
	write(t, dir, "dir", "now a file\n")
	write(t, dir, "quote\"and\nbreak", "1\n")
	write(t, dir, "-dash", "1\n")
	write(t, dir, "crlf", "1\r\n")
	write(t, dir, "debug.log", "ignored\n")
	if err := errors.Join(os.Symlink("still", filepath.Join(dir, "link")), os.Chmod(filepath.Join(dir, "still"), 0o755)); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "init", "-q", "nested")
	write(t, dir, "nested/f", "f\n")
	git(t, dir, "-c", "core.fsmonitor=false", "config", "core.splitIndex", "true")
	os.Remove(mark)
	before := picture(t, dir)

	r, base, taken := included(t, dir)
	tree := worktree(t, r, "w", base)
	for name, want := range map[string]string{
		"changed": "2\n", "half": "3\n", "to here": "move\n", "file/now/a dir": "1\n", "dir": "now a file\n", "quote\"and\nbreak": "1\n", "-dash": "1\n", "link": "1\n", "crlf": "1\n",
	} {
		if got := read(t, tree.Dir, name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"gone", "staged gone", "moved", "debug.log", "nested/f"} {
		if _, err := os.Lstat(filepath.Join(tree.Dir, name)); err == nil {
			t.Errorf("%s is there", name)
		}
	}
	want := []string{"-dash", "changed", "crlf", "dir", "dir/in", "file", "file/now/a dir", "gone", "half", "link", "moved", "quote\"and\nbreak", "staged gone", "still", "to here"}
	if slices.Sort(taken); !slices.Equal(taken, want) {
		t.Errorf("taken %q\nwant  %q", taken, want)
	}
	if after := picture(t, dir); after != before {
		t.Error(differ(before, after))
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a program of the configuration ran")
	}
	if got := git(t, dir, "-c", "core.fsmonitor=false", "log", "-1", "--format=%an|%P", "refs/colony/r1/base"); got != "Ada L|"+git(t, dir, "rev-parse", "HEAD") {
		t.Errorf("the base is by %s", got)
	}
	git(t, dir, "-c", "core.fsmonitor=false", "fsck", "--strict", "--no-dangling")
}

func TestTakeDirtyOfACleanCheckoutIsHead(t *testing.T) {
	dir := fresh(t, map[string]string{"a": "a\n"})
	if err := os.Chtimes(filepath.Join(dir, "a"), time.Unix(0, 0), time.Unix(0, 0)); err != nil { // git has to look at it again
		t.Fatal(err)
	}
	_, base, taken := included(t, dir)
	if base != git(t, dir, "rev-parse", "HEAD") || len(taken) > 0 {
		t.Errorf("base %s, taken %v", base, taken)
	}
}

func TestTakeDirtyRefusesWhatCannotBeTaken(t *testing.T) {
	var amid *repo.UnsupportedError
	var filter *repo.FilterError
	var content *repo.ContentError
	cases := map[string]struct {
		set func(t *testing.T, dir string)
		as  any
	}{
		"amid a merge": {func(t *testing.T, dir string) {
			git(t, dir, "checkout", "-q", "-b", "side")
			write(t, dir, "a", "side\n")
			git(t, dir, "commit", "-q", "-a", "-m", "side")
			git(t, dir, "checkout", "-q", "main")
			write(t, dir, "a", "main\n")
			git(t, dir, "commit", "-q", "-a", "-m", "main")
			if _, err := gitMay(dir, "merge", "-q", "side"); err == nil {
				t.Fatal("it joined")
			}
		}, &amid},
		"a filter's": {func(t *testing.T, dir string) {
			write(t, dir, ".gitattributes", "*.bin filter=lfs -text\n")
			write(t, dir, "big.bin", "raw\n")
		}, &filter},
		"line ends that git does not take": {func(t *testing.T, dir string) {
			git(t, dir, "config", "core.autocrlf", "input")
			git(t, dir, "config", "core.safecrlf", "true")
			write(t, dir, "b", "1\r\n")
		}, &content},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := fresh(t, map[string]string{"a": "a\n"})
			c.set(t, dir)
			before := picture(t, dir)
			if _, _, err := open(t, dir, "r1").TakeDirty(t.Context()); !errors.As(err, c.as) {
				t.Errorf("got %v", err)
			}
			if after := picture(t, dir); after != before {
				t.Error(differ(before, after))
			}
		})
	}
}
