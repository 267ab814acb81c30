package repo_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"colony/repo"
)

// git runs git as a user would, with a configuration of the test's own.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// fresh is a user's repository with a commit of the files.
func fresh(t testing.TB, files map[string]string) string {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	git(t, dir, "config", "user.name", "Ada L")
	git(t, dir, "config", "user.email", "ada@example.org")
	for name, text := range files {
		write(t, dir, name, text)
	}
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "start")
	return dir
}

func open(t testing.TB, dir, run string) *repo.Repo {
	t.Helper()
	return openAt(t, dir, filepath.Join(t.TempDir(), "state"), run)
}

func openAt(t testing.TB, dir, state, run string) *repo.Repo {
	t.Helper()
	r, err := repo.Open(t.Context(), repo.Parts{Dir: dir, State: state, Run: run})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// started is a run that has begun at HEAD.
func started(t testing.TB, dir string) (*repo.Repo, string) {
	t.Helper()
	r := open(t, dir, "r1")
	base, err := r.Resolve(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(t.Context(), base); err != nil {
		t.Fatal(err)
	}
	return r, base
}

func worktree(t testing.TB, r *repo.Repo, name, at string) *repo.Tree {
	t.Helper()
	tree, err := r.Worktree(t.Context(), name, at)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func commit(t testing.TB, tree *repo.Tree, subject string) repo.Commit {
	t.Helper()
	c, err := tree.Commit(t.Context(), repo.Message{Subject: subject, Trailers: [][2]string{{"Colony-Run", "r1"}}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// work is a commit of one file in a worktree of its own.
func work(t testing.TB, r *repo.Repo, name, at, file, text string) repo.Commit {
	t.Helper()
	tree := worktree(t, r, name, at)
	write(t, tree.Dir, file, text)
	return commit(t, tree, name)
}

func land(t testing.TB, r *repo.Repo, onto, work string) string {
	t.Helper()
	c, conflict, err := r.Stage(t.Context(), onto, work)
	if err != nil || conflict != nil {
		t.Fatalf("stage: %v, %v", conflict, err)
	}
	moved, err := r.Advance(t.Context(), r.Branch(), onto, c.Commit)
	if err != nil || !moved {
		t.Fatalf("advance: %v, %v", moved, err)
	}
	return c.Commit
}

// picture is every file of a directory but for what a run may add: objects, its branch and its refs.
func picture(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		switch {
		case rel == ".git/objects", rel == ".git/refs/heads/colony", rel == ".git/refs/colony":
			return fs.SkipDir
		case d.IsDir():
			fmt.Fprintf(&b, "%s/\n", rel)
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data := []byte("link")
		if d.Type().IsRegular() {
			if data, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		fmt.Fprintf(&b, "%s %v %x %d\n", rel, info.Mode(), sha256.Sum256(data), info.ModTime().UnixNano())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// gitMay is git that may end with another code.
func gitMay(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// differ is what only one of two pictures has.
func differ(before, after string) string {
	was, is := strings.Split(before, "\n"), strings.Split(after, "\n")
	var b strings.Builder
	for _, line := range was {
		if !slices.Contains(is, line) {
			b.WriteString("- " + line + "\n")
		}
	}
	for _, line := range is {
		if !slices.Contains(was, line) {
			b.WriteString("+ " + line + "\n")
		}
	}
	return b.String()
}

func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// lineSeq are the lines that are not empty.
func lineSeq(s string) iter.Seq[string] {
	return strings.FieldsFuncSeq(s, func(r rune) bool { return r == '\n' })
}

// ended closes a run and returns the worktrees it left.
func ended(t *testing.T, r *repo.Repo) []string {
	t.Helper()
	held, err := r.Close(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return held
}
