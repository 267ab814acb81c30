package repo_test

import (
	"slices"
	"testing"
)

// Work under way is tried against a commit, and the worktree does not show it.
func TestClash(t *testing.T) {
	dir := fresh(t, map[string]string{"f.txt": "a\nb\nc\n", "g.txt": "g\n", ".gitignore": "*.log\n"})
	r, base := started(t, dir)
	one := work(t, r, "one", base, "f.txt", "a\none\nc\n")
	for _, c := range []struct {
		name, file, text string
		want             []string
	}{
		{"untouched", "", "", nil},
		{"same-line", "f.txt", "a\ntwo\nc\n", []string{"f.txt"}},
		{"same-change", "f.txt", "a\none\nc\n", nil},
		{"other-file", "g.txt", "two\n", nil},
		{"new-file", "n.txt", "two\n", nil},
		{"ignored", "x.log", "two\n", nil},
	} {
		tree := worktree(t, r, c.name, base)
		if c.file != "" {
			write(t, tree.Dir, c.file, c.text)
		}
		before := git(t, tree.Dir, "--git-dir", tree.GitDir, "--work-tree", tree.Dir, "status", "--porcelain", "--ignored")
		files, err := tree.Clash(t.Context(), one.SHA)
		if err != nil || !slices.Equal(files, c.want) {
			t.Errorf("%s: %v, %v", c.name, files, err)
		}
		if after := git(t, tree.Dir, "--git-dir", tree.GitDir, "--work-tree", tree.Dir, "status", "--porcelain", "--ignored"); after != before {
			t.Errorf("%s: %q, then %q", c.name, before, after)
		}
	}
}
