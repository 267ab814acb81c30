package repo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

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
// No worktree is touched. Work that still has markers of an earlier conflict is a Conflict.
func (r *Repo) Stage(ctx context.Context, onto, commit string) (Candidate, *Conflict, error) {
	c, conflict, err := r.stage(ctx, onto, commit)
	if err != nil {
		return Candidate{}, nil, fmt.Errorf("stage %s on %s: %w", commit, onto, err)
	}
	return c, conflict, nil
}

func (r *Repo) stage(ctx context.Context, onto, commit string) (Candidate, *Conflict, error) {
	objects, err := r.commits(ctx, onto, commit)
	if err != nil {
		return Candidate{}, nil, err
	}
	target, work := objects[0], objects[1]
	c := Candidate{Commit: commit, Tree: work.tree, Onto: onto}
	if len(work.parents) != 1 || work.parents[0] != onto {
		var files []string
		if c.Tree, files, err = r.join(ctx, onto, commit); err != nil {
			return Candidate{}, nil, err
		}
		work.tree, work.parents = c.Tree, []string{onto}
		work.committer = work.author
		if len(files) > 0 {
			r.conflicted.Store(true)
			work.text = "colony: work that does not join yet\n"
			at, err := r.write(work)
			return Candidate{}, &Conflict{Files: files, Commit: at}, err
		}
		if c.Commit, err = r.write(work); err != nil {
			return Candidate{}, nil, err
		}
	}
	if c.Empty = c.Tree == target.tree; c.Empty {
		return c, nil, nil
	}
	if c.Files, err = r.Files(ctx, target.tree, c.Tree); err != nil {
		return Candidate{}, nil, err
	}
	if c.Commit == commit {
		return c, nil, nil
	}
	marked, err := r.marked(ctx, c)
	if err != nil || len(marked) > 0 {
		return Candidate{}, &Conflict{Files: marked, Commit: c.Commit}, err
	}
	return c, nil, nil
}

// join is the tree of both commits, and the files in which it has markers.
func (r *Repo) join(ctx context.Context, onto, commit string) (tree string, files []string, err error) {
	out, err := r.own.run(ctx, nil, "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", onto, commit)
	parts := fields(out)
	if code := exitCode(err); code < 0 || code > 1 || len(parts) == 0 {
		return "", nil, err
	}
	return parts[0], parts[1:], checkID(parts[0])
}

// markers are the lines that join leaves in a file: git names the two commits by their full ids.
const markers = `^(<<<<<<<|>>>>>>>) ([0-9a-f]{40}|[0-9a-f]{64})$`

// grepped is how many paths one git is told: so many of the longest fit in its arguments.
const grepped = 250

// marked are files of a candidate with markers that join left there. Where no conflict was handed out there are none.
func (r *Repo) marked(ctx context.Context, c Candidate) ([]string, error) {
	if !r.conflicted.Load() {
		return nil, nil
	}
	var files []string
	for some := range slices.Chunk(c.Files, grepped) {
		out, err := r.own.run(ctx, nil, append([]string{"--literal-pathspecs", "grep", "-l", "-z", "-a", "-E", "-e", markers, c.Tree, "--"}, some...)...)
		if exitCode(err) == 1 {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, f := range fields(out) {
			_, path, _ := strings.Cut(f, ":")
			files = append(files, path)
		}
	}
	return files, nil
}

// Checkout is a commit on disk in a private directory, for gates. Remove deletes it, whatever it holds.
type Checkout struct {
	Dir, Tree string
	Remove    func() error
}

// Checkout makes a private worktree of a commit. Its path is one of few, so that what tools cache by path
// is found again.
func (r *Repo) Checkout(ctx context.Context, commit string) (Checkout, error) {
	if err := checkID(commit); err != nil {
		return Checkout{}, err
	}
	if _, err := r.kit(ctx, commit, true); err != nil { // in a checkout of its own, before this one takes its place
		return Checkout{}, err
	}
	out, t, err := r.checkout(ctx, commit)
	if err != nil {
		return Checkout{}, err
	}
	if err := t.furnish(ctx, true); err != nil {
		return Checkout{}, errors.Join(fmt.Errorf("check out %s: %w", commit, err), out.Remove())
	}
	return out, nil
}

// checkout is Checkout without what setup makes.
func (r *Repo) checkout(ctx context.Context, commit string) (Checkout, *Tree, error) {
	name, unlock, err := r.slot()
	if err != nil {
		return Checkout{}, nil, fmt.Errorf("check out %s: %w", commit, err)
	}
	t := r.tree(name, filepath.Join(r.state, "gates", name), "@gates."+name, commit)
	remove := func() error { return errors.Join(t.erase(), unlock()) }
	done := func() error {
		if r.recycle(context.WithoutCancel(ctx), t) {
			return unlock()
		}
		return remove()
	}
	tree, err := r.Tree(ctx, commit)
	if err == nil {
		err = errors.Join(t.erase(), r.fill(ctx, t))
	}
	if err != nil {
		return Checkout{}, nil, errors.Join(fmt.Errorf("check out %s: %w", commit, err), remove())
	}
	return Checkout{Dir: t.Dir, Tree: tree, Remove: done}, t, nil
}

// fill makes a worktree in its place, from a spare where there is one.
func (r *Repo) fill(ctx context.Context, t *Tree) error {
	raw, err := r.spared(ctx, t.Base)
	if err != nil || raw == nil {
		return cmp.Or(err, t.make(ctx))
	}
	if err := raw.become(t); err != nil {
		return errors.Join(err, raw.erase())
	}
	return nil
}

// slots bounds how many checkouts stand at once, over all runs of a repository.
const slots = 256

// slot takes the lowest free number, over all processes. Its lock goes with the process.
func (r *Repo) slot() (name string, unlock func() error, err error) {
	if err := os.MkdirAll(filepath.Join(r.state, "gates"), 0o700); err != nil {
		return "", nil, err
	}
	for i := 1; i <= slots; i++ {
		name := strconv.Itoa(i)
		unlock, free, err := r.lock(name)
		if err != nil {
			return "", nil, err
		}
		if free {
			return name, unlock, nil
		}
	}
	return "", nil, fmt.Errorf("%d checkouts stand already", slots)
}

// lock takes a slot, if no other has it.
func (r *Repo) lock(name string) (unlock func() error, free bool, err error) {
	f, err := os.OpenFile(filepath.Join(r.state, "gates", name+".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, false, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return f.Close, true, nil
	}
	f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = nil
	}
	return nil, false, err
}
