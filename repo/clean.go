package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"colony/failpoint"
)

// Thing is something of colony's that clean-up looked at.
type Thing struct {
	Kind string `json:"kind"` // worktree, ref, checkout, setup, objects
	Name string `json:"name"` // a path or a ref
	Why  string `json:"why"`  // it was kept; empty where it was removed
}

// Clean removes the worktrees and refs of a run that has ended, where all that they hold is reachable from refs of the
// user's own: from a branch but those of runs, a tag or a remote's. Landed says that a commit of an ant has landed, if
// under another id. The branch the run began on is also searched for the same changes under other ids. Everything that it
// leaves is named with the reason.
func (r *Repo) Clean(ctx context.Context, on string, landed func(commit string) bool) ([]Thing, error) {
	things, err := r.cleanTrees(ctx, landed)
	if err != nil {
		return things, fmt.Errorf("clean up the worktrees of %s: %w", r.run, err)
	}
	work, err := r.cleanWork(ctx, landed)
	things = append(things, work...)
	if err != nil {
		return things, fmt.Errorf("clean up the commits of %s: %w", r.run, err)
	}
	needed := slices.ContainsFunc(things, func(t Thing) bool { return t.Why != "" })
	refs, err := r.cleanRefs(ctx, on, needed)
	things = append(things, refs...)
	if err != nil {
		return things, fmt.Errorf("clean up the refs of %s: %w", r.run, err)
	}
	return things, os.RemoveAll(r.frozen())
}

func (r *Repo) cleanTrees(ctx context.Context, landed func(string) bool) ([]Thing, error) {
	home := filepath.Join(r.state, "wt", r.run)
	entries, err := os.ReadDir(home)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var things []Thing
	for _, e := range entries {
		t := r.tree(e.Name(), r.Place(e.Name()), r.run+"."+e.Name(), "")
		thing := Thing{Kind: "worktree", Name: t.Dir}
		if strings.HasPrefix(e.Name(), spareMark) { // no ant ever had it
			if things = append(things, thing); t.erase() != nil {
				return things, t.erase()
			}
			continue
		}
		if thing.Why, err = t.needed(ctx, landed); err != nil {
			return things, err
		}
		if thing.Why == "" {
			err = errors.Join(t.erase(), t.release(ctx))
		}
		if things = append(things, thing); err != nil {
			return things, err
		}
	}
	if err := os.Remove(home); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTEMPTY) {
		return things, err
	}
	return things, nil
}

// needed says why a worktree that another process left has to stay; empty where nothing would be lost.
func (t *Tree) needed(ctx context.Context, landed func(string) bool) (string, error) {
	head, err := os.ReadFile(filepath.Join(t.GitDir, "HEAD"))
	if errors.Is(err, fs.ErrNotExist) {
		return "git knows nothing of it", nil
	}
	if err != nil {
		return "", err
	}
	t.head = strings.TrimSpace(string(head))
	if checkID(t.head) != nil {
		return "its commit is not one of colony's", nil
	}
	if err := t.loadBrought(); err != nil {
		return "what colony brought there cannot be read: " + err.Error(), nil
	}
	var held *HeldError
	if err := t.holds(ctx); errors.As(err, &held) {
		return held.Why, nil
	} else if err != nil {
		return "git cannot read it: " + oneLine(err.Error()), nil
	}
	if landed(t.head) {
		return "", nil
	}
	kept, err := t.repo.reachable(ctx, t.head, "refs/heads", "refs/tags", "refs/remotes", "refs/colony")
	if err != nil || kept {
		return "", err
	}
	return "its commit " + t.head + " has not landed", nil
}

// release lets go of the ref that held the worktree's commit in the state repository.
func (t *Tree) release(ctx context.Context) error {
	_, err := t.repo.own.run(ctx, fmt.Appendf(nil, "delete refs/colony/%s/work/%s\n", t.repo.run, t.name), "update-ref", "--stdin")
	return err
}

// reachable reports whether a ref of the user's repository under one of the prefixes reaches a commit.
func (r *Repo) reachable(ctx context.Context, commit string, under ...string) (bool, error) {
	refs, err := r.holding(ctx, commit, under...)
	return len(refs) > 0, err
}

func (r *Repo) holding(ctx context.Context, commit string, under ...string) ([]string, error) {
	out, err := r.user.run(ctx, nil, append([]string{"for-each-ref", "--format=%(refname)", "--contains=" + commit, "--"}, under...)...)
	if exitCode(err) > 0 { // the user's repository does not have the commit
		return nil, nil
	}
	return strings.Fields(string(out)), err
}

