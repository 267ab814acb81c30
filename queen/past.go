package queen

import (
	"iter"
	"strconv"
	"strings"
	"time"

	"colony/event"
	"colony/plan"
)

// Past is what earlier processes did of a run that goes on: a fold over its log.
type Past struct {
	Started event.RunStarted
	Plan    plan.Plan
	Head    string                      // of the branch, as the log knows it
	Ended   map[string]event.TaskReport // tasks that landed or needed no change
	Kept    map[string]string           // the ref that keeps a task's work
	Over    bool                        // every task has ended well

	fence   int64
	names   map[string]int                 // ants by card
	advises map[string]bool                // commands of gates, red on the base and not yet passed on a tree of the branch
	landing map[string][]event.GateReceipt // by tree
	last    string                         // the last tree of them
}

// Recall folds the log of a run.
func Recall(events iter.Seq2[event.Event, error]) (*Past, error) {
	p := &Past{Ended: map[string]event.TaskReport{}, Kept: map[string]string{}, names: map[string]int{}, advises: map[string]bool{}, landing: map[string][]event.GateReceipt{}}
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		p.add(e)
	}
	p.Over = len(p.Plan.Tasks) > 0 && len(p.Ended) == len(p.Plan.Tasks)
	return p, nil
}

func (p *Past) add(e event.Event) {
	switch b := e.Body.(type) {
	case event.RunStarted:
		p.Started, p.Head = b, b.Base
	case event.RunResumed:
		p.Started.Caps, p.Started.Cards = b.Caps, b.Cards
	case event.PlanMade:
		p.Plan = planOf(p.Started.Goal, b)
	case event.PlanChanged:
		p.Plan = planOf(p.Started.Goal, event.PlanMade(b))
	case event.TaskClaimed:
		p.fence = max(p.fence, b.Token)
		p.named(e.Ant)
	case event.AntHatched:
		p.named(e.Ant)
	case event.GateDone:
		p.gate(b)
	case event.LandingDone:
		p.landed(e.Task, b)
	case event.TaskDone:
		p.done(e.Task, b)
	}
}

// named counts an ant of a card, which its name ends with.
func (p *Past) named(ant string) {
	if i := strings.LastIndexByte(ant, '-'); i > 0 {
		if n, err := strconv.Atoi(ant[i+1:]); err == nil {
			p.names[ant[:i]] = max(p.names[ant[:i]], n)
		}
	}
}

func (p *Past) gate(b event.GateDone) {
	switch {
	case b.Where == "base" && b.Exit != 0:
		p.advises[b.Command] = true
	case b.Where == "landing":
		p.last = b.Tree
		p.landing[b.Tree] = append(p.landing[b.Tree], event.GateReceipt{Command: b.Command, Exit: b.Exit, Ms: b.Ms, Output: b.Output, Tree: b.Tree, Reused: b.Reused, Red: b.RedOnBase})
	}
}

func (p *Past) landed(task string, b event.LandingDone) {
	if b.Outcome != "landed" || b.Into != "" {
		return
	}
	for _, g := range p.landing[b.Tree] {
		if g.Exit == 0 {
			delete(p.advises, g.Command)
		}
	}
	p.last = b.Tree
	p.Land(task, b.Commit, b.Files)
}

// Land counts a task as landed by a commit of the branch, also where the log does not say so: the branch moved and colony
// was killed before it could.
func (p *Past) Land(task, commit string, files []string) {
	p.Head = commit
	p.Ended[task] = event.TaskReport{Status: landed, Commit: commit, Files: files, Receipt: event.Receipt{Gates: p.landing[p.last]}}
}

func (p *Past) done(task string, b event.TaskDone) {
	if b.Kept != "" {
		p.Kept[task] = b.Kept
	}
	if b.Status != landed && b.Status != noChange {
		return
	}
	report := p.Ended[task]
	report.Status, report.Reason, report.Attempts, report.Commit, report.Verified = b.Status, b.Reason, b.Attempts, b.Commit, b.Verified
	p.Ended[task] = report
}

// planOf is a plan as the log keeps it.
func planOf(goal string, made event.PlanMade) plan.Plan {
	out := plan.Plan{Goal: goal}
	for _, t := range made.Tasks {
		task := plan.Task{ID: t.ID, Title: t.Title, Prompt: t.Prompt, Card: t.Card, Needs: t.Needs, Files: t.Files, Locks: t.Locks, Review: t.Review, Caps: capsOf(t.Caps)}
		for _, c := range t.Checks {
			task.Gates = append(task.Gates, plan.Gate{Run: c.Run, Name: c.Name, Dir: c.Dir, Timeout: time.Duration(c.TimeoutMs) * time.Millisecond, Retry: c.Retry})
		}
		out.Tasks = append(out.Tasks, task)
	}
	return out
}

func capsOf(c event.Caps) plan.Caps {
	out := plan.Caps{Tokens: c.Tokens, Turns: c.Turns, Calls: c.Calls}
	if c.USD != nil {
		pico := int64(*c.USD)
		out.PicoUSD = &pico
	}
	if c.WallMs != nil {
		wall := time.Duration(*c.WallMs) * time.Millisecond
		out.Wall = &wall
	}
	return out
}

// restore goes on where earlier processes were. Tasks that did not end well begin anew, at the head of the branch.
func (r *run) restore(past *Past) {
	r.graph = newGraph(r.p, past.Plan)
	r.head, r.fence, r.names = past.Head, past.fence, past.names
	for _, g := range union(r.p.Gates) {
		if past.advises[g.Run] {
			r.ratchet.advises[keyOf(g)] = true
		}
	}
	for _, t := range r.graph.order {
		report, ended := past.Ended[t.ID]
		if !ended {
			t.order.Prompt = t.Prompt + left(past.Kept[t.ID])
			continue
		}
		t.state, t.reason, t.attempts, t.report = report.Status, report.Reason, report.Attempts, report
		for _, d := range t.dependents {
			d.unmet--
		}
	}
}

// left is what an ant is told of the work that an earlier one left.
func left(ref string) string {
	if ref == "" {
		return ""
	}
	return "\n\nAn earlier ant began this task and was interrupted. What it left is not in your worktree: `git show " + ref +
		"` shows it. Look at it first, and take from it what holds."
}
