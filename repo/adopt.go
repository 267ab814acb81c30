package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Adopt takes up the worktree of a dead ant: its files as they are, and as its last commit head. Where it is gone, it is
// made anew at the same place with the files of content, and head as its commit, so that what content has beyond head is
// uncommitted as it was. It is false where the worktree had to be made, and a *HeldError where files are there that git does
// not know any more. No other process is at work on the run.
func (r *Repo) Adopt(ctx context.Context, name, head, content string) (*Tree, bool, error) {
	if err := errors.Join(checkName(name), checkID(head, content)); err != nil {
		return nil, false, fmt.Errorf("adopt a worktree: %w", err)
	}
	t := r.tree(name, r.Place(name), r.run+"."+name, content)
	whole, err := t.whole()
	if err == nil && !whole {
		t, err = r.anew(ctx, t)
	}
	if err == nil {
		err = t.back(head, whole)
	}
	if err != nil {
		return nil, false, fmt.Errorf("adopt the worktree %s: %w", name, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trees[name] = t
	return t, whole, nil
}

// anew makes a worktree again of which at most a part is there.
func (r *Repo) anew(ctx context.Context, t *Tree) (*Tree, error) {
	left, err := os.ReadDir(t.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if len(left) > 0 {
		return nil, &HeldError{Dir: t.Dir, Why: "git does not know its files any more"}
	}
	if err := t.erase(); err != nil {
		return nil, err
	}
	return r.Worktree(ctx, t.name, t.Base)
}

// whole reports whether the worktree and what git knows of it are there.
func (t *Tree) whole() (bool, error) {
	for _, path := range []string{filepath.Join(t.Dir, ".git"), filepath.Join(t.GitDir, "HEAD"), filepath.Join(t.GitDir, "index")} {
		_, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// back makes head the commit that the worktree stands on, and leaves its files alone.
func (t *Tree) back(head string, whole bool) error {
	if whole {
		if err := t.loadBrought(); err != nil {
			return err
		}
	}
	at, err := os.ReadFile(filepath.Join(t.GitDir, "HEAD"))
	if err != nil {
		return err
	}
	t.Base, t.head = head, head
	if strings.TrimSpace(string(at)) == head {
		return nil
	}
	return replace(filepath.Join(t.GitDir, "HEAD"), []byte(head+"\n"))
}
