package hatch

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"time"

	"colony/repo"
)

// Tidied is what clean-up removed, and what it kept with the reason.
type Tidied struct {
	Removed []Tidy `json:"removed"`
	Kept    []Tidy `json:"kept"`
}

// Tidy is one thing that clean-up looked at.
type Tidy struct {
	Run string `json:"run,omitempty"`
	repo.Thing
}

// unused is how long what setup left stays when no run used it, and objects of colony's git that nothing needs.
const unused = 14 * 24 * time.Hour

// conversations is how long what was said in a run stays after its end.
const conversations = 30 * 24 * time.Hour

// Tidy removes the worktrees, scratch directories, gate checkouts and refs of runs that have ended and whose work is
// reachable from the user's own branches, tags or remotes. All else is kept and named. What was said
// goes with the log 30 days after the end; the charges and receipts that bills and blame rest on stay for ever.
func (h *House) Tidy(ctx context.Context, now time.Time) (Tidied, error) {
	out := Tidied{Removed: []Tidy{}, Kept: []Tidy{}}
	runs, err := h.Runs()
	if err != nil {
		return out, err
	}
	for _, past := range runs {
		if err := h.tidyRun(ctx, past, now, &out); err != nil {
			return out, err
		}
	}
	if len(runs) == 0 {
		return out, nil
	}
	r, err := h.repoOf(ctx, runs[len(runs)-1], repo.Setup{})
	if err != nil {
		return out, err
	}
	things, err := r.CleanShared(ctx, now.Add(-unused))
	out.add("", things)
	return out, err
}

func (h *House) tidyRun(ctx context.Context, past Past, now time.Time, out *Tidied) error {
	why := ""
	s, err := past.story(ctx)
	switch {
	case past.Owned():
		why = "it is running"
	case err != nil:
		why = "its log cannot be read: " + err.Error()
	case s.finished == nil:
		why = "it was cut off and has not ended"
	case s.finished.Resumable:
		why = "it can be gone on with: colony resume " + past.ID
	}
	if why != "" {
		out.add(past.ID, []repo.Thing{{Kind: "run", Name: past.ID, Why: why}})
		return nil
	}
	r, err := h.repoOf(ctx, past, repo.Setup{})
	if err != nil {
		return err
	}
	things, err := r.Clean(ctx, s.started.On, s.landed)
	out.add(past.ID, things)
	if err != nil {
		return err
	}
	scratch := filepath.Join(past.Dir, "scratch")
	if _, err := os.Lstat(scratch); err == nil {
		if err := repo.RemoveAll(scratch); err != nil {
			return err
		}
		out.add(past.ID, []repo.Thing{{Kind: "scratch", Name: scratch}})
	}
	for _, thing := range things {
		if thing.Why != "" {
			return nil
		}
	}
	return h.forget(ctx, past, now, out)
}

// forget removes what was said in a run that ended long ago and of which nothing is kept. Its charges and receipts stay.
func (h *House) forget(ctx context.Context, past Past, now time.Time, out *Tidied) error {
	run, err := past.Account(ctx)
	if err != nil || now.Sub(run.Last) < conversations {
		return err
	}
	var text bytes.Buffer
	if err := past.Export(ctx, &text, func(line string) string { return line }); err != nil {
		return err
	}
	if err := h.store(run, text.Bytes()); err != nil {
		return err
	}
	out.add(past.ID, []repo.Thing{{Kind: "said", Name: past.Dir}})
	return repo.RemoveAll(past.Dir)
}

func (t *Tidied) add(run string, things []repo.Thing) {
	for _, thing := range things {
		if thing.Why == "" {
			t.Removed = append(t.Removed, Tidy{run, thing})
		} else {
			t.Kept = append(t.Kept, Tidy{run, thing})
		}
	}
}
