// Package repo is colony's own git. It keeps a bare state repository that borrows the user's objects; the
// ants' worktrees hang there. The user's repository receives objects, the run's branch and refs under
// refs/colony/, and nothing else.
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
	"sync"
	"sync/atomic"

	closing "github.com/sourcegraph/conc/pool"
)

// Parts are what Open needs.
type Parts struct {
	Dir   string // anywhere in the user's checkout
	State string // a directory of colony's for this repository; Start makes it
	Run   string // id of the run
	Git   string // the git to run; empty is the one in PATH
	Setup Setup  // prepares checkouts
}

// Repo is one run on one repository. It is safe for concurrent use.
type Repo struct {
	run   string
	state string // absolute
	user  caller // in the user's repository, its checkout named
	own   caller // in the state repository
	found found
	setup Setup
	lease *lease

	mu      sync.Mutex       // guards what follows
	base    string           // where the run began; set by Prepare
	modules []module         // of the base
	leads   []Outside        // out of the repository
	left    []string         // what .worktreeinclude names and is not brought
	trees   map[string]*Tree // those that stand, by name
	kits    map[string]*kit  // what setup left, by key

	known      *known
	pool       pool        // worktrees that nobody has yet
	conflicted atomic.Bool // work may hold markers of a conflict that was handed out
}

// Identity is who authors commits.
type Identity struct{ Name, Email string }

// Root is the top of the user's checkout.
func (r *Repo) Root() string { return r.found.root }

// Branch is the full name of the run's branch.
func (r *Repo) Branch() string { return "refs/heads/colony/" + r.run }

// KeptRef is the full name of the ref that keeps a task's work.
func (r *Repo) KeptRef(task string) string { return "refs/colony/" + r.run + "/kept/" + task }

// User is the identity in the user's git configuration, else colony's.
func (r *Repo) User() Identity { return r.found.user }

// Readable are the directories that git in a worktree has to read: the state repository and the user's objects.
func (r *Repo) Readable() []string { return []string{r.gitDir(), r.found.objects} }

func (r *Repo) gitDir() string { return filepath.Join(r.state, "git") }

// Resolve is the commit that a person's word for it names in the user's repository, or a *RevError.
func (r *Repo) Resolve(ctx context.Context, rev string) (string, error) {
	if rev == "HEAD" {
		return r.found.head, nil
	}
	if rev == "" || strings.HasPrefix(rev, "-") || strings.ContainsAny(rev, "\x00\n") {
		return "", &RevError{Rev: rev}
	}
	out, err := r.user.run(ctx, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	if exitCode(err) > 0 {
		return "", &RevError{Rev: rev}
	}
	if err != nil {
		return "", fmt.Errorf("resolve %q: %w", rev, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Dirty are the paths with uncommitted changes in the user's checkout, untracked ones included.
func (r *Repo) Dirty(ctx context.Context) ([]string, error) {
	paths, err := status(ctx, r.user, "--untracked-files=normal")
	if err != nil {
		return nil, fmt.Errorf("look for uncommitted files in %s: %w", r.Root(), err)
	}
	return paths, nil
}

// Tree is the tree of a commit.
func (r *Repo) Tree(ctx context.Context, commit string) (string, error) {
	if err := checkID(commit); err != nil {
		return "", err
	}
	objects, err := r.commits(ctx, commit)
	if err != nil {
		return "", fmt.Errorf("find the tree of %s: %w", commit, err)
	}
	return objects[0].tree, nil
}

// Files are the paths that differ between two commits or trees.
func (r *Repo) Files(ctx context.Context, from, to string) ([]string, error) {
	if err := checkID(from, to); err != nil {
		return nil, err
	}
	trees := r.known.trees(from, to)
	if files, ok := r.known.diff(trees[0], trees[1]); ok {
		return files, nil
	}
	out, err := r.own.run(ctx, nil, "diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to)
	if err != nil {
		return nil, fmt.Errorf("compare %s and %s: %w", from, to, err)
	}
	files := fields(out)
	r.known.learnDiff(trees[0], trees[1], files)
	r.watch(files)
	return files, nil
}

// fileLimit bounds what File reads.
const fileLimit = 1 << 20

// File is a file of a commit; false where there is none, or where it is no file or over 1 MiB.
func (r *Repo) File(ctx context.Context, commit, path string) ([]byte, bool, error) {
	if err := checkID(commit); err != nil {
		return nil, false, err
	}
	if !fs.ValidPath(path) || strings.ContainsRune(path, 0) {
		return nil, false, nil
	}
	name := commit + ":" + path
	head, err := r.own.run(ctx, []byte(name+"\x00"), "cat-file", "--batch-check=%(objecttype) %(objectsize)", "-z")
	var size int64
	if err != nil {
		return nil, false, fmt.Errorf("look at %s: %w", name, err)
	}
	if _, err := fmt.Sscanf(string(head), "blob %d\n", &size); err != nil || size > fileLimit {
		return nil, false, nil
	}
	data, err := r.own.run(ctx, nil, "cat-file", "blob", name)
	if err != nil {
		return nil, false, fmt.Errorf("read %s: %w", name, err)
	}
	return data, true, nil
}

// closers bounds how many worktrees are looked at side by side.
const closers = 4

// Close removes the worktrees of the run that hold nothing of their own, and the frozen copy of what .worktreeinclude
// named. It returns the worktrees it left.
func (r *Repo) Close(ctx context.Context) (held []string, err error) {
	if err := r.dropSpares(); err != nil {
		return nil, err
	}
	removals := closing.NewWithResults[string]().WithErrors().WithMaxGoroutines(closers)
	for _, t := range r.standing() {
		removals.Go(func() (string, error) {
			var h *HeldError
			if err := t.Remove(ctx); asHeld(err, &h) {
				return t.Dir, nil
			} else {
				return "", err
			}
		})
	}
	held, err = removals.Wait()
	held = slices.DeleteFunc(held, func(dir string) bool { return dir == "" })
	slices.Sort(held)
	if err != nil {
		return held, err
	}
	return held, errors.Join(os.RemoveAll(r.frozen()), r.lease.release())
}
