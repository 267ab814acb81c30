package hatch

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"colony/event"
	"colony/guard/hooks"
	"colony/guard/sandbox"
	"colony/model/scripted"
	"colony/queen"
	"colony/repo"
)

// replay is a recorded run that is carried out again: its plan from its base, in a repository of its own, with a model
// that says what was said then. Nothing of it leaves the machine, and nothing of the user's repository is changed.
type replay struct {
	*Colony
	of      Past
	history *queen.Past
	then    *recording
	theirs  *repo.Repo // the user's, as the recorded run sees it
	server  *scripted.Server
}

// replayKey is what a provider is told in place of its key.
const replayKey = "replayed-without-a-key-5b1f0c"

// Replay lets carry run a recorded run again, in a scratch directory, or says why that cannot be. It returns the tree with
// which the run had ended and the one with which it ends now, and where they differ the first difference: a call, else the
// end of a task, else a file.
func (h *House) Replay(ctx context.Context, p Parts, run Past, scratch string, carry func(*Colony) (event.RunFinished, error)) (trees [2]string, difference string, err error) {
	r, err := h.recorded(ctx, run)
	if err != nil {
		return trees, "", err
	}
	dir := filepath.Join(scratch, filepath.Base(h.Root))
	if err := r.theirs.Copy(ctx, r.history.Started.Base, dir); err != nil {
		return trees, "", err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.open(ctx, h.moved(dir, filepath.Join(scratch, "state")), p); err != nil {
		return trees, "", err
	}
	now, err := carry(r.Colony)
	if err != nil {
		return trees, "", err
	}
	return r.judge(ctx, now)
}

// recorded reads a run that can be carried out again, or says why it cannot.
func (h *House) recorded(ctx context.Context, run Past) (*replay, error) {
	if err := run.Over(); err != nil {
		return nil, err
	}
	then, err := recall(run.Events(ctx))
	if err != nil {
		return nil, err
	}
	if why := then.unfit(); why != "" {
		return nil, &Problem{Exit: 2, Code: "not_replayable", Message: fmt.Sprintf("the run %s cannot be replayed: %s", run.ID, why), Next: "colony log " + run.ID + " shows what happened in it"}
	}
	r := &replay{of: run, then: then}
	if r.history, err = queen.Recall(run.Events(ctx)); err != nil {
		return nil, err
	}
	if r.theirs, err = h.repoOf(ctx, run, repo.Setup{}); err != nil {
		return nil, err
	}
	for _, commit := range []string{r.history.Started.Base, then.finished.Commit} {
		if _, err := r.theirs.Resolve(ctx, commit); err != nil {
			return nil, &Problem{Exit: 2, Code: "no_commit", Message: fmt.Sprintf("the commit %.12s of %s is not in this repository any more", commit, run.ID), Next: "colony status lists the runs"}
		}
	}
	return r, nil
}

// moved is the house as it would be in another place. Build caches stay where they are.
func (h *House) moved(dir, state string) *House {
	to := *h
	if to.Cache == "" {
		to.Cache = filepath.Join(h.home(), "cache")
	}
	to.Dir, to.Root, to.State = dir, dir, state
	return &to
}

// open serves what was said, and opens the run with every provider's address there.
func (r *replay) open(ctx context.Context, h *House, p Parts) error {
	all, err := r.then.scenarios(r.of.Events(ctx))
	if err != nil {
		return err
	}
	if r.server, err = scripted.Serve(ctx, scripted.Parts{Scenarios: all}); err != nil {
		return err
	}
	p.House = h
	flags := map[string]string{"run.base": r.history.Started.Base, "sandbox.level": confinedOnly(r.history.Started.Sandbox.Level)}
	own, err := p.ownHouse(r.of, r.history, flags)
	if err != nil {
		return err
	}
	s, err := readSettings(own.Settings)
	if err != nil {
		return err
	}
	keys := map[string]string{"OPENAI_BASE_URL": ""}
	for name, provider := range s.providers {
		flags["providers."+name+".base_url"] = r.server.URL
		keys[provider.KeyEnv] = replayKey
	}
	if p.House, err = p.ownHouse(r.of, r.history, flags); err != nil {
		return err
	}
	getenv := p.Getenv
	p.Getenv = func(name string) string {
		if value, ok := keys[name]; ok {
			return value
		}
		return getenv(name)
	}
	p.Run, p.Plan, p.Labels, p.NoGate, p.AllowRed, p.Headless, p.Replayed = r.of.ID, r.history.Plan, r.history.Started.Labels, true, true, true, true
	p.Models = modelsOf(r.history.Started.Cards, nil)
	r.Colony, err = Open(ctx, p)
	return err
}

// confinedOnly is a level at which no command of a replay reaches the network, nor what the user's own commands reach.
func confinedOnly(level string) string {
	if level == sandbox.ReadOnly {
		return level
	}
	return sandbox.Workspace
}

// close ends the run and the model's server.
func (r *replay) close() (err error) {
	if r.Colony != nil {
		err = r.Colony.Close()
	}
	if r.server != nil {
		err = errors.Join(err, r.server.Close())
	}
	return err
}

// again are the hooks that may run once more: confined, and none that tells somebody of the end.
func again(set hooks.Set) hooks.Set {
	out := hooks.Set{}
	for moment, entries := range set {
		for _, e := range entries {
			if e.Sandbox = ""; moment != hooks.RunFinished {
				out[moment] = append(out[moment], e)
			}
		}
	}
	return out
}
