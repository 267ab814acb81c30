// Package repo is colony's own git. It keeps a bare state repository that borrows the user's objects; the
// ants' worktrees hang there. The user's repository receives objects, the run's branch and refs under
// refs/colony/, and nothing else.
package repo

import (
	"context"
	"errors"
)

// Parts are what Open needs.
type Parts struct {
	Dir   string // anywhere in the user's repository
	State string // a directory of colony's for this repository; made when it is not there
	Run   string // id of the run
	Git   string // the git to run; empty is the one in PATH
}

// Repo is one run on one repository. It is safe for concurrent use.
type Repo struct{}

// Open finds the user's repository and reads it; it changes nothing.
// It returns ErrNoRepository, ErrEmpty, a *BranchError, a *NameError or an *UnsupportedError.
func Open(ctx context.Context, p Parts) (*Repo, error) { return nil, errors.New("not built yet") }

// Root is the top of the user's checkout.
func (r *Repo) Root() string { return "" }

// Branch is the full name of the run's branch.
func (r *Repo) Branch() string { return "" }

// KeptRef is the full name of the ref that keeps a task's work.
func (r *Repo) KeptRef(task string) string { return "" }

// Readable are the directories that git in a worktree has to read: the state repository and the user's objects.
func (r *Repo) Readable() []string { return nil }

// Identity is who authors commits.
type Identity struct{ Name, Email string }

// User is the identity in the user's git configuration, else colony's.
func (r *Repo) User() Identity { return Identity{} }

// Resolve is the commit that a person's word for it names in the user's repository.
func (r *Repo) Resolve(ctx context.Context, rev string) (string, error) { return "", nil }

// Dirty are the paths with uncommitted changes in the user's checkout, untracked ones included.
func (r *Repo) Dirty(ctx context.Context) ([]string, error) { return nil, nil }

// Start makes the state repository, pins the base and creates the run's branch there.
// A run that has a branch is a *RunExistsError.
func (r *Repo) Start(ctx context.Context, base string) error { return nil }

// Tree is the tree of a commit.
func (r *Repo) Tree(ctx context.Context, commit string) (string, error) { return "", nil }

// Files are the paths that differ between two commits or trees.
func (r *Repo) Files(ctx context.Context, from, to string) ([]string, error) { return nil, nil }

// File is a file of a commit; false where there is none.
func (r *Repo) File(ctx context.Context, commit, path string) ([]byte, bool, error) {
	return nil, false, nil
}

// Worktree makes a new worktree of the run at a commit. The name is new in this run.
func (r *Repo) Worktree(ctx context.Context, name, commit string) (*Tree, error) { return nil, nil }

// Tree is an ant's worktree. Its methods do not run beside each other.
type Tree struct {
	Dir    string // absolute
	GitDir string // what git needs of it, outside Dir
	Base   string // the commit it began at
}

// Message is a commit message with its trailers.
type Message struct {
	Subject, Body string
	Trailers      [][2]string
}

// Commit is work that was recorded. Refused are paths left out of it: repositories inside the worktree.
type Commit struct {
	SHA, Tree string
	Files     []string
	Refused   []string
	Empty     bool // nothing changed: SHA and Tree are the base's
}

// Commit records everything in the worktree that is not ignored. It returns a *FilterError where a changed
// file belongs to a filter.
func (t *Tree) Commit(ctx context.Context, m Message) (Commit, error) { return Commit{}, nil }

// Keep records everything in the worktree that is not ignored under a kept ref in the user's repository and
// returns the commit; it is empty where there is nothing beyond the base.
func (t *Tree) Keep(ctx context.Context, ref string) (string, error) { return "", nil }

// Remove takes the worktree away. One that holds what no kept ref reaches, ignored files included, stays and
// is a *HeldError.
func (t *Tree) Remove(ctx context.Context) error { return nil }

// Candidate is a task's work as one commit on another. Empty says that it adds nothing there.
type Candidate struct {
	Commit, Tree, Onto string
	Files              []string
	Empty              bool
}

// Conflict is why two commits do not join. Commit holds what git could join, with markers in Files, and has
// the one it should land on as its parent: it is where the rework begins.
type Conflict struct {
	Files  []string
	Commit string
}

// Stage puts all that commit has and onto has not on top of onto, as one commit with the same message.
// No worktree is touched.
func (r *Repo) Stage(ctx context.Context, onto, commit string) (Candidate, *Conflict, error) {
	return Candidate{}, nil, nil
}

// Checkout is a commit on disk in a private directory, for gates. Remove deletes it, whatever it holds.
type Checkout struct {
	Dir, Tree string
	Remove    func() error
}

// Checkout makes a private worktree of a commit.
func (r *Repo) Checkout(ctx context.Context, commit string) (Checkout, error) {
	return Checkout{}, nil
}

// Advance moves the run's branch in the user's repository from old to new if it still is at old.
func (r *Repo) Advance(ctx context.Context, ref, old, new string) (moved bool, err error) {
	return false, nil
}

// Keep pins a commit under a kept ref in the user's repository.
func (r *Repo) Keep(ctx context.Context, ref, commit string) error { return nil }

// Close removes the worktrees of the run that hold nothing of their own and returns those it left.
func (r *Repo) Close(ctx context.Context) (held []string, err error) { return nil, nil }
