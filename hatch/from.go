package hatch

import (
	"context"
	"fmt"
	"strings"

	"colony/event"
	"colony/view"
)

// From is a run that another goes on from: its branch is where the other begins, its plan and receipts are known there.
type From struct {
	past  Past
	story story
}

// From reads the run that a new one is to go on from. It must have ended.
func (h *House) From(ctx context.Context, past Past) (*From, error) {
	if err := past.Over(); err != nil {
		return nil, err
	}
	s, err := past.story(ctx)
	if err != nil {
		return nil, err
	}
	return &From{past, s}, nil
}

// Run is its id.
func (f *From) Run() string { return f.past.ID }

// Known says what the run did: each task with what came of it, the commit and the gates that passed on it.
func (f *From) Known() string {
	var b strings.Builder
	fmt.Fprintf(&b, "This run goes on from the run %s, whose work your worktree has. What is known of it:\n", f.past.ID)
	reports := map[string]event.TaskReport{}
	if f.story.finished != nil {
		for _, t := range f.story.finished.Tasks {
			reports[t.ID] = t
		}
	}
	for _, t := range f.story.tasks {
		d := f.story.done[t.ID]
		fmt.Fprintf(&b, "- %s (%s): %s", t.ID, view.Line(t.Title), withWhy(d.Status, d.Reason))
		if d.Commit != "" {
			fmt.Fprintf(&b, ", commit %s", d.Commit)
		}
		for _, g := range reports[t.ID].Receipt.Gates {
			if g.Exit == 0 {
				fmt.Fprintf(&b, ", `%s` passed", view.Line(g.Command))
			} else {
				fmt.Fprintf(&b, ", `%s` ended with %d", view.Line(g.Command), g.Exit)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func withWhy(status, reason string) string {
	switch {
	case status == "":
		return "not ended"
	case reason == "":
		return status
	}
	return status + " (" + view.Line(reason) + ")"
}

// goOn places the run on the branch of the one that it goes on from, and finds where the first of them began.
func (c *Colony) goOn(ctx context.Context) (err error) {
	c.firstBase = c.base
	if c.parts.From == nil {
		return nil
	}
	run := c.parts.From.Run()
	if c.base, err = c.repo.Resolve(ctx, "refs/heads/colony/"+run); err != nil {
		return &Problem{Exit: 2, Code: "no_commit", Message: fmt.Sprintf("the run %s has no branch any more", run), Next: "begin where its work is with --base"}
	}
	s := c.parts.From.story
	c.firstBase, err = c.parts.first(ctx, s)
	return err
}
