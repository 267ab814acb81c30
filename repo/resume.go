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
)

// Resume is Start for a run that has a branch already. It returns the commits that the branch has beyond head, oldest
// first, each before its task: landings that colony made and was killed before it could say so. A branch that is gone, or
// that somebody else moved, is a *MovedError.
func (r *Repo) Resume(ctx context.Context, base, head string) (landed [][2]string, err error) {
	if err := checkID(head); err != nil {
		return nil, err
	}
	if err := r.Prepare(ctx, base); err != nil {
		return nil, err
	}
	r.conflicted.Store(true) // before this process
	r.pool.fix()
	var at string
	at, err = r.at(ctx, r.Branch())
	if err != nil {
		return nil, err
	}
	if at == "" {
		return nil, r.elsewhere(ctx, base, head)
	}
	if at == head {
		return nil, nil
	}
	out, err := r.own.run(ctx, nil, "log", "--reverse", "--first-parent", "--format=%H %(trailers:key=Colony-Run,valueonly,separator=%x2C) %(trailers:key=Colony-Task,valueonly,separator=%x2C)",
		"--end-of-options", head+".."+at)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", r.Branch(), err)
	}
	return r.landings(string(out))
}

// elsewhere makes the branch where the run's state came to another clone of the repository: nothing of the run is there.
// Where only the branch is gone, somebody removed it.
func (r *Repo) elsewhere(ctx context.Context, base, head string) error {
	gone := &MovedError{Branch: r.Branch(), Why: "is gone"}
	pin, err := r.at(ctx, r.baseRef())
	if err != nil || pin != "" {
		return cmp.Or(err, error(gone))
	}
	if _, err := r.own.run(ctx, nil, "cat-file", "-e", head+"^{commit}"); err != nil {
		return gone
	}
	if err := r.ship(ctx, head, base); err != nil {
		return fmt.Errorf("bring %s here: %w", r.Branch(), err)
	}
	return r.create(ctx, base, head)
}

func (r *Repo) landings(log string) ([][2]string, error) {
	var found [][2]string
	for line := range strings.Lines(log) {
		words := strings.Fields(line)
		if len(words) != 3 || words[1] != r.run {
			return nil, &MovedError{Branch: r.Branch(), Why: "has commits that are not colony's"}
		}
		found = append(found, [2]string{words[0], words[2]})
	}
	if len(found) == 0 {
		return nil, &MovedError{Branch: r.Branch(), Why: "was set back"}
	}
	return found, nil
}

// MovedError is a run's branch that is not where colony left it.
type MovedError struct{ Branch, Why string }

func (e *MovedError) Error() string {
	return fmt.Sprintf("the branch %s %s: start a new run instead", strings.TrimPrefix(e.Branch, "refs/heads/"), e.Why)
}

// Rescue keeps what the worktrees of dead ants hold, each under the kept ref of its name, and removes those that hold
// nothing else; those of which keep is true are left alone. It returns the
// commit that keeps each, by the worktree's name. No other process is at work on the run.
func (r *Repo) Rescue(ctx context.Context, keep func(name string) bool) (map[string]string, error) {
	entries, err := os.ReadDir(filepath.Join(r.state, "wt", r.run))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for worktrees of %s: %w", r.run, err)
	}
	kept := map[string]string{}
	for _, e := range entries {
		if keep(e.Name()) {
			continue
		}
		if strings.HasPrefix(e.Name(), spareMark) {
			if err := r.tree(e.Name(), r.Place(e.Name()), r.run+"."+e.Name(), "").erase(); err != nil {
				return kept, err
			}
			continue
		}
		t := r.tree(e.Name(), r.Place(e.Name()), r.run+"."+e.Name(), "")
		out, err := t.git.run(ctx, nil, "rev-parse", "--verify", "HEAD")
		if err != nil {
			continue // it was never made whole
		}
		t.head = strings.TrimSpace(string(out))
		t.Base = t.head
		commit, err := t.Keep(ctx, r.KeptRef(e.Name()))
		if err != nil {
			return kept, err
		}
		if commit != "" {
			kept[e.Name()] = commit
		}
		var held *HeldError
		if err := t.Remove(ctx); err != nil && !errors.As(err, &held) {
			return kept, err
		}
	}
	return kept, nil
}
