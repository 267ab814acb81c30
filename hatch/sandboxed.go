package hatch

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"

	"colony/guard/sandbox"
	"colony/tools"
)

// Sandboxed runs a process as an ant's would be, with the checkout for a worktree, and says at which level and by what it
// was held. Outside a repository the directory is the worktree.
func (h *House) Sandboxed(ctx context.Context, getenv func(string) string, p tools.Process) (level, by string, exit tools.Exit, err error) {
	s, err := readSettings(h.Settings)
	if err != nil {
		return "", "", exit, err
	}
	box, err := sandbox.New(ctx, sandbox.Parts{Level: s.sandbox.Level, Home: getenv("HOME"), State: h.State, Config: h.Config})
	if err != nil {
		return "", "", exit, sandboxProblem(err)
	}
	defer box.Close()
	in, err := newConfined(box, filepath.Join(cmp.Or(h.Cache, filepath.Join(h.home(), "cache")), "ants"), nil, nowhere, getenv)
	if err != nil {
		return "", "", exit, err
	}
	card, err := h.card(s.run.Card)
	if err != nil {
		return "", "", exit, err
	}
	reach, err := s.sandbox.out(s.sandbox.Level, card)
	if err != nil {
		return "", "", exit, err
	}
	in.tight = tighter(s.sandbox.Level, card.Sandbox.Level) == sandbox.ReadOnly
	exit, err = in.to(reach, getenv, untold).in(cmp.Or(h.Root, h.Dir), "").exec(ctx, p)
	if err != nil && ctx.Err() == nil {
		err = &Problem{Exit: 2, Code: "no_sandbox", Message: "the command was not run: " + err.Error(), Next: "go to a repository, or to a directory that is neither your home nor holds it"}
	}
	return box.Level(), box.Mechanism(), exit, err
}

// Held is the problem of a level of the sandbox that this machine does not hold; nil where a harmless command was seen to be
// confined.
func (h *House) Held(ctx context.Context, getenv func(string) string) error {
	s, err := readSettings(h.Settings)
	if err != nil {
		return err
	}
	box, err := sandbox.New(ctx, sandbox.Parts{Level: s.sandbox.Level, Home: getenv("HOME"), State: h.State, Config: h.Config})
	if err != nil {
		return sandboxProblem(err)
	}
	box.Close()
	return nil
}

func nowhere(string) []sandbox.Bind { return nil }

// Prove tries every break-out of the sandbox at a level in a scratch tree, or at the level of the settings where it is
// empty. A check is wrong where the sandbox does not hold, or where the break-out does not work in the open either.
func (h *House) Prove(ctx context.Context, environ []string, level string) ([]Check, error) {
	if level == "" {
		level = sandbox.Workspace
		if house, err := Enter(h.Places, environ, nil); err == nil {
			if s, err := readSettings(house.Settings); err == nil {
				level = s.sandbox.Level
			}
		}
	}
	if err := os.MkdirAll(h.State, 0o700); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(h.State, "prove-")
	if err != nil {
		return nil, err
	}
	by, proofs, err := sandbox.Prove(ctx, level, dir)
	if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
		return nil, sandboxProblem(err)
	}
	checks := make([]Check, len(proofs))
	for i, p := range proofs {
		switch {
		case p.Void:
			checks[i] = wrong("report what this machine is", "void: %s: it does not work without a sandbox either", p.Name)
		case !p.Held:
			checks[i] = wrong("colony doctor says which level holds here", "NOT HELD: %s, level %s by %s", p.Name, level, by)
		default:
			checks[i] = ok("held: %s, level %s by %s", p.Name, level, by)
		}
		checks[i].Name = "break-out"
	}
	return checks, nil
}
