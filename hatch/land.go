package hatch

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"colony/event"
	"colony/guard/sandbox"
	"colony/guard/secrets"
	"colony/plan"
	"colony/repo"
	"colony/tools"

	"github.com/hashicorp/go-hclog"
)

// Landing is what came of taking a run over into a branch of the user's. Outcome is landed, empty (the branch has all of
// it), conflict, gate or stale (the branch did not stand still).
type Landing struct {
	Run      string              `json:"run"`
	Into     string              `json:"into"`
	Onto     string              `json:"onto"` // where the branch was
	Commit   string              `json:"commit"`
	Outcome  string              `json:"outcome"`
	Files    []string            `json:"files"` // that changed, or do not join
	Rebased  bool                `json:"rebased"`
	Gates    []event.GateReceipt `json:"gates"` // as they ran on the result; none where the run's own still hold
	Checkout string              `json:"checkout"`
	Output   string              `json:"output"` // of the gate that is red
}

// Land is how a run is taken over.
type Land struct {
	Into        string // a branch; empty: the one that the run began on
	Getenv      func(string) string
	Now         func() time.Time
	Diagnostics hclog.Logger
}

// takes is how often a landing is tried again on a branch that moves under it.
const takes = 3

// Land takes what a run landed over into a branch of the user's. Where the branch has moved, the work is put on top of it
// and its gates run again on the result. Nothing is forced: what does not join, or is red, leaves the branch as it is.
func (h *House) Land(ctx context.Context, past Past, l Land) (Landing, error) {
	if err := past.Over(); err != nil {
		return Landing{}, err
	}
	s, err := past.story(ctx)
	if err != nil {
		return Landing{}, err
	}
	c := &Colony{parts: Parts{House: h, Getenv: l.Getenv, Now: l.Now, Diagnostics: l.Diagnostics}, run: past.ID, secrets: secrets.New(h.private...)}
	if c.settings, err = past.settingsThen(s); err != nil {
		return Landing{}, err
	}
	if c.repo, err = h.repoOf(ctx, past, c.setup()); err != nil {
		return Landing{}, err
	}
	if c.blobs, err = tools.NewBlobs(filepath.Join(past.Dir, "blobs")); err != nil {
		return Landing{}, err
	}
	if l.Into == "" {
		l.Into = s.started.On
	}
	base, err := h.first(ctx, s)
	if err != nil {
		return Landing{}, err
	}
	head, err := c.repo.Resolve(ctx, c.repo.Branch())
	if err != nil {
		return Landing{}, &Problem{Exit: 2, Code: "no_commit", Message: fmt.Sprintf("the run %s has no branch any more", past.ID), Next: "colony status lists the runs"}
	}
	if head == s.started.Base {
		return Landing{}, &Problem{Exit: 3, Code: "nothing_landed", Message: fmt.Sprintf("nothing has landed in the run %s", past.ID), Next: "colony status " + past.ID + " says why"}
	}
	c.gates = c.settings.run.Gates
	gates, err := past.gatesThen(s)
	if err != nil {
		return Landing{}, err
	}
	landing, err := c.take(ctx, takeover{into: l.Into, base: base, head: head, gates: gates, ready: c.prepareFor})
	if c.box != nil {
		c.box.Close()
	}
	_, closed := c.repo.Close(context.WithoutCancel(ctx))
	return landing, errors.Join(err, closed)
}

// takeover is work that is to go into a branch of the user's.
type takeover struct {
	into, base, head string
	gates            []plan.Gate                         // of its tasks
	ready            func(context.Context, string) error // makes ready what checkouts of a commit need
}

// prepareFor makes ready what gates need on a commit, as a run that begins there would.
func (c *Colony) prepareFor(ctx context.Context, commit string) (err error) {
	c.base = commit
	level := c.settings.sandbox.Level
	if now, err := readSettings(c.parts.Settings); err == nil {
		level = now.sandbox.Level // it is for the user to say, now
	}
	if c.box != nil { // the branch moved again
		c.box.Close()
	}
	c.box, err = sandbox.New(ctx, sandbox.Parts{Level: level, Home: c.parts.Getenv("HOME"), State: c.parts.State, Config: c.parts.Config})
	if err != nil {
		return sandboxProblem(err)
	}
	return c.outfit(ctx)
}

