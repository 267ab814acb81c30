package hatch

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"colony/cards"
	"colony/configs"
	"colony/event"
	"colony/plan"
	"colony/repo"
	"colony/tools"
)

// story is what a run's log says of its beginning, its work and its end.
type story struct {
	started  event.RunStarted
	tasks    []event.PlanTask
	done     map[string]event.TaskDone
	commits  map[string]string // what ants committed, to its task
	finished *event.RunFinished
}

// story reads the log of a run.
func (p Past) story(ctx context.Context) (story, error) {
	s := story{done: map[string]event.TaskDone{}, commits: map[string]string{}}
	for e, err := range p.Events(ctx) {
		if err != nil {
			return s, err
		}
		switch b := e.Body.(type) {
		case event.RunStarted:
			s.started = b
		case event.PlanMade:
			s.tasks = b.Tasks
		case event.PlanChanged:
			s.tasks = b.Tasks
		case event.CommitMade:
			s.commits[b.Commit] = e.Task
		case event.LandingStarted:
			if b.Into == "" {
				s.commits[b.Commit] = e.Task
			}
		case event.TaskDone:
			s.done[e.Task] = b
		case event.RunFinished:
			s.finished = &b
		}
	}
	return s, nil
}

// landed reports whether an ant's commit belongs to a task that landed.
func (s story) landed(commit string) bool {
	task, ok := s.commits[commit]
	return ok && s.done[task].Status == "landed"
}

// Over refuses a run that is still carried out.
func (p Past) Over() error {
	if p.Owned() {
		return &Problem{Exit: 2, Code: "running", Message: fmt.Sprintf("the run %s is still running", p.ID), Next: "colony log " + p.ID + " --follow waits for its end"}
	}
	return nil
}

// repoOf opens the repository as the run sees it.
func (h *House) repoOf(ctx context.Context, past Past, setup repo.Setup) (*repo.Repo, error) {
	r, err := repo.Open(ctx, repo.Parts{Dir: h.Dir, State: filepath.Join(h.home(), "git"), Run: past.ID, Setup: setup})
	if err != nil {
		return nil, repoProblem(err)
	}
	return r, nil
}

// first is the commit at which the first of the runs began that this one goes on from.
func (h *House) first(ctx context.Context, s story) (string, error) {
	base := s.started.Base
	for seen := []string{}; s.started.From != "" && !slices.Contains(seen, s.started.From); {
		seen = append(seen, s.started.From)
		past, err := h.Find(s.started.From)
		if err != nil {
			return base, nil // its log is gone: then what it landed is not this run's to take
		}
		if s, err = past.story(ctx); err != nil {
			return "", err
		}
		if s.started.Base != "" {
			base = s.started.Base
		}
	}
	return base, nil
}

// settingsThen are the settings as a run had them.
func (p Past) settingsThen(s story) (settings, error) {
	text, err := p.blob(s.started.Settings)
	if err != nil {
		return settings{}, fmt.Errorf("read the settings of %s: %w", p.ID, err)
	}
	then, err := configs.Load(configs.Parts{User: configs.File{Path: "settings of " + p.ID, Data: text}})
	if err != nil {
		return settings{}, err
	}
	return readSettings(then)
}

func (p Past) blob(sum string) ([]byte, error) {
	blobs, err := tools.NewBlobs(filepath.Join(p.Dir, "blobs"))
	if err != nil {
		return nil, err
	}
	return blobs.Get(sum)
}

// gatesThen are the gates of the tasks that landed and of their cards, as they were when the run began.
func (p Past) gatesThen(s story) ([]plan.Gate, error) {
	ofCard := map[string][]plan.Gate{}
	for _, c := range s.started.Cards {
		text, err := p.blob(c.SHA256)
		if err != nil {
			return nil, fmt.Errorf("read the card %s of %s: %w", c.Name, p.ID, err)
		}
		card, faults := cards.Parse(c.Source, text)
		if len(faults) > 0 {
			return nil, faults
		}
		ofCard[c.Name] = plainGates(card.Gates)
	}
	var gates []plan.Gate
	for _, t := range s.tasks {
		if s.done[t.ID].Status != "landed" {
			continue
		}
		gates = append(gates, ofCard[t.Card]...)
		for _, c := range t.Checks {
			gates = append(gates, plan.Gate{Run: c.Run, Name: c.Name, Dir: c.Dir, Timeout: time.Duration(c.TimeoutMs) * time.Millisecond, Retry: c.Retry})
		}
	}
	return gates, nil
}
