package hatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"colony/cards"
	"colony/configs"
	"colony/event"
	"colony/ledger"
	"colony/plan"
	"colony/queen"
	"colony/tools"
)

// Resume opens a run that goes on. Of the parts only typed models and what belongs to this process count: the
// plan, the settings, the cards and the labels are the run's own; flags override the settings as typed.
func (h *House) Resume(ctx context.Context, p Parts, run Past, flags map[string]string) (*Colony, error) {
	p.House = h
	if owner := lastOwner(ctx, run.Dir); owner != nil {
		return nil, ownedProblem(run.ID, owner)
	}
	past, err := queen.Recall(run.Events(ctx))
	if err != nil {
		return nil, notStarted(run.ID, err)
	}
	switch {
	case past.Started.Base == "":
		return nil, &Problem{Exit: 2, Code: "not_resumable", Message: fmt.Sprintf("the run %s died before it began", run.ID), Next: "start a new run"}
	case past.Refused:
		return nil, &Problem{Exit: 2, Code: "not_resumable", Message: fmt.Sprintf("the run %s ended before any task began", run.ID), Next: "start a new run"}
	case past.Over:
		return nil, &Problem{Exit: 2, Code: "not_resumable", Message: fmt.Sprintf("every task of the run %s has ended well", run.ID), Next: "colony diff " + run.ID + ", colony land " + run.ID}
	}
	if p.raised, err = run.raised(ctx); err != nil {
		return nil, err
	}
	own, err := p.ownHouse(run, past, flags)
	if err != nil {
		return nil, err
	}
	p.Models, p.typed = modelsOf(past.Started.Cards, p.Models), flags
	p.House, p.Run, p.Plan, p.Goal, p.Labels, p.NoGate = own, run.ID, past.Plan, "", past.Started.Labels, true
	if len(past.Plan.Tasks) == 0 {
		if p.Plan, err = run.given(past.Started); err != nil {
			return nil, err
		}
		if len(p.Plan.Tasks) == 0 {
			p.Goal = past.Started.Goal
		}
	}
	return open(ctx, p, past)
}

// given is the plan that a run was given when it began; empty where it was given a goal.
func (p Past) given(started event.RunStarted) (plan.Plan, error) {
	if started.Plan == "" {
		return plan.Plan{}, nil
	}
	text, err := p.blob(started.Plan)
	if err != nil {
		return plan.Plan{}, fmt.Errorf("read the plan of %s: %w", p.ID, err)
	}
	made, faults := plan.Parse("the plan of "+p.ID, text)
	if len(faults) > 0 {
		return plan.Plan{}, faults
	}
	return made, nil
}

// lastOwner is the living process that carries a run out; nil where there is none. A process that was killed may have left
// a child which was just being started: it holds the lock for a moment longer.
func lastOwner(ctx context.Context, dir string) (owner *event.OwnedError) {
	here, err := os.Hostname()
	for range 20 {
		owner = event.OwnerOf(dir)
		if owner == nil || owner.PID == 0 || err != nil || owner.Host != here || !errors.Is(syscall.Kill(owner.PID, 0), syscall.ESRCH) {
			return owner
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return owner
		}
	}
	return owner
}

// modelsOf is the models of a run that goes on: those it has, but for those that were typed now.
func modelsOf(cards []event.Card, typed map[string]string) map[string]string {
	out := map[string]string{}
	for _, c := range cards {
		out[c.Name] = cmp.Or(typed[c.Name], typed[""], c.Model)
	}
	return out
}

// ownHouse is the house with the settings and the cards that the run began with.
func (p Parts) ownHouse(run Past, past *queen.Past, flags map[string]string) (*House, error) {
	blobs, err := tools.NewBlobs(filepath.Join(run.Dir, "blobs"))
	if err != nil {
		return nil, err
	}
	text, err := blobs.Get(past.Started.Settings)
	if err != nil {
		return nil, fmt.Errorf("read the settings of %s: %w", run.ID, err)
	}
	own := *p.House
	organisation, err := readTier(own.OrganisationFile()) // what it tightened since binds too, and no flag goes beyond it
	if err != nil {
		return nil, err
	}
	if own.Settings, err = configs.Load(configs.Parts{Organisation: organisation, Begun: configs.File{Path: "the settings of " + run.ID, Data: text}, Flags: flags}); err != nil {
		return nil, err
	}
	shelf := cards.Parts{Builtin: own.Cards.List(), Project: map[string][]byte{}}
	for _, c := range past.Started.Cards {
		data, err := blobs.Get(c.SHA256)
		if err != nil {
			return nil, fmt.Errorf("read the card %s of %s: %w", c.Name, run.ID, err)
		}
		if now, err := own.Cards.Get(c.Name); err != nil || now.SHA256 != c.SHA256 {
			shelf.Project["card "+c.Name+" of "+run.ID] = data
		}
	}
	if len(shelf.Project) > 0 {
		if own.Cards, err = loadCards(shelf); err != nil {
			return nil, &Problem{Exit: 2, Code: "not_resumable", Message: fmt.Sprintf("a card of %s has changed since and cannot be read again: %v", run.ID, err), Next: "colony run --from " + run.ID}
		}
	}
	own.Untrusted = nil
	return &own, nil
}

