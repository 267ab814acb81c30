package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"colony/failpoint"
)

// Tree is an ant's worktree. Its methods do not run beside each other.
type Tree struct {
	Dir    string // absolute
	GitDir string // what git needs of it, outside Dir
	Base   string // the commit it began at

	name string
	repo *Repo
	git  caller
	head string // the last commit made of it, else Base

	brought brought
}

// Worktree makes a new worktree of the run at a commit. The name is new in this run.
func (r *Repo) Worktree(ctx context.Context, name, commit string) (*Tree, error) {
	if err := errors.Join(checkName(name), checkID(commit)); err != nil {
		return nil, fmt.Errorf("make a worktree: %w", err)
	}
	raw, err := r.spared(ctx, commit)
	if err == nil && raw == nil {
		raw = r.nameless(commit)
		err = raw.make(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("make the worktree %s: %w", name, err)
	}
	t := r.tree(name, r.Place(name), r.run+"."+name, commit)
	if err = raw.furnish(ctx, false); err == nil {
		err = raw.become(t)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make the worktree %s: %w", name, err), raw.erase())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trees[name] = t
	return t, nil
}

// Place is where a worktree of the run lies.
func (r *Repo) Place(name string) string { return filepath.Join(r.state, "wt", r.run, name) }

func (r *Repo) tree(name, dir, admin, commit string) *Tree {
	t := &Tree{Dir: dir, GitDir: filepath.Join(r.gitDir(), "worktrees", admin), Base: commit, head: commit, name: name, repo: r}
	t.git = r.own.at(t.GitDir, t.Dir)
	t.git.locks = t.locks()
	return t
}

func (r *Repo) standing() []*Tree {
	r.mu.Lock()
	defer r.mu.Unlock()
	trees := make([]*Tree, 0, len(r.trees))
	for _, t := range r.trees {
		trees = append(trees, t)
	}
	slices.SortFunc(trees, func(a, b *Tree) int { return strings.Compare(a.name, b.name) })
	return trees
}

// make writes what `git worktree add --lock --no-checkout` would, and fills the directory.
func (t *Tree) make(ctx context.Context) (err error) {
	if err := failpoint.Hit("repo.worktree.before"); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(t.GitDir), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(t.GitDir, 0o700); err != nil {
		return err
	}
	if err := os.MkdirAll(t.Dir, 0o700); err != nil {
		return errors.Join(err, os.RemoveAll(t.GitDir))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.erase())
		}
	}()
	files := [][2]string{
		{filepath.Join(t.GitDir, "HEAD"), t.Base + "\n"},
		{filepath.Join(t.GitDir, "commondir"), "../..\n"},
		{filepath.Join(t.GitDir, "gitdir"), filepath.Join(t.Dir, ".git") + "\n"},
		{filepath.Join(t.GitDir, "locked"), fmt.Sprintf("run %s, process %d\n", t.repo.run, os.Getpid())},
		{filepath.Join(t.Dir, ".git"), "gitdir: " + t.GitDir + "\n"},
	}
	for _, f := range files {
		if err := os.WriteFile(f[0], []byte(f[1]), 0o600); err != nil {
			return err
		}
	}
	if _, err = t.git.run(ctx, nil, "read-tree", "--reset", "-u", t.Base); err != nil {
		return err
	}
	for _, m := range t.repo.submodules() {
		if err := t.fillModule(ctx, m); err != nil {
			return err
		}
	}
	if err := t.bring(t.repo.frozen()); err != nil {
		return fmt.Errorf("bring what %s names: %w", IncludeFile, err)
	}
	return errors.Join(t.saveBrought(), failpoint.Hit("repo.worktree.after"))
}

// furnish brings what setup left.
func (t *Tree) furnish(ctx context.Context, gates bool) error {
	from, err := t.repo.kit(ctx, t.Base, gates)
	if err != nil || from == "" {
		return err
	}
	if err := t.bring(from); err != nil {
		return fmt.Errorf("bring what setup made: %w", err)
	}
	return t.saveBrought()
}

