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
	Refused bool                        // it ended before it had a plan, and said why
	Over    bool                        // every task has ended well, and the run was finished after

	fence   int64
	names   map[string]int                 // ants by card
	advises map[string]bool                // commands of gates, red on the base and not yet passed on a tree of the branch
	traces  map[string]*trace              // how far each task came
	trees   map[string]string              // the last worktree of each ant
	found   []found                        // landings that the log does not know
	open    map[string]bool                // tasks that landed and whose end is not in the log
	landing map[string][]event.GateReceipt // by tree
}

// found is a landing of which the branch alone knows.
type found struct {
	task string
	done event.LandingDone
}

// Recall folds the log of a run.
func Recall(events iter.Seq2[event.Event, error]) (*Past, error) {
	p := &Past{Ended: map[string]event.TaskReport{}, Kept: map[string]string{}, names: map[string]int{}, advises: map[string]bool{},
		landing: map[string][]event.GateReceipt{}, traces: map[string]*trace{}, trees: map[string]string{}, open: map[string]bool{}}
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		p.add(e)
	}
	p.Over = p.Over && len(p.Plan.Tasks) > 0 && len(p.Ended) == len(p.Plan.Tasks)
	return p, nil
}

func (p *Past) add(e event.Event) {
	if e.Task != "" {
		p.trace(e.Task).add(e)
		p.Over = false
	}
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
		p.trees[e.Ant] = b.Worktree
		if t := p.traces[e.Task]; t != nil && b.Parent == "" && t.crew[reviewer].ant != e.Ant {
			delete(p.Kept, e.Task) // what was kept is in its worktree again
		}
	case event.GateDone:
		p.gate(b)
	case event.LandingDone:
		p.landed(e.Task, b)
	case event.TaskDone:
		p.done(e.Task, b)
	case event.RunFinished:
		p.Refused = len(p.Plan.Tasks) == 0 && (b.Exit == 0 || b.Exit == exitRefused || b.Exit == exitUnlanded)
		p.Over = true
		for _, t := range p.traces {
			t.over = t.ended
		}
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
		p.landing[b.Tree] = append(p.landing[b.Tree], event.GateReceipt{Command: b.Command, Exit: b.Exit, Ms: b.Ms, Output: b.Output, Tree: b.Tree, Reused: b.Reused, Red: b.RedOnBase})
	}
}

func (p *Past) landed(task string, b event.LandingDone) {
	if b.Outcome != landed || b.Into != "" {
		return
	}
	for _, g := range p.landing[b.Tree] {
		if g.Exit == 0 {
			delete(p.advises, g.Command)
		}
	}
	p.Head = b.Commit
	p.Ended[task] = event.TaskReport{Status: landed, Commit: b.Commit, Files: b.Files, Receipt: event.Receipt{Gates: p.landing[b.Tree]}}
	p.open[task] = true
}

// Land counts a task as landed by a commit of the branch, of which the log does not say so: the branch moved and colony
// was killed before it could. Tree is that on which its gates ran.
func (p *Past) Land(task, commit, tree string, files []string) {
	done := event.LandingDone{Onto: p.Head, Commit: commit, Tree: tree, Outcome: landed, Files: files}
	p.found = append(p.found, found{task, done})
	p.landed(task, done)
}

// Trees are the worktrees of attempts that go on in them, by task.
func (p *Past) Trees() map[string]string {
	out := map[string]string{}
	for id, t := range p.traces {
		if _, over := p.Ended[id]; !over && t.stage == stageWork && !t.anew() && p.trees[t.ant] != "" {
			out[id] = p.trees[t.ant]
		}
	}
	return out
}

func (p *Past) trace(task string) *trace {
	if p.traces[task] == nil {
		p.traces[task] = &trace{crew: map[string]crew{}}
	}
	return p.traces[task]
}

func (p *Past) done(task string, b event.TaskDone) {
	if b.Kept != "" {
		p.Kept[task] = b.Kept
	}
	if b.Status != landed && b.Status != noChange {
		return
	}
	delete(p.open, task)
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
