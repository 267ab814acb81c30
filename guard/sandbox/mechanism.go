package sandbox

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// The mechanisms.
const (
	Bubblewrap = "bubblewrap" // bwrap, found on PATH
	Namespaces = "namespaces" // this program started again in namespaces of its own
	Landlock   = "landlock"   // with seccomp and no namespace: no network at all, not even a loopback of the job's own
	Seatbelt   = "seatbelt"   // macOS's sandbox-exec
)

// choose finds the first mechanism that holds the level: it has run a harmless command. There is no weaker level to fall
// back on: what one mechanism holds every other one that is chosen holds too.
func (s *Sandbox) choose(ctx context.Context, names []string) error {
	var why []string
	for _, name := range names {
		s.mechanism = name
		err := s.able()
		if err == nil {
			err = s.probe(ctx)
		}
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("sandbox: %w", context.Cause(ctx))
		}
		why = append(why, name+": "+strings.TrimPrefix(err.Error(), "sandbox: "))
	}
	return refused(s.level, strings.Join(why, "; "))
}

// able says why the mechanism cannot be tried here, or cannot hold the level.
func (s *Sandbox) able() error {
	if !slices.Contains(mechanisms[:], s.mechanism) {
		return fmt.Errorf("it is not of this platform")
	}
	if s.paths() && s.level == WorkspaceNet {
		return fmt.Errorf("it has no network of a job's own, from which all ways out could be held")
	}
	return s.ready()
}

// paths says that jobs have the paths that there are outside: the mechanism shows nothing at another place.
func (s *Sandbox) paths() bool { return s.mechanism == Landlock || s.mechanism == Seatbelt }

// probe runs a harmless command.
func (s *Sandbox) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	var said strings.Builder
	exit, err := s.Run(ctx, Job{Argv: []string{"/bin/sh", "-c", ":"}, Dir: "/", Stderr: &said})
	if err == nil && exit.Code == 0 {
		return nil
	}
	if err == nil {
		err = fmt.Errorf("a shell ended with %d", exit.Code)
	}
	if text := strings.TrimSpace(said.String()); text != "" {
		err = fmt.Errorf("%w (%s)", err, text)
	}
	return err
}