// Remove takes the worktree away. One that holds what no kept ref reaches, ignored files included, stays and
// is a *HeldError.
func (t *Tree) Remove(ctx context.Context) error {
	if err := t.holds(ctx); err != nil {
		return err
	}
	if !t.repo.recycle(ctx, t) {
		if err := t.erase(); err != nil {
			return fmt.Errorf("remove the worktree %s: %w", t.name, err)
		}
	}
	t.repo.mu.Lock()
	defer t.repo.mu.Unlock()
	delete(t.repo.trees, t.name)
	return nil
}

// holds says what would be lost with the worktree.
func (t *Tree) holds(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(t.repo.gitDir(), "refs", "stash")); err == nil {
		return &HeldError{Dir: t.Dir, Why: "there is a stash"}
	}
	head, err := os.ReadFile(filepath.Join(t.GitDir, "HEAD"))
	if err != nil {
		return fmt.Errorf("look at the worktree %s: %w", t.name, err)
	}
	if strings.TrimSpace(string(head)) != t.head {
		return &HeldError{Dir: t.Dir, Why: "its commit is not one of colony's"}
	}
	index, err := t.index()
	if err != nil {
		return fmt.Errorf("look at the worktree %s: %w", t.name, err)
	}
	if index.hides {
		return &HeldError{Dir: t.Dir, Why: "its index tells git not to look at files: git ls-files -v names them in small letters or with S"}
	}
	files, err := t.own(ctx)
	var content *ContentError
	if errors.As(contentError(err), &content) {
		return &HeldError{Dir: t.Dir, Why: content.Error()}
	}
	if err != nil {
		return fmt.Errorf("look at the worktree %s: %w", t.name, err)
	}
	if len(files) > 0 {
		return &HeldError{Dir: t.Dir, Why: "it has files that are in no commit: " + list(files), Files: files}
	}
	return nil
}

// own are the paths that are in no commit and that colony did not bring, ignored ones included.
func (t *Tree) own(ctx context.Context) ([]string, error) {
	untracked, ignored := "--untracked-files=normal", "--ignored=traditional"
	if len(t.brought.Files) > 0 { // file by file, since a directory may hold both
		untracked, ignored = "--untracked-files=all", "--ignored=matching"
	}
	files, err := status(ctx, t.git, untracked, ignored)
	if err != nil {
		return nil, err
	}
	inside, err := t.inModules()
	if err != nil {
		return nil, err
	}
	all, err := t.spread(append(files, inside...))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(path string) bool { return t.ours(path) || swept(path) }), nil
}

// status are the paths that git sees as changed.
func status(ctx context.Context, c caller, flags ...string) ([]string, error) {
	out, err := c.run(ctx, nil, append([]string{"status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=all"}, flags...)...)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, line := range fields(out) {
		if len(line) > 3 {
			paths = append(paths, line[3:])
		}
	}
	return paths, nil
}

// erase deletes the directory, then what git knows of it. The directory loses its name first, so that no half of it is
// ever taken for the worktree.
func (t *Tree) erase() error {
	if err := failpoint.Hit("repo.erase.before"); err != nil {
		return err
	}
	dir, err := t.away()
	if err != nil {
		return err
	}
	if err := RemoveAll(dir); err != nil {
		return err
	}
	return errors.Join(failpoint.Hit("repo.erase.after"), os.RemoveAll(t.GitDir))
}

// away gives the directory a name that is nobody's, and returns it.
func (t *Tree) away() (string, error) {
	if strings.HasPrefix(t.name, spareMark) {
		return t.Dir, nil
	}
	dir := t.repo.nameless(t.Base).Dir
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return "", err
	}
	if err := os.Rename(t.Dir, dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return dir, nil
}

// RemoveAll is os.RemoveAll that makes directories writable where it must.
func RemoveAll(dir string) error {
	err := os.RemoveAll(dir)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	walk := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return nil
	})
	return errors.Join(walk, os.RemoveAll(dir))
}

// locks are those that gits of colony's take in a worktree.
func (t *Tree) locks() []string {
	return []string{filepath.Join(t.GitDir, "index.lock"), filepath.Join(t.GitDir, "HEAD.lock"), t.workPath() + ".lock"}
}
