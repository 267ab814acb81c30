package repo

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Rebased is a run's work on top of a commit. Moved says that it had to be written anew, so that nothing has verified it
// there yet.
type Rebased struct {
	Commit, Tree string
	Files        []string // that differ from the commit it is on
	Moved        bool
}

// Rebase puts the commits from base to head on top of onto, one by one, with their messages. Where onto has all of them
// the commit is onto itself. The files that do not join are the conflict; no ref moves.
func (r *Repo) Rebase(ctx context.Context, onto, base, head string) (Rebased, *Conflict, error) {
	done, conflict, err := r.rebase(ctx, onto, base, head)
	if err != nil {
		return Rebased{}, nil, fmt.Errorf("rebase %s on %s: %w", head, onto, err)
	}
	return done, conflict, nil
}

func (r *Repo) rebase(ctx context.Context, onto, base, head string) (Rebased, *Conflict, error) {
	if err := checkID(onto, base, head); err != nil {
		return Rebased{}, nil, err
	}
	done := Rebased{Commit: head}
	over, err := r.reaches(ctx, head, onto)
	if err == nil && over {
		over, err = r.goesAlong(ctx, onto, base)
	}
	if err != nil {
		return Rebased{}, nil, err
	}
	if !over {
		var conflict *Conflict
		if done.Commit, conflict, err = r.pickAll(ctx, onto, base, head); err != nil || conflict != nil {
			return Rebased{}, conflict, err
		}
		done.Moved = done.Commit != onto
	}
	if done.Tree, err = r.Tree(ctx, done.Commit); err != nil {
		return Rebased{}, nil, err
	}
	done.Files, err = r.Files(ctx, onto, done.Commit)
	return done, nil, err
}

// goesAlong reports whether a commit may come to have all of a run's history: not where that begins with files that were
// not committed, which are their owner's to commit.
func (r *Repo) goesAlong(ctx context.Context, onto, base string) (bool, error) {
	taken, err := r.taken(ctx, base)
	if err != nil || !taken {
		return err == nil, err
	}
	return r.reaches(ctx, onto, base)
}

// reaches reports whether a commit has another among its ancestors, or is it.
func (r *Repo) reaches(ctx context.Context, from, commit string) (bool, error) {
	_, err := r.own.run(ctx, nil, "merge-base", "--is-ancestor", commit, from)
	if exitCode(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

func (r *Repo) pickAll(ctx context.Context, onto, base, head string) (string, *Conflict, error) {
	if there, err := r.reaches(ctx, onto, head); err != nil || there {
		return onto, nil, err
	}
	out, err := r.own.run(ctx, nil, "rev-list", "--reverse", "--first-parent", head, "^"+base)
	if err != nil {
		return "", nil, err
	}
	at := onto
	for _, id := range strings.Fields(string(out)) {
		var conflict *Conflict
		if at, conflict, err = r.pick(ctx, at, id); err != nil || conflict != nil {
			return "", conflict, err
		}
	}
	return at, nil, nil
}

// pick puts what one commit changed on top of another; where that is there already it is the other.
func (r *Repo) pick(ctx context.Context, onto, commit string) (string, *Conflict, error) {
	objects, err := r.commits(ctx, onto, commit)
	if err != nil {
		return "", nil, err
	}
	target, work := objects[0], objects[1]
	if len(work.parents) != 1 {
		return "", nil, fmt.Errorf("%s is a merge", commit)
	}
	// The target's tree, as if it had been made from the commit's parent: then that is what both have in common.
	by := r.User().signature(time.Now())
	beside, err := r.write(object{tree: target.tree, parents: work.parents, author: by, committer: by, text: "colony: where work is put\n"})
	if err != nil {
		return "", nil, err
	}
	tree, files, err := r.join(ctx, beside, commit)
	if err != nil {
		return "", nil, err
	}
	if len(files) > 0 {
		return "", &Conflict{Files: files, Commit: commit}, nil
	}
	if tree == target.tree {
		return onto, nil, nil
	}
	work.tree, work.parents, work.committer = tree, []string{onto}, by
	at, err := r.write(work)
	return at, nil, err
}
