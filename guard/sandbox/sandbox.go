// Package sandbox runs a command where it can harm nothing: it reads what a job needs, writes only where the job
// says, reaches no network and no process outside, and leaves nothing running behind.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// The levels. The zero value of Parts.Level is none of them and is refused.
const (
	ReadOnly     = "read-only"     // nothing is writable but the command's own /tmp
	Workspace    = "workspace"     // the job's writable paths too
	WorkspaceNet = "workspace+net" // and the job's Ways lead out
	Off          = "off"           // no confinement: the user's choice only, never a repository's or a model's
)

const probeLimit = 10 * time.Second

// Parts is what a Sandbox is made of. Paths are absolute; links in them are resolved once, by New.
type Parts struct {
	Level     string
	Home      string   // the user's home: readable, but for the secrets in it; where it is empty, the account's
	State     string   // colony's state directory: invisible, but for what a job names
	Config    string   // colony's config directory: invisible
	Read      []string // paths that are visible although they lie in a hidden one
	Hide      []string // further paths that are invisible
	Processes int      // how many processes and threads a job may have at once; 4096 where it is 0
	Memory    int64    // how many bytes a job's processes may hold at once; half of the machine's where it is 0
	// Mechanisms are those that are tried, in this order; where it is nil, all that this platform has.
	Mechanisms []string
}

// Sandbox runs jobs. It is safe for concurrent use, and is closed by who made it.
type Sandbox struct {
	level     string
	mechanism string
	home      string
	homes     []string // where secrets may lie: home, and the account's if it is another
	hide      []string
	read      []string
	secrets   []string // that may be there, beside sockets
	guarded   []string // no writable path may hold one of these
	env       []string
	processes int
	memory    int64
	spare     atomic.Pointer[helper]
	closed    atomic.Bool
	jobs      atomic.Int64
}

// Job is one command. Paths are absolute and hold no symbolic link: a link in a place that an ant writes could lead
// anywhere. Of two paths that hold a file the longer one decides.
type Job struct {
	Argv     []string
	Dir      string
	Env      []string // added to the few variables that every job has
	Writable []string
	Readable []string
	Bound    []Bind // seen read-only at another place
	Ways     []Way  // out of the job's network, at level workspace+net only
	// Protected are paths that are as they were when the job ends: what is there the job finds read-only, what is not
	// there is not there afterwards.
	Protected []string
	// Scratch is a directory of colony's own that the job finds as /tmp, with its HOME in it. Where it is empty
	// both are in memory and end with the job.
	Scratch        string
	Stdout, Stderr io.Writer // nil discards
	Stdin          *os.File  // nil is empty
	// Bare is for a program that is not the user's own: of the variables that jobs have it gets PATH, HOME, TMPDIR, LANG and
	// TERM alone.
	Bare bool
}

// Bind is a place at which a job sees, read-only, what lies somewhere else.
type Bind struct{ At, From string }

// A Way is a port of the job's own loopback at which this process answers: beside the ways the job reaches nothing. Serve
// is called once for the job, returns when the listener is closed, and its error is the job's.
type Way struct {
	Port  uint16
	Serve func(net.Listener) error
}

// Exit is how a job ended. A job that was killed has a Signal and the code 128 + signal.
type Exit struct {
	Code     int
	Signal   string
	Duration time.Duration
}

