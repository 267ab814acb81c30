package hatch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"colony/event"
	"colony/plan"
)

// judge compares the tree that a replay ended with to the run's.
func (r *replay) judge(ctx context.Context, now event.RunFinished) (trees [2]string, difference string, err error) {
	var lost, gone error
	trees[0], lost = r.theirs.Tree(ctx, r.then.finished.Commit)
	trees[1], gone = r.repo.Tree(ctx, now.Commit)
	if err := errors.Join(lost, gone); err != nil || trees[0] == trees[1] {
		return trees, "", err
	}
	again, err := recall(r.Log().Read(ctx, 0))
	if err != nil {
		return trees, "", err
	}
	difference = cmp.Or(r.then.otherCall(r.history.Plan, again), otherEnd(r.then.finished.Tasks, now.Tasks))
	if difference == "" {
		difference, err = r.otherFile(ctx, now.Commit)
	}
	return trees, difference, err
}

// otherCall is the first call, in the order of the plan, that came to something else.
func (r *recording) otherCall(p plan.Plan, again *recording) string {
	for _, id := range p.Order() {
		for _, of := range r.at(id) {
			then, now := r.calls[of], again.calls[of]
			for i := range max(len(then), len(now)) {
				was, is := result(then, i), result(now, i)
				if was != is {
					return fmt.Sprintf("task %s, call %d of the %s: %s then, %s now", id, i+1, of[1], was, is)
				}
			}
		}
	}
	return ""
}

// at are the cards that worked at a task.
func (r *recording) at(task string) (all [][2]string) {
	for of := range r.calls {
		if of[0] == task {
			all = append(all, of)
		}
	}
	slices.SortFunc(all, func(a, b [2]string) int { return cmp.Compare(a[1], b[1]) })
	return all
}

// result is a call in words.
func result(calls []called, i int) string {
	if i >= len(calls) {
		return "none"
	}
	return calls[i].tool + ": " + calls[i].end
}

// otherEnd is the first task that ended otherwise.
func otherEnd(then, now []event.TaskReport) string {
	for i, t := range then {
		if i < len(now) && (t.Status != now[i].Status || t.Reason != now[i].Reason) {
			return fmt.Sprintf("task %s: %s then, %s now", t.ID, withWhy(t.Status, t.Reason), withWhy(now[i].Status, now[i].Reason))
		}
	}
	return ""
}

// otherFile is the first file that is not as it was then.
func (r *replay) otherFile(ctx context.Context, now string) (string, error) {
	base, then := r.history.Started.Base, r.then.finished.Commit
	was, err := r.theirs.Files(ctx, base, then)
	if err != nil {
		return "", err
	}
	is, err := r.repo.Files(ctx, base, now)
	if err != nil {
		return "", err
	}
	all := append(was, is...)
	slices.Sort(all)
	for _, path := range slices.Compact(all) {
		a, there, err := r.theirs.File(ctx, then, path)
		if err != nil {
			return "", err
		}
		b, here, err := r.repo.File(ctx, now, path)
		if err != nil {
			return "", err
		}
		if there != here || !bytes.Equal(a, b) {
			return "the file " + path + " is not as it was", nil
		}
	}
	return "the trees differ, and no file that can be compared does", nil
}
