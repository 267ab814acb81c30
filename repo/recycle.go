package repo

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// errTouched is why a worktree does not serve again.
var errTouched = errors.New("not as git made it")

// recycle makes a spare of a worktree that is to go, where it is exactly as git left it: nothing came, nothing went, and no
// file was touched since. It reports whether it did; otherwise the worktree is where it was.
func (r *Repo) recycle(ctx context.Context, t *Tree) bool {
	if !r.pool.wants() || len(t.brought.Files) > 0 || len(r.submodules()) > 0 {
		return false
	}
	if _, err := t.git.run(ctx, nil, "diff-files", "--quiet", "--ignore-submodules=none"); err != nil {
		return false
	}
	index, err := t.index()
	if err != nil || index.hides || t.plain(index.entries) != nil {
		return false
	}
	raw := r.nameless(t.head)
	if t.retire(raw) != nil {
		return false
	}
	s := &spare{made: make(chan struct{}), tree: raw}
	close(s.made)
	r.pool.put(s)
	return true
}

// retire moves a worktree to the place of a spare. It loses its name with the first step. One that could not be moved whole is
// erased with what is left of it.
func (t *Tree) retire(to *Tree) error {
	if err := os.Rename(t.Dir, to.Dir); err != nil {
		return err
	}
	err := os.Rename(t.GitDir, to.GitDir)
	if err == nil {
		err = to.linkTo(to)
	}
	if err != nil {
		return errors.Join(err, to.erase())
	}
	return nil
}

// plain is an error unless the worktree holds so many files, each under one name only, and no directory without any.
func (t *Tree) plain(files int) error {
	var visit func(dir string) error
	visit = func(dir string) error {
		inside, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		if len(inside) == 0 {
			return errTouched
		}
		for _, e := range inside {
			path := filepath.Join(dir, e.Name())
			if path == filepath.Join(t.Dir, ".git") {
				continue
			}
			if e.IsDir() {
				if err := visit(path); err != nil {
					return err
				}
				continue
			}
			if files--; files < 0 || !single(e) {
				return errTouched
			}
		}
		return nil
	}
	if err := visit(t.Dir); err != nil {
		return err
	}
	if files != 0 {
		return errTouched
	}
	return nil
}

// single reports whether a file is one that git makes and has no other name.
func single(e fs.DirEntry) bool {
	info, err := e.Info()
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink == 1 && (info.Mode().IsRegular() || info.Mode()&fs.ModeSymlink != 0)
}

// wants reports whether the pool takes a spare more.
func (p *pool) wants() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stop != nil && !p.fixed && len(p.all) < 2*p.most
}

func (p *pool) put(s *spare) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, s)
}