// take carries a takeover out.
func (c *Colony) take(ctx context.Context, t takeover) (Landing, error) {
	out := Landing{Run: c.run, Into: t.into, Outcome: "stale", Files: []string{}, Gates: []event.GateReceipt{}}
	if t.into == "" {
		return out, &Problem{Exit: 2, Code: "no_branch", Message: "the run began on no branch", Next: "name one with --into BRANCH"}
	}
	for range takes {
		target, err := c.repo.Target(ctx, t.into)
		if err == nil {
			err = c.repo.Ready(ctx, target)
		}
		if err != nil {
			return out, repoProblem(err)
		}
		out.Into, out.Onto, out.Checkout = target.Branch, target.Head, target.Dir
		work, conflict, err := c.repo.Rebase(ctx, target.Head, t.base, t.head)
		if err != nil {
			return out, err
		}
		if conflict != nil {
			out.Outcome, out.Files = "conflict", conflict.Files
			return out, nil
		}
		out.Commit, out.Rebased, out.Files = work.Commit, work.Moved, append([]string{}, work.Files...)
		if work.Commit == target.Head {
			out.Outcome = "empty"
			return out, nil
		}
		if work.Moved {
			red, err := c.retake(ctx, &out, t, work, target)
			if err != nil || red {
				return out, err
			}
		}
		moved, err := c.repo.Take(ctx, target, work.Commit)
		if err != nil {
			return out, repoProblem(err)
		}
		if moved {
			out.Outcome = "landed"
			return out, nil
		}
	}
	return out, nil
}

// retake runs the gates again on what was written anew. A gate of the repository that is red on the branch already holds
// nothing back.
func (c *Colony) retake(ctx context.Context, out *Landing, t takeover, work repo.Rebased, target repo.Target) (red bool, err error) {
	if err := t.ready(ctx, target.Head); err != nil {
		return false, err
	}
	out.Gates = []event.GateReceipt{}
	for i, g := range distinct(c.gates, t.gates) {
		receipt, output, err := c.gateOn(ctx, work.Commit, g)
		if err != nil {
			return false, err
		}
		receipt.Tree = work.Tree
		if receipt.Exit != 0 && i < len(c.gates) {
			before, _, err := c.gateOn(ctx, target.Head, g)
			if err != nil {
				return false, err
			}
			receipt.Red = before.Exit != 0
		}
		out.Gates = append(out.Gates, receipt)
		if receipt.Exit != 0 && !receipt.Red {
			out.Outcome, out.Output = "gate", c.shown(string(output))
			return true, nil
		}
	}
	return false, nil
}

// distinct is both lists without what comes again, those of the repository first.
func distinct(ours, theirs []plan.Gate) []plan.Gate {
	type key struct{ run, dir string }
	seen := map[key]bool{}
	var out []plan.Gate
	for _, g := range append(append([]plan.Gate{}, ours...), theirs...) {
		if !seen[key{g.Run, g.Dir}] {
			seen[key{g.Run, g.Dir}] = true
			out = append(out, g)
		}
	}
	return out
}

func (c *Colony) gateOn(ctx context.Context, commit string, g plan.Gate) (receipt event.GateReceipt, output []byte, err error) {
	box, err := c.confine("gates")
	if err != nil {
		return receipt, nil, err
	}
	out, err := c.repo.Checkout(ctx, commit)
	if err != nil {
		return receipt, nil, err
	}
	defer func() { err = errors.Join(err, out.Remove()) }()
	return c.gate(ctx, box.in(out.Dir, ""), out.Dir, g)
}

// deliver takes a run that has landed whole over into the branch that was named for it. What it came to is in the log.
func (c *Colony) deliver(ctx context.Context, head string) (why string, err error) {
	if c.parts.Land == "" || head == c.base {
		return "", nil
	}
	t := takeover{into: c.parts.Land, base: c.firstBase, head: head, ready: func(context.Context, string) error { return nil }}
	for _, task := range c.parts.Plan.Tasks {
		t.gates = append(t.gates, append(plainGates(c.cards[task.Card].Gates), task.Gates...)...)
	}
	into := event.LandingStarted{Into: t.into, Commit: head}
	if _, err := c.log.Append(ctx, event.Event{Run: c.run, Body: into}); err != nil {
		return "", err
	}
	landing, err := c.take(ctx, t)
	var problem *Problem
	if errors.As(err, &problem) {
		return fmt.Sprintf("land: %s: %s", problem.Message, problem.Next), nil
	}
	if err != nil {
		return "", err
	}
	done := event.LandingDone{Into: landing.Into, Onto: landing.Onto, Commit: landing.Commit, Outcome: landing.Outcome, Files: landing.Files}
	if _, err := c.log.Append(ctx, event.Event{Run: c.run, Body: done}); err != nil {
		return "", err
	}
	return landing.Refused(), nil
}

// Refused says why the branch was left as it was; empty where it has the work.
func (l Landing) Refused() string {
	switch l.Outcome {
	case "conflict":
		return fmt.Sprintf("land: %s has moved, and %s do not join", l.Into, strings.Join(l.Files, ", "))
	case "gate":
		g := l.Gates[len(l.Gates)-1]
		return fmt.Sprintf("land: %s has moved, and on top of it the gate %q ends with %d", l.Into, g.Command, g.Exit)
	case "stale":
		return fmt.Sprintf("land: %s moved again and again", l.Into)
	}
	return ""
}
