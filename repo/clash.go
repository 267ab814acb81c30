package repo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Clash returns the files in which the worktree, as it lies there, does not join a commit. Neither its files nor its index
// change.
func (t *Tree) Clash(ctx context.Context, commit string) ([]string, error) {
	tree, err := t.asItIs(ctx)
	if err != nil {
		return nil, fmt.Errorf("look at the worktree %s: %w", t.name, err)
	}
	head, err := t.repo.commits(ctx, t.head)
	if err != nil || head[0].tree == tree {
		return nil, err
	}
	by := t.repo.User().signature(time.Now())
	here, err := t.repo.write(object{tree: tree, parents: []string{t.head}, author: by, committer: by, text: "colony: work under way\n"})
	if err != nil {
		return nil, err
	}
	_, files, err := t.repo.join(ctx, commit, here)
	if err != nil {
		return nil, fmt.Errorf("join the worktree %s and %s: %w", t.name, commit, err)
	}
	return files, nil
}

// asItIs is the tree of all that is not ignored in the worktree.
func (t *Tree) asItIs(ctx context.Context) (tree string, err error) {
	dir, err := os.MkdirTemp(t.repo.state, "index.")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	index, err := os.ReadFile(filepath.Join(t.GitDir, "index"))
	if err != nil {
		return "", err
	}
	own := filepath.Join(dir, "index")
	if err := os.WriteFile(own, index, 0o600); err != nil {
		return "", err
	}
	c := t.git.with("core.splitIndex=false", "GIT_INDEX_FILE="+own)
	if _, err := c.run(ctx, nil, "add", "--all", "--ignore-errors"); exitCode(err) < 0 {
		return "", err // what git does not record is not joined either
	}
	out, err := c.run(ctx, nil, "write-tree")
	return strings.TrimSpace(string(out)), err
}