// New returns a sandbox that was seen to work: it has run a harmless command. A level that this machine cannot hold is a
// *RefusedError, never a weaker sandbox.
func New(ctx context.Context, p Parts) (*Sandbox, error) {
	switch p.Level {
	case ReadOnly, Workspace, WorkspaceNet, Off:
	default:
		return nil, &RefusedError{Level: p.Level, Why: "no such level", Next: "use read-only, workspace, workspace+net or off"}
	}
	account := accountHome()
	if p.Home == "" {
		p.Home = account
	}
	for _, path := range append([]string{p.Home, p.State, p.Config}, append(p.Read, p.Hide...)...) {
		if !filepath.IsAbs(path) {
			return nil, fmt.Errorf("sandbox: path %q is not absolute", path)
		}
	}
	home := resolve(p.Home)
	s := &Sandbox{
		level:     p.Level,
		home:      home,
		homes:     homes(home, account),
		hide:      append([]string{resolve(p.State), resolve(p.Config)}, p.Hide...),
		guarded:   []string{home, resolve(p.State), resolve(p.Config)},
		env:       environment(os.Environ(), home),
		processes: p.Processes,
		memory:    p.Memory,
	}
	s.secrets = s.secretNames()
	for _, path := range p.Read {
		if path = resolve(path); straight(path) == nil {
			s.read = append(s.read, path)
		}
	}
	if s.processes <= 0 {
		s.processes = 4096
	}
	if s.memory <= 0 {
		s.memory = machineMemory() / 2
	}
	if p.Level == Off {
		s.mechanism = "none"
		return s, nil
	}
	if p.Mechanisms == nil {
		p.Mechanisms = mechanisms[:]
	}
	if err := s.choose(ctx, p.Mechanisms); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Level is the level that the sandbox holds.
func (s *Sandbox) Level() string { return s.level }

// Mechanism is how it holds it; none at level off.
func (s *Sandbox) Mechanism() string { return s.mechanism }

// Run runs the job to its end and returns how it ended. When it returns no process of the job is left. Output goes to the
// job's writers as it comes. A command that cannot be started, or whose directory is not there, exits with 126 or 127, as
// from a shell. Where ctx ended first the job is killed, and the error is the context's. Any other error means that the
// job was not confined as asked and so was not run.
func (s *Sandbox) Run(ctx context.Context, j Job) (Exit, error) {
	if err := errors.Join(reopen(append([]string{j.Scratch}, j.Writable...)), s.check(j)); err != nil {
		return Exit{}, err
	}
	if s.level == Off {
		return s.plain(ctx, j)
	}
	before, err := remember(j.Protected)
	if err != nil {
		return Exit{}, err
	}
	j.Readable = append(slices.Clone(j.Readable), bindable(before)...) // a path of the job's own that it finds read-only
	exit, err := s.confined(ctx, j)
	return exit, errors.Join(err, restore(before, j.Stderr))
}

// reopen lets colony enter the directories that jobs write: an earlier one may have closed them.
func reopen(dirs []string) error {
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || info.Mode().Perm()&0o700 == 0o700 {
			continue // what is no directory is judged elsewhere
		}
		if err := os.Chmod(dir, info.Mode().Perm()|0o700); err != nil {
			return fmt.Errorf("sandbox: %w", err)
		}
	}
	return nil
}

func (s *Sandbox) check(j Job) error {
	if len(j.Argv) == 0 {
		return fmt.Errorf("sandbox: job without a command")
	}
	if !filepath.IsAbs(j.Dir) {
		return fmt.Errorf("sandbox: directory %q is not absolute", j.Dir)
	}
	var scratch []string
	if j.Scratch != "" {
		scratch = []string{j.Scratch}
	}
	for _, path := range slices.Concat(j.Writable, j.Readable, scratch) {
		if !filepath.IsAbs(path) || filepath.Clean(path) != path {
			return fmt.Errorf("sandbox: path %q is not absolute and clean", path)
		}
		if err := straight(path); err != nil {
			return err
		}
	}
	if len(j.Ways) > 0 && s.level != WorkspaceNet && s.level != Off {
		return fmt.Errorf("sandbox: level %s has no way out", s.level)
	}
	for _, b := range j.Bound {
		if err := s.Bindable(b, slices.Concat(j.Writable, j.Readable)...); err != nil {
			return err
		}
	}
	for _, path := range slices.Concat(j.Writable, scratch) {
		for _, kept := range s.guarded {
			if within(kept, path) {
				return fmt.Errorf("sandbox: writable path %s holds %s", path, kept)
			}
		}
	}
	return nil
}

// Bindable says why a place cannot be bound: what it shows is hidden from jobs, or holds something that is, or it would
// cover one of the paths that a job has, or lie in one.
func (s *Sandbox) Bindable(b Bind, paths ...string) error {
	if s.level == Off {
		return fmt.Errorf("sandbox: nothing is bound at level off")
	}
	if s.paths() {
		return fmt.Errorf("sandbox: %s shows nothing at another place", s.mechanism)
	}
	if !filepath.IsAbs(b.At) || filepath.Clean(b.At) != b.At {
		return fmt.Errorf("sandbox: path %q is not absolute and clean", b.At)
	}
	if err := straight(b.From); err != nil {
		return err
	}
	for _, secret := range slices.Concat(s.hidden(), []string{"/proc", "/dev", "/sys"}) {
		if within(b.From, secret) || within(secret, b.From) {
			return fmt.Errorf("sandbox: %s is hidden, or holds %s, which is", b.From, secret)
		}
	}
	for _, path := range paths {
		if within(path, b.At) || within(b.At, path) {
			return fmt.Errorf("sandbox: %s is a place of the job's own, or holds one", b.At)
		}
	}
	return nil
}

// Hides reports whether jobs do not see a path, or not all in it.
func (s *Sandbox) Hides(path string) bool {
	return slices.ContainsFunc(s.hidden(), func(secret string) bool { return within(path, secret) || within(secret, path) })
}

// Seen is where jobs find a scratch: at /tmp, where the mechanism can show it there.
func (s *Sandbox) Seen(scratch string) string {
	if s.level == Off || s.paths() {
		return scratch
	}
	return "/tmp"
}

// within says whether path is dir or lies in it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// resolve follows the links of path as far as it exists.
func resolve(path string) string {
	path = filepath.Clean(path)
	if real, err := filepath.EvalSymlinks(path); err == nil || path == "/" {
		return real
	}
	return filepath.Join(resolve(filepath.Dir(path)), filepath.Base(path))
}
