package hatch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"colony/event"
)

// logProblem is what a person can do about an error of a run's log, found by looking at it; other errors stay as they
// are. What went wrong remains in its chain.
func logProblem(run string, err error) error {
	var corrupt *event.CorruptError
	var newer *event.FormatError
	var owned *event.OwnedError
	var p *Problem
	switch {
	case errors.As(err, &corrupt):
		p = &Problem{Exit: 3, Code: "damaged_log", Message: fmt.Sprintf("the run %s: %v", run, corrupt), Next: "colony doctor --fix mends a log that lost its end, and keeps a copy first"}
	case errors.As(err, &newer):
		p = &Problem{Exit: 2, Code: "newer_log", Message: fmt.Sprintf("the run %s: %v", run, newer), Next: "use the colony that wrote it, or a later one; nothing was changed"}
	case errors.As(err, &owned):
		p = ownedProblem(run, owned)
	default:
		return err
	}
	p.cause = err
	return p
}

func ownedProblem(run string, owner *event.OwnedError) *Problem {
	who := fmt.Sprintf("process %d on %s", owner.PID, owner.Host)
	if owner.PID == 0 {
		who = "a living process"
	}
	return &Problem{Exit: 2, Code: "running", Message: fmt.Sprintf("the run %s is carried out by %s", run, who), Next: "colony log " + run + " --follow"}
}

// notStarted is the problem of a verb that would have gone on with a run and could not read its log.
func notStarted(run string, err error) error {
	var corrupt *event.CorruptError
	if !errors.As(err, &corrupt) {
		return logProblem(run, err)
	}
	return &Problem{Exit: 2, Code: "damaged_log", Message: fmt.Sprintf("the run %s: %v", run, corrupt), Next: "colony doctor --fix mends a log that lost its end, and keeps a copy first", cause: err}
}

// probeSize is how much room the state directory must have for a run to begin.
const probeSize = 64 << 10

// writable is a *Problem where nothing can be written in the state directory. It makes a file there and removes it.
func writable(state string) error {
	err := probe(state)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		return &Problem{Exit: 1, Code: "disk_full", Message: fmt.Sprintf("the state directory %s is on a disk that is full", state), Next: "free some space, or name another place with --state-dir or XDG_STATE_HOME", cause: err}
	}
	why := err
	if of := (*fs.PathError)(nil); errors.As(err, &of) {
		why = of.Err
	}
	return &Problem{Exit: 2, Code: "state_directory", Message: fmt.Sprintf("the state directory %s cannot be written: %v", state, why), Next: "make it writable for you, or name another with --state-dir or XDG_STATE_HOME", cause: err}
}

func probe(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "doctor-")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, probeSize))
	return errors.Join(err, f.Sync(), f.Close(), os.Remove(f.Name()))
}

// waits is what the log asks while the disk takes nothing: the person is told once each time, and the run waits until it
// is stopped.
func (c *Colony) waits(ctx context.Context) func(*event.StuckError) bool {
	var told time.Time
	return func(e *event.StuckError) bool {
		if c.parts.Stuck != nil && !e.Since.Equal(told) {
			c.parts.Stuck(e)
		}
		told = e.Since
		return ctx.Err() == nil
	}
}
