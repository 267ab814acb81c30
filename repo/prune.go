package repo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// cleanWork lets go of what the ants of a run that has ended committed, where their worktrees are gone: of commits that have
// landed, and of those that a ref of the user's repository reaches. All else stays and is named.
func (r *Repo) cleanWork(ctx context.Context, landed func(string) bool) ([]Thing, error) {
	if _, err := os.Lstat(r.gitDir()); err != nil {
		return nil, nil
	}
	prefix := "refs/colony/" + r.run + "/work/"
	out, err := r.own.run(ctx, nil, "for-each-ref", "--format=%(refname) %(objectname)", "--", prefix)
	if err != nil {
		return nil, err
	}
	var things []Thing
	for line := range strings.Lines(string(out)) {
		ref, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		name := strings.TrimPrefix(ref, prefix)
		if _, err := os.Lstat(r.Place(name)); err == nil {
			continue // it goes with its worktree
		}
		safe := landed(id)
		if !safe {
			if safe, err = r.reachable(ctx, id, "refs/heads", "refs/tags", "refs/remotes", "refs/colony"); err != nil {
				return things, err
			}
		}
		thing := Thing{Kind: "ref", Name: ref}
		if !safe {
			thing.Why = fmt.Sprintf("its commit has not landed: git --git-dir=%s show %s", r.gitDir(), id)
		} else if err := r.tree(name, r.Place(name), r.run+"."+name, "").release(ctx); err != nil {
			return things, err
		}
		things = append(things, thing)
	}
	return things, nil
}

// prune deletes objects of the state repository that are older than before and that nothing needs: no ref there, no head and
// no index of a worktree. It is left for later where a run is at work.
func (r *Repo) prune(ctx context.Context, before time.Time) (_ []Thing, err error) {
	thing := Thing{Kind: "objects", Name: filepath.Join(r.gitDir(), "objects")}
	if _, err := os.Lstat(thing.Name); err != nil {
		return nil, nil
	}
	let, err := r.lease.alone()
	if err != nil {
		return nil, fmt.Errorf("prune %s: %w", thing.Name, err)
	}
	if let == nil {
		thing.Why = "a run is at work"
		return []Thing{thing}, nil
	}
	defer func() { err = errors.Join(err, let()) }()
	expire := fmt.Sprintf("--expire=@%d +0000", before.Unix())
	out, err := r.own.run(ctx, nil, "prune", "--dry-run", expire)
	if exitCode(err) > 0 { // something that is needed is gone from the user's repository: then nothing is sure
		thing.Why = "git cannot read them: " + oneLine(errText(err))
		return []Thing{thing}, nil
	}
	n := strings.Count(string(out), "\n")
	if err != nil || n == 0 {
		return nil, err
	}
	if _, err := r.own.run(ctx, nil, "prune", expire); err != nil {
		return nil, err
	}
	thing.Name = fmt.Sprintf("%s: %d that nothing needs", thing.Name, n)
	return []Thing{thing}, nil
}
