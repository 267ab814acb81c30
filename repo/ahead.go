package repo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// aheadName is what no person's or ant's worktree is called.
const aheadName = "@ahead"

// ahead is a worktree that is made before anybody asks for it.
type ahead struct {
	commit string
	made   chan struct{} // closed when tree says what came of it
	tree   *Tree         // nil where it could not be made
}

// Ahead makes a worktree of a commit, which the next Worktree at that commit takes over: it may run beside
// the gates on the base. What keeps it from being made is found again by that Worktree, which says so.
func (r *Repo) Ahead(ctx context.Context, commit string) {
	if checkID(commit) != nil {
		return
	}
	a := &ahead{commit: commit, made: make(chan struct{})}
	defer close(a.made)
	r.mu.Lock()
	taken := r.ahead != nil
	if !taken {
		r.ahead = a
	}
	r.mu.Unlock()
	if taken {
		return
	}
	t := r.tree(aheadName, r.Place(aheadName), r.run+"."+aheadName, commit)
	if t.make(ctx) == nil {
		a.tree = t
	}
}

// takeAhead is the worktree that was made of the commit before, under its name; nil where there is none.
func (r *Repo) takeAhead(name, commit string) (*Tree, error) {
	r.mu.Lock()
	a := r.ahead
	if a == nil || a.commit != commit {
		r.mu.Unlock()
		return nil, nil
	}
	r.ahead = nil
	r.mu.Unlock()
	<-a.made // Ahead ends with its own context
	if a.tree == nil {
		return nil, nil
	}
	t := r.tree(name, r.Place(name), r.run+"."+name, commit)
	if err := a.tree.become(t); err != nil {
		return nil, errors.Join(err, a.tree.erase())
	}
	t.brought = a.tree.brought
	return t, nil
}

// become moves a worktree to the place of another, which is new.
func (t *Tree) become(to *Tree) error {
	for _, path := range []string{to.GitDir, to.Dir} {
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s exists already", path)
		}
	}
	return errors.Join(
		os.Rename(t.GitDir, to.GitDir), os.Rename(t.Dir, to.Dir),
		os.WriteFile(filepath.Join(to.GitDir, "gitdir"), []byte(filepath.Join(to.Dir, ".git")+"\n"), 0o600),
		os.WriteFile(filepath.Join(to.Dir, ".git"), []byte("gitdir: "+to.GitDir+"\n"), 0o600),
	)
}

// dropAhead erases the worktree that nobody took over.
func (r *Repo) dropAhead() error {
	r.mu.Lock()
	a := r.ahead
	r.ahead = nil
	r.mu.Unlock()
	if a == nil {
		return nil
	}
	<-a.made
	if a.tree == nil {
		return nil
	}
	return a.tree.erase()
}