// cleanRefs removes the run's branch, its kept refs and, with the last that needs it, the pin of its base.
func (r *Repo) cleanRefs(ctx context.Context, on string, needed bool) ([]Thing, error) {
	out, err := r.user.run(ctx, nil, "for-each-ref", "--format=%(refname) %(objectname)", "--", r.Branch(), r.KeptRef(""), r.baseRef())
	if err != nil {
		return nil, err
	}
	var things []Thing
	base, left := "", 0
	for line := range strings.Lines(string(out)) {
		ref, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		if ref == r.baseRef() {
			base = id
		}
	}
	for line := range strings.Lines(string(out)) {
		ref, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		if ref == r.baseRef() {
			continue
		}
		thing := Thing{Kind: "ref", Name: ref}
		if thing.Why, err = r.holdsWork(ctx, ref, id, base, on); err != nil {
			return things, err
		}
		if thing.Why == "" {
			var held *CheckoutError
			if err := r.drop(ctx, ref, id); errors.As(err, &held) {
				thing.Why = "another git holds " + held.Dir
			} else if err != nil {
				return things, err
			}
		}
		if thing.Why != "" {
			left++
		}
		things = append(things, thing)
	}
	if needed && base != "" {
		return append(things, Thing{Kind: "ref", Name: r.baseRef(), Why: "what is kept of the run rests on it"}), nil
	}
	if left == 0 && base != "" {
		things = append(things, Thing{Kind: "ref", Name: r.baseRef()})
		return things, r.drop(ctx, r.baseRef(), base)
	}
	return things, nil
}

func (r *Repo) drop(ctx context.Context, ref, id string) error {
	if err := failpoint.Hit("repo.drop.before"); err != nil {
		return err
	}
	locks := append(r.refLocks(ref), filepath.Join(r.found.common, "packed-refs.lock"))
	_, err := r.user.writing(locks...).run(ctx, fmt.Appendf(nil, "delete %s %s\n", ref, id), "update-ref", "--stdin")
	return errors.Join(err, failpoint.Hit("repo.drop.after"))
}

// holdsWork says what would be lost with a ref; empty where the user's own refs have all of it.
func (r *Repo) holdsWork(ctx context.Context, ref, id, base, on string) (string, error) {
	if at, err := r.holder(ctx, ref); err != nil || at != "" {
		return "it is checked out in " + at, err
	}
	if id == base {
		return "", nil
	}
	refs, err := r.holding(ctx, id, "refs/heads", "refs/tags", "refs/remotes")
	if err != nil {
		return "", err
	}
	for _, other := range refs {
		if !strings.HasPrefix(other, "refs/heads/colony/") {
			return "", nil
		}
	}
	if base != "" {
		same, err := r.same(ctx, id, base, on)
		if err != nil || same {
			return "", err
		}
	}
	if ref == r.Branch() {
		return "no branch of yours has it: colony land " + r.run, nil
	}
	return "it is work that has not landed: colony diff " + r.run + " " + filepath.Base(ref), nil
}

// same reports whether a branch has every change between base and a commit, under whatever ids.
func (r *Repo) same(ctx context.Context, commit, base, on string) (bool, error) {
	branch := "refs/heads/" + on
	at, err := r.at(ctx, branch)
	if err != nil || on == "" || at == "" {
		return false, err
	}
	merges, err := r.user.run(ctx, nil, "rev-list", "--merges", "--count", commit, "^"+base)
	if err != nil || strings.TrimSpace(string(merges)) != "0" {
		return false, err
	}
	out, err := r.user.run(ctx, nil, "rev-list", "--right-only", "--cherry-pick", "--count", at+"..."+commit, "^"+base)
	return strings.TrimSpace(string(out)) == "0", err
}

// CleanShared removes gate checkouts that no living process has, what setup left that was of no use since before, and, where
// no run is at work, objects of the state repository that are as old and that no ref and no worktree needs.
func (r *Repo) CleanShared(ctx context.Context, before time.Time) ([]Thing, error) {
	var things []Thing
	for i := 1; i <= slots; i++ {
		name := strconv.Itoa(i)
		t := r.tree(name, filepath.Join(r.state, "gates", name), "@gates."+name, "")
		if _, err := os.Lstat(t.Dir); err != nil {
			continue
		}
		unlock, free, err := r.lock(name)
		if err != nil {
			return things, err
		}
		thing := Thing{Kind: "checkout", Name: t.Dir}
		if !free {
			thing.Why = "a gate runs there"
		} else if err := errors.Join(t.erase(), unlock()); err != nil {
			return things, err
		}
		things = append(things, thing)
	}
	kits, err := os.ReadDir(filepath.Join(r.state, "setup"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return things, err
	}
	for _, k := range kits {
		info, err := k.Info()
		if err != nil || info.ModTime().After(before) {
			continue
		}
		dir := filepath.Join(r.state, "setup", k.Name())
		if err := RemoveAll(dir); err != nil {
			return things, err
		}
		things = append(things, Thing{Kind: "setup", Name: dir})
	}
	pruned, err := r.prune(ctx, before)
	return append(things, pruned...), err
}