// goesOn takes up the branch, rescues what dead ants left that do not go on, and recalls what was spent.
func (c *Colony) goesOn(ctx context.Context) error {
	landed, err := c.repo.Resume(ctx, c.base, c.past.Head)
	if err != nil {
		return repoProblem(err)
	}
	tree := ""
	if len(landed) > 0 { // all in one move of the branch, whose gates ran on the last
		if tree, err = c.repo.Tree(ctx, landed[len(landed)-1][0]); err != nil {
			return err
		}
	}
	for _, l := range landed {
		files, err := c.repo.Files(ctx, c.past.Head, l[0])
		if err != nil {
			return err
		}
		c.past.Land(l[1], l[0], tree, files)
	}
	if err := c.rescue(ctx); err != nil {
		return err
	}
	if err := c.missed(ctx); err != nil {
		return err
	}
	for _, t := range c.parts.Plan.Tasks {
		c.book.OpenTask(t.ID, taskCaps(t))
	}
	c.log.with(c.book.Recall)
	return nil
}

// rescue finds what was kept of each task. Worktrees in which no ant goes on are given up.
func (c *Colony) rescue(ctx context.Context) error {
	goes, used := c.past.Trees(), map[string]bool{}
	for task := range goes {
		if c.past.Kept[task] == "" { // it may be there, and colony was killed before the log said so
			c.past.Kept[task] = c.repo.KeptRef(task)
		}
	}
	for task, ref := range c.past.Kept {
		commit, err := c.repo.Resolve(ctx, ref)
		if c.past.Kept[task] = commit; err != nil {
			delete(c.past.Kept, task)
		}
	}
	for _, dir := range goes {
		used[filepath.Base(dir)] = true
	}
	rescued, err := c.repo.Rescue(ctx, func(name string) bool { return used[name] })
	if err != nil {
		return err
	}
	if err := c.unlocked(ctx); err != nil {
		return err
	}
	tasks := map[string]string{} // by ant
	for e, err := range c.store.Read(ctx, 0) {
		if err != nil {
			return err
		}
		if e.Ant != "" && e.Task != "" {
			tasks[e.Ant] = e.Task
		}
	}
	for tree, commit := range rescued {
		ant, _, _ := strings.Cut(tree, ".")
		if task := tasks[ant]; task != "" && goes[task] == "" {
			c.past.Kept[task] = commit
		}
	}
	return nil
}

// missed records the requests whose replies the dead process never got, or never kept: their money is lost. Answers to the
// questions that it left open are taken when they are asked again.
func (c *Colony) missed(ctx context.Context) error {
	type attempt struct {
		ant, request string
		number       int
	}
	var open []event.Event
	asks := map[string]bool{}
	replied := map[attempt]bool{}
	for e, err := range c.store.Read(ctx, 0) {
		if err != nil {
			return err
		}
		switch b := e.Body.(type) {
		case event.ModelRequested:
			open = append(open, e)
		case event.ModelReplied:
			replied[attempt{e.Ant, b.Request, b.Attempt}] = true
		case event.AskOpened:
			asks[b.Ask] = true
		case event.AskAnswered:
			delete(asks, b.Ask)
		}
	}
	for ask := range asks {
		c.crew.expect(ask)
	}
	var lost []event.Event
	for _, e := range open {
		if b := e.Body.(event.ModelRequested); !replied[attempt{e.Ant, b.Request, b.Attempt}] {
			lost = append(lost, event.Event{Run: c.run, Task: e.Task, Ant: e.Ant, Body: ledger.Lost(b)})
		}
	}
	if len(lost) == 0 {
		return nil
	}
	_, err := c.log.Append(ctx, lost...)
	return err
}

// with hands the bill to a function that reads it.
func (t *tally) with(read func(*ledger.Bill)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	read(&t.bill)
}
