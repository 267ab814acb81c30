package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"colony/event"
	"colony/hatch"
)

const (
	// detachedVar marks the process that carries a detached run out: a hang-up does not stop it.
	detachedVar = "COLONY_DETACHED"
	// detachLimit is how long a detached run may take to begin.
	detachLimit = time.Minute
)

// detach starts the same command in a session of its own and returns once its run has begun, or it has ended.
func (a *app) detach(ctx context.Context, house *hatch.House, run string) error {
	if err := house.Fresh(run); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("start the detached run: %w", err)
	}
	said, err := os.CreateTemp("", "colony-detached-")
	if err != nil {
		return fmt.Errorf("start the detached run: %w", err)
	}
	defer said.Close()
	defer os.Remove(said.Name())
	child := exec.Command(self, append(a.attached(), "--run-id", run)...)
	child.Env = append(a.environ(), detachedVar+"=1")
	child.Stdout, child.Stderr = said, said
	if a.typed != nil {
		child.Stdin = bytes.NewReader(a.typed)
	}
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := child.Start(); err != nil {
		return fmt.Errorf("start the detached run: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	if err := begun(ctx, house, run, ended); err != nil {
		return a.undetached(child, said.Name(), err)
	}
	if a.json {
		return printJSON(a.out, map[string]string{"run": run})
	}
	_, err = fmt.Fprintf(a.out, "%s goes on by itself; next: colony log %s --follow, colony stop %s\n", run, run, run)
	return err
}

// attached is the typed command without what makes it detached.
func (a *app) attached() []string {
	return slices.DeleteFunc(slices.Clone(a.args), func(word string) bool { return word == "-d" || word == "--detach" })
}

var errEnded = errors.New("it ended before it began")

// begun waits for the run's first event.
func begun(ctx context.Context, house *hatch.House, run string, ended <-chan error) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.After(detachLimit)
	for {
		select {
		case <-tick.C:
			if past, err := house.Find(run); err == nil && past.ID == run && started(ctx, past) {
				return nil
			}
		case <-ended:
			return errEnded
		case <-late:
			return fmt.Errorf("the detached run did not begin within %s", detachLimit)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func started(ctx context.Context, past hatch.Past) bool {
	for e, err := range past.Events(ctx) {
		_, ok := e.Body.(event.RunStarted)
		return err == nil && ok
	}
	return false
}

// undetached says what a command said that ended before its run began.
func (a *app) undetached(child *exec.Cmd, said string, err error) error {
	if !errors.Is(err, errEnded) {
		return err
	}
	text, readErr := os.ReadFile(filepath.Clean(said))
	if readErr != nil {
		return readErr
	}
	to := a.err
	if a.json {
		to = a.out
	}
	fmt.Fprint(to, strings.TrimLeft(string(text), "\n"))
	a.exit = child.ProcessState.ExitCode()
	return nil
}
