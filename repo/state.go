package repo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"colony/failpoint"

	"github.com/sourcegraph/conc"
)

// Prepare makes the state repository and finds what the worktrees of a run from base need beside its files: submodules
// from the user's own objects, the ignored files that .worktreeinclude names, and the paths that lead out of the
// repository. Nothing of the user's is changed. It returns a *SubmoduleError or an *IncludeError where something that a
// worktree needs is not to be had.
func (r *Repo) Prepare(ctx context.Context, base string) error {
	if err := checkID(base); err != nil {
		return err
	}
	if r.began() == base {
		return nil
	}
	if err := r.prepare(ctx); err != nil {
		return fmt.Errorf("prepare the state repository %s: %w", r.gitDir(), err)
	}
	var all []entry
	var left []string
	var listErr, leftErr, treeErr error
	var wg conc.WaitGroup
	wg.Go(func() { all, listErr = r.entries(ctx, base) })
	wg.Go(func() { left, leftErr = r.freeze(ctx) })
	wg.Go(func() { _, treeErr = r.Tree(ctx, base) })
	wg.Wait()
	if err := cmp.Or(listErr, leftErr, treeErr); err != nil {
		return err
	}
	modules, err := r.modulesOf(ctx, base, gitlinks(all))
	if err != nil {
		return err
	}
	outside, err := r.outsideOf(ctx, all)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.base, r.modules, r.leads, r.left = base, modules, outside, left
	if len(modules) > 0 {
		r.pool.fix()
	}
	return nil
}

// Outside are the paths that the base leads to and that are not in the repository. They are known after Prepare.
func (r *Repo) Outside() []Outside {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.leads
}

// Left are files that .worktreeinclude names and that are not brought, since they are links that lead out of the
// repository, or no files. They are known after Prepare.
func (r *Repo) Left() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.left
}

// Start prepares, pins the base and creates the run's branch there.
// A run that has a branch is a *RunExistsError.
func (r *Repo) Start(ctx context.Context, base string) error {
	if err := r.Prepare(ctx, base); err != nil {
		return err
	}
	return r.create(ctx, base, base)
}

// create makes the branch at a commit, and the pin of the base.
func (r *Repo) create(ctx context.Context, base, head string) error {
	in := fmt.Sprintf("create %s %s\ncreate %s %s\n", r.Branch(), head, r.baseRef(), base)
	if err := failpoint.Hit("repo.start.before"); err != nil {
		return err
	}
	if _, err := r.user.writing(r.refLocks(r.Branch(), r.baseRef())...).run(ctx, []byte(in), "update-ref", "--stdin"); err != nil {
		if at, headErr := r.at(ctx, r.Branch()); headErr == nil && at != "" {
			return &RunExistsError{Run: r.run, Branch: r.Branch()}
		}
		return fmt.Errorf("create %s: %w", r.Branch(), err)
	}
	return failpoint.Hit("repo.start.after")
}

// Look makes the state repository for a run that only looks: worktrees of the base can be made, and the user's repository
// gets nothing, not even a branch.
func (r *Repo) Look(ctx context.Context, base string) error {
	if err := checkID(base); err != nil {
		return err
	}
	if err := r.prepare(ctx); err != nil {
		return fmt.Errorf("prepare the state repository %s: %w", r.gitDir(), err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.base = base
	return nil
}

// refLocks are the locks that a git takes to move refs of colony's in the user's repository.
func (r *Repo) refLocks(refs ...string) []string {
	var locks []string
	for _, ref := range refs {
		if strings.HasPrefix(ref, "refs/heads/colony/") || strings.HasPrefix(ref, "refs/colony/") {
			locks = append(locks, filepath.Join(r.found.common, filepath.FromSlash(ref)+".lock"))
		}
	}
	return locks
}

func (r *Repo) baseRef() string { return "refs/colony/" + r.run + "/base" }

// prepare makes what is not there and copies what changes how the user's objects and files are read.
func (r *Repo) prepare(ctx context.Context) error {
	if strings.ContainsAny(r.found.objects, "\n\r") {
		return &UnsupportedError{What: "the path of the repository's objects has a line break", Next: "move it"}
	}
	if err := os.MkdirAll(r.state, 0o700); err != nil {
		return err
	}
	if err := r.lease.take(ctx); err != nil {
		return err
	}
	if err := r.initialise(ctx); err != nil {
		return err
	}
	if err := replace(filepath.Join(r.gitDir(), "objects", "info", "alternates"), []byte(r.found.objects+"\n")); err != nil {
		return err
	}
	for _, name := range []string{"shallow", "info/exclude"} {
		if err := mirror(filepath.Join(r.found.common, name), filepath.Join(r.gitDir(), name)); err != nil {
			return err
		}
	}
	return nil
}

// initialise makes the bare repository in one step that another process may win.
func (r *Repo) initialise(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(r.gitDir(), "HEAD")); err == nil {
		return nil
	}
	tmp, err := os.MkdirTemp(r.state, "git.")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	c := r.own
	c.side, c.dir = nil, tmp
	if _, err := c.run(ctx, nil, "init", "--quiet", "--bare", "--template=", "--initial-branch=none", "--object-format="+r.found.format, tmp); err != nil {
		return err
	}
	err = os.Rename(tmp, r.gitDir())
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// mirror makes to hold what from holds, or not exist either.
func mirror(from, to string) error {
	data, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		err = os.Remove(to)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	if err != nil {
		return err
	}
	return replace(to, data)
}

// replace writes a file as a whole: a reader sees the old one or the new one.
func replace(path string, data []byte) error {
	if old, err := os.ReadFile(path); err == nil && string(old) == string(data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".new.")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(data)
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
