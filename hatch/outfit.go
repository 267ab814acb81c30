package hatch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"colony/event"
	"colony/guard/sandbox"
	"colony/repo"
	"colony/tools"
)

// outfit makes ready what worktrees need beside the commit, and refuses by name what is not to be had. Nothing is spent,
// and nothing of the user's is written, before it is done.
func (c *Colony) outfit(ctx context.Context) error {
	if err := c.takeDirty(ctx); err != nil {
		return err
	}
	if err := c.repo.Prepare(ctx, c.base); err != nil {
		return repoProblem(err)
	}
	if err := c.leadOut(); err != nil {
		return err
	}
	return c.repo.SetUp(ctx, c.base)
}

// setup is how checkouts are prepared: by the commands of the settings, which their user trusts.
func (c *Colony) setup() repo.Setup {
	if len(c.settings.run.Setup) == 0 {
		return repo.Setup{}
	}
	return repo.Setup{Key: strings.Join(c.settings.run.Setup, "\x00"), Run: c.setUp}
}

// setUp runs the commands in a checkout, in the sandbox. What gates run on is prepared with the cache of gates.
func (c *Colony) setUp(ctx context.Context, dir string, gates bool) error {
	kind := "ants"
	if gates {
		kind = "gates"
	}
	box, err := c.confine(kind)
	if err != nil {
		return err
	}
	limit := time.Duration(c.settings.limits.Gate)
	for _, command := range c.settings.run.Setup {
		timed, cancel := context.WithTimeout(ctx, limit)
		out := &bounded{left: gateOutputLimit}
		exit, err := box.in(dir, "").exec(timed, tools.Process{Argv: []string{"bash", "-c", command}, Dir: dir, Stdout: out, Stderr: out})
		late := errors.Is(timed.Err(), context.DeadlineExceeded)
		cancel()
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case late:
			return setupProblem(command, fmt.Sprintf("did not end within %s", limit), c.redact(out.String()))
		case err != nil:
			return fmt.Errorf("setup %s: %w", command, err)
		case exit.Code != 0:
			return setupProblem(command, fmt.Sprintf("ended with %d", exit.Code), c.redact(out.String()))
		}
	}
	return nil
}

func setupProblem(command, what, output string) error {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	said := strings.Join(lines[max(0, len(lines)-5):], "\n")
	return &Problem{
		Exit: 2, Code: "setup", Message: strings.TrimSpace(fmt.Sprintf("setup: `%s` %s\n%s", command, what, said)),
		Next: "mend run.setup; it runs in the sandbox, in a fresh checkout of the base, and reaches what sandbox.net of your settings names at level workspace+net",
	}
}

// leads are the places outside the repository that processes in a checkout see where its files lead to them. Without a sandbox
// they see all places as they are.
func (c *Colony) leads(dir string) []sandbox.Bind {
	var binds []sandbox.Bind
	if c.box.Level() == sandbox.Off {
		return nil
	}
	for _, o := range c.repo.Outside() {
		switch {
		case !filepath.IsAbs(o.Path):
			binds = append(binds, sandbox.Bind{At: filepath.Join(dir, filepath.FromSlash(o.Path)), From: o.From})
		case inMemory(o.Path):
			binds = append(binds, sandbox.Bind{At: o.Path, From: o.From})
		}
	}
	return binds
}

// inMemory reports whether a job has a directory of its own where the path lies outside. All other places are seen as
// they are, unless they are hidden.
func inMemory(path string) bool {
	return strings.HasPrefix(path, "/tmp/") || strings.HasPrefix(path, "/var/tmp/")
}

// leadOut refuses a path out of the repository that jobs cannot be shown.
func (c *Colony) leadOut() error {
	for _, o := range c.repo.Outside() {
		if why := c.closed(o); why != "" {
			return &Problem{
				Exit: 2, Code: "outside_path", Message: fmt.Sprintf("%s leads out of the repository to %s, which ants cannot be shown: %s", o.Via, o.Path, why),
				Next: "bring what is there into the repository, or take the way out of " + o.Via,
			}
		}
	}
	return nil
}

// closed says why a path cannot be shown; empty where it can.
func (c *Colony) closed(o repo.Outside) string {
	bind := sandbox.Bind{At: o.Path, From: o.From}
	var own []string
	switch {
	case filepath.IsAbs(o.Path) && !inMemory(o.Path):
		if c.box.Hides(o.From) {
			return "it is hidden"
		}
		return ""
	case c.box.Level() == sandbox.Off && filepath.IsAbs(o.Path):
		return ""
	case !filepath.IsAbs(o.Path):
		tree := c.repo.Place("x")
		bind.At = filepath.Join(tree, filepath.FromSlash(o.Path))
		own = append([]string{tree}, c.repo.Readable()...)
	}
	if err := c.box.Bindable(bind, own...); err != nil {
		return strings.TrimPrefix(err.Error(), "sandbox: ")
	}
	return ""
}

// takeDirty lets the run begin with the uncommitted files, where that was asked for.
func (c *Colony) takeDirty(ctx context.Context) (err error) {
	if !c.parts.Dirty {
		return nil
	}
	c.base, c.taken, err = c.repo.TakeDirty(ctx)
	c.firstBase = c.base
	return repoProblem(err)
}

// tookIn says which uncommitted files the base holds.
func (c *Colony) tookIn(ctx context.Context) error {
	if len(c.taken) == 0 {
		return nil
	}
	_, err := c.log.Append(ctx, event.Event{Run: c.run, Body: event.Warned{
		Code: "dirty_taken", Text: fmt.Sprintf("the base holds %d uncommitted files of the checkout: %s", len(c.taken), strings.Join(c.taken, ", ")),
		Next: "they stay uncommitted where they are; colony land takes over what the ants did",
	}})
	return err
}

// unlocked says which locks of a dead process were removed.
func (c *Colony) unlocked(ctx context.Context) error {
	locks := c.repo.Unlocked()
	if len(locks) == 0 {
		return nil
	}
	_, err := c.log.Append(ctx, event.Event{Run: c.run, Body: event.Warned{
		Code: "lock_recovered", Text: "a git of colony's was killed and left " + strings.Join(locks, ", ") + ", which was removed", Next: "nothing",
	}})
	return err
}

// leftOut says what .worktreeinclude names and worktrees do not get.
func (c *Colony) leftOut(ctx context.Context) error {
	left := c.repo.Left()
	if len(left) == 0 {
		return nil
	}
	_, err := c.log.Append(ctx, event.Event{Run: c.run, Body: event.Warned{
		Code: "include_left", Text: fmt.Sprintf("%s names %s, which worktrees do not get: links out of the repository, or no files", repo.IncludeFile, strings.Join(left, ", ")),
		Next: "Put files there",
	}})
	return err
}

// forget removes the directory of a run that never began.
func (c *Colony) forget() error {
	if c.begun {
		return nil
	}
	return os.RemoveAll(c.parts.runDir(c.run))
}
