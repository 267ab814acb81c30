package repo_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"colony/repo"
)

// What git will not record is an error of its own, so that it costs one task and not the run; the rest is kept, and the
// worktree stays.
func TestContentThatGitRefuses(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, dir string){
		"a name like .git":                           func(t *testing.T, dir string) { write(t, dir, "GIT~1/x", "x") },
		"a repository with a line break in its name": func(t *testing.T, dir string) { git(t, dir, "init", "-q", "a\nb") },
		"an encoding that is not": func(t *testing.T, dir string) {
			write(t, dir, ".gitattributes", "*.txt working-tree-encoding=no-such\n")
		},
		"an encoding that it has not": func(t *testing.T, dir string) {
			write(t, dir, ".gitattributes", "*.txt working-tree-encoding=UTF-16\n")
		},
		"a pipe in a file's place": func(t *testing.T, dir string) {
			if err := errors.Join(os.Remove(filepath.Join(dir, "a.txt")), syscall.Mkfifo(filepath.Join(dir, "a.txt"), 0o600)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, base := started(t, fresh(t, map[string]string{"a.txt": "a\n"}))
			tree := worktree(t, r, "worker-1", base)
			write(t, tree.Dir, "b.txt", "b\n")
			spoil(t, tree.Dir)
			var content *repo.ContentError
			if _, err := tree.Commit(t.Context(), repo.Message{Subject: "x"}); !errors.As(err, &content) || content.Text == "" {
				t.Fatalf("commit: %v", err)
			}
			if _, err := tree.Keep(t.Context(), r.KeptRef("t1")); err != nil {
				t.Errorf("keep: %v", err)
			}
			if held, err := r.Close(t.Context()); err != nil || len(held) != 1 {
				t.Errorf("close: %v, %v", held, err)
			}
		})
	}
}

// A worktree that its ant closed is committed all the same.
func TestClosedWorktreeIsCommitted(t *testing.T) {
	r, base := started(t, fresh(t, map[string]string{"a.txt": "a\n"}))
	tree := worktree(t, r, "worker-1", base)
	write(t, tree.Dir, "b.txt", "b\n")
	if err := os.Chmod(tree.Dir, 0); err != nil {
		t.Fatal(err)
	}
	if c := commit(t, tree, "x"); len(c.Files) != 1 {
		t.Errorf("%+v", c)
	}
	if info, err := os.Stat(tree.Dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
}

// AGENTS.md is often a link to another tool's file: what git holds of it is no advice.
func TestNamedLeavesLinksOut(t *testing.T) {
	dir := fresh(t, map[string]string{"CLAUDE.md": "Be kind.\n", "sub/AGENTS.md": "x"})
	if err := os.Symlink("CLAUDE.md", filepath.Join(dir, "AGENTS.md")); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "link")
	r, base := started(t, dir)
	found, err := r.Named(t.Context(), base, []string{"AGENTS.md", "CLAUDE.md"})
	if err != nil || len(found) != 2 || found[0] != "CLAUDE.md" || found[1] != "sub/AGENTS.md" {
		t.Errorf("%q, %v", found, err)
	}
}
