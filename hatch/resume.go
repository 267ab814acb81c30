package hatch

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"colony/cards"
	"colony/configs"
	"colony/event"
	"colony/ledger"
	"colony/queen"
	"colony/tools"
)

// Resume opens a run that goes on. Of the parts only typed models and what belongs to this process count: the
// plan, the settings, the cards and the labels are the run's own; flags override the settings as typed.
func (h *House) Resume(ctx context.Context, p Parts, run Past, flags map[string]string) (*Colony, error) {
	p.House = h
	if owner := event.OwnerOf(run.Dir); owner != nil {
		return nil, ownedProblem(run.ID, owner)
	}
	past, err := queen.Recall(run.Events(ctx))
	if err != nil {
		return nil, notStarted(run.ID, err)
	}
	switch {
	case len(past.Plan.Tasks) == 0:
		return nil, &Problem{Exit: 2, Code: "not_resumable", Message: fmt.Sprintf("the run %s has no plan to go on with", run.ID), Next: "start a new run"}
	case past.Over:
		return nil, &Problem{Exit: 2, Code: "not_resumable", Message: fmt.Sprintf("every task of the run %s has ended well", run.ID), Next: "colony diff " + run.ID + ", colony land " + run.ID}
	}
	own, err := p.ownHouse(run, past, flags)
	if err != nil {
		return nil, err
	}
	p.Models, p.typed = modelsOf(past.Started.Cards, p.Models), flags
	p.House, p.Run, p.Plan, p.Goal, p.Labels, p.NoGate = own, run.ID, past.Plan, "", past.Started.Labels, true
	return open(ctx, p, past)
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
	organisation, err := readTier(organisationFile) // what it tightened since binds too, and no flag goes beyond it
	if err != nil {
		return nil, err
	}
	if own.Settings, err = configs.Load(configs.Parts{Organisation: organisation, User: configs.File{Path: "the settings of " + run.ID, Data: text}, Flags: flags}); err != nil {
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

// goesOn takes up the branch, rescues what dead ants left and recalls what was spent.
func (c *Colony) goesOn(ctx context.Context) error {
	landed, err := c.repo.Resume(ctx, c.base, c.past.Head)
	if err != nil {
		return repoProblem(err)
	}
	for _, l := range landed {
		c.past.Land(l[1], l[0], nil)
	}
	rescued, err := c.repo.Rescue(ctx)
	if err != nil {
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
	for task, ref := range c.past.Kept {
		if c.past.Kept[task], err = c.repo.Resolve(ctx, ref); err != nil {
			delete(c.past.Kept, task)
		}
	}
	for tree, commit := range rescued {
		ant := tree[:strings.LastIndexByte(tree, '.')]
		if task := tasks[ant]; task != "" {
			c.past.Kept[task] = commit
		}
	}
	for _, t := range c.parts.Plan.Tasks {
		c.book.OpenTask(t.ID, taskCaps(t))
	}
	c.log.with(c.book.Recall)
	return nil
}

// with hands the bill to a function that reads it.
func (t *tally) with(read func(*ledger.Bill)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	read(&t.bill)
}
