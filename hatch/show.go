package hatch

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"colony/event"
	"colony/repo"
)

// Shown is what a run, or one task of it, changed.
type Shown struct {
	Run   string         `json:"run"`
	Task  string         `json:"task,omitempty"`
	State string         `json:"state"` // landed, or kept: work that did not land
	From  string         `json:"from"`
	To    string         `json:"to"`
	Files []repo.Changed `json:"files"`
	Diff  string         `json:"diff"` // as git shows it
}

// Show is what differs between the base of a run and its branch; or what one task landed, or left unlanded.
func (h *House) Show(ctx context.Context, past Past, task string) (Shown, error) {
	s, err := past.story(ctx)
	if err != nil {
		return Shown{}, err
	}
	r, err := h.repoOf(ctx, past, repo.Setup{})
	if err != nil {
		return Shown{}, err
	}
	out := Shown{Run: past.ID, Task: task, State: "landed", From: s.started.Base, Files: []repo.Changed{}}
	gone := &Problem{Exit: 2, Code: "no_commit", Message: fmt.Sprintf("the work of %s is not in this repository any more", strings.TrimSpace(past.ID+" "+task)), Next: "colony status lists the runs"}
	if task == "" {
		if out.To, err = r.Resolve(ctx, r.Branch()); err != nil && s.finished != nil {
			out.To, err = r.Resolve(ctx, s.finished.Commit)
		}
	} else {
		err = s.find(ctx, r, task, &out)
	}
	if err != nil || out.From == "" {
		if p, ok := err.(*Problem); ok {
			return out, p
		}
		return out, gone
	}
	text, files, err := r.Diff(ctx, out.From, out.To)
	if err != nil {
		return out, err
	}
	out.Diff, out.Files = string(text), append(out.Files, files...)
	return out, nil
}

// find says between which commits a task's work lies.
func (s story) find(ctx context.Context, r *repo.Repo, task string, out *Shown) (err error) {
	if !s.has(task) {
		return &Problem{Exit: 2, Code: "no_task", Message: fmt.Sprintf("the run %s has no task %q", out.Run, task), Next: "colony status " + out.Run + " lists its tasks"}
	}
	d := s.done[task]
	switch {
	case d.Status == "landed":
		if out.To, err = r.Resolve(ctx, d.Commit); err == nil {
			out.From, err = r.Resolve(ctx, d.Commit+"^")
		}
		return err
	case d.Kept != "":
		out.State = "kept"
		if out.To, err = r.Resolve(ctx, d.Kept); err != nil {
			return err
		}
		branch, err := r.Resolve(ctx, r.Branch())
		if err != nil {
			branch = s.started.Base
		}
		out.From, err = r.Fork(ctx, branch, out.To)
		return err
	}
	return &Problem{Exit: 3, Code: "no_work", Message: fmt.Sprintf("the task %s has no work to show: it is %s", task, withWhy(d.Status, d.Reason)), Next: "colony log " + out.Run + " --task " + task}
}

// has reports whether the run has such a task.
func (s story) has(task string) bool {
	return slices.ContainsFunc(s.tasks, func(t event.PlanTask) bool { return t.ID == task })
}

// HasTask reports whether the run has a task of this name.
func (p Past) HasTask(ctx context.Context, task string) bool {
	s, err := p.story(ctx)
	return err == nil && s.has(task)
}
