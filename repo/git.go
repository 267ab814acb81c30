package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	outLimit  = 256 << 20 // bytes of output of one git
	errLimit  = 8 << 10
	cutWait   = 30 * time.Second // for the output of a git that has ended: on a machine that is much too busy that takes seconds
	lockWaits = "3000"           // milliseconds that git itself waits for a ref's lock
)

// caller runs git on one repository. No shell, no terminal, no inherited GIT_*, no program that a
// repository's configuration names.
type caller struct {
	bin  string
	dir  string   // where it starts
	side []string // --git-dir and --work-tree
	env  []string

	traffic *traffic // in which this git is one
	lease   *lease   // that it holds too; nil where it only reads
	locks   []string // that it may take
}

// hardened is what every git is told, whatever a configuration file says.
func hardened() [][2]string {
	return [][2]string{
		{"core.fsmonitor", "false"}, {"core.hooksPath", "/dev/null"}, {"core.sshCommand", "false"},
		{"core.pager", "cat"}, {"core.editor", "false"}, {"core.alternateRefsCommand", "true"},
		{"core.logAllRefUpdates", "false"}, {"core.filesRefLockTimeout", lockWaits}, {"core.packedRefsTimeout", lockWaits},
		{"core.fsyncMethod", "batch"}, {"safe.bareRepository", "explicit"},
		{"protocol.allow", "never"}, {"protocol.ext.allow", "never"}, {"credential.helper", ""},
		{"init.defaultRefFormat", "files"}, {"gc.auto", "0"}, {"maintenance.auto", "false"}, {"commit.gpgsign", "false"}, {"submodule.recurse", "false"},
		{"advice.addEmbeddedRepo", "false"}, {"diff.external", ""}, {"pack.threads", "1"},
	}
}

// userEnv lets git read the user's own configuration, where identity and safe.directory are; the filters
// named are blanked.
func userEnv(filters []string) []string {
	pairs := hardened()
	for _, f := range filters {
		for _, key := range []string{"clean", "smudge", "process"} {
			pairs = append(pairs, [2]string{"filter." + f + "." + key, ""})
		}
		pairs = append(pairs, [2]string{"filter." + f + ".required", "false"})
	}
	env := append(fixedEnv(), "HOME="+os.Getenv("HOME"))
	if dir, ok := os.LookupEnv("XDG_CONFIG_HOME"); ok {
		env = append(env, "XDG_CONFIG_HOME="+dir)
	}
	return append(env, asEnv(pairs)...)
}

// ownEnv reads no configuration but the state repository's.
func ownEnv(home string) []string {
	env := append(fixedEnv(), "HOME="+home, "XDG_CONFIG_HOME="+home, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1")
	return append(env, asEnv(hardened())...)
}

func fixedEnv() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_PAGER=cat"}
}

// asEnv hands settings over one by one, so that no character of a key can be read as its end.
func asEnv(pairs [][2]string) []string {
	env := []string{"GIT_CONFIG_COUNT=" + strconv.Itoa(len(pairs))}
	for i, p := range pairs {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, p[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, p[1]))
	}
	return env
}

// at is the same caller on another repository.
func (c caller) at(gitDir, workTree string) caller {
	c.side = []string{"--git-dir=" + gitDir}
	c.dir = gitDir
	if workTree != "" {
		c.side = append(c.side, "--work-tree="+workTree)
		c.dir = workTree
	}
	return c
}

// command is a git that ends with ctx, its children with it.
func (c caller) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.bin, append(append([]string{"--no-optional-locks"}, c.side...), args...)...)
	cmd.Dir, cmd.Env = c.dir, c.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = cutWait
	if c.lease != nil {
		cmd.ExtraFiles = c.lease.files()
	}
	return cmd
}

// writing is the caller for gits that may take locks beside the ones it has.
func (c caller) writing(locks ...string) caller {
	c.locks = append(slices.Clone(c.locks), locks...)
	return c
}

// writers are the verbs that take locks of colony's own.
var writers = []string{"add", "read-tree", "update-index", "update-ref", "write-tree"}

// run returns what git wrote. A git that ended with an exit code returns its output all the same, and a *gitError. One that
// another git's lock stops is run again for a while; then it is a *CheckoutError that names the lock.
func (c caller) run(ctx context.Context, in []byte, args ...string) (out []byte, err error) {
	for began := time.Now(); ; {
		once := func() error {
			out, err = c.once(ctx, in, args...)
			return err
		}
		if c.lease != nil && slices.Contains(writers, args[0]) {
			err = c.lease.noted(c.locks, once, func(err error) bool { return exitCode(err) < 0 })
		} else {
			err = once()
		}
		lock := heldLock(err)
		if lock == "" {
			return out, err
		}
		if time.Since(began) > settle {
			return out, &CheckoutError{lock, "is held by another git, or was left by one", "try again when no git is at work, and if it stays then remove it"}
		}
		if err := rest(ctx); err != nil {
			return nil, fmt.Errorf("git %s: %w", args[0], err)
		}
	}
}

// lockHeld finds the lock in what git says of one that it could not take.
var lockHeld = lazily(`Unable to create '(.*\.lock)': File exists`)

// heldLock is the lock that kept a git from its work; empty where it was something else.
func heldLock(err error) string {
	if m := lockHeld().FindStringSubmatch(errText(err)); m != nil {
		return m[1]
	}
	return ""
}

func (c caller) once(ctx context.Context, in []byte, args ...string) ([]byte, error) {
	cmd := c.command(ctx, args...)
	out, errs := &bounded{limit: outLimit}, &bounded{limit: errLimit, cut: true}
	cmd.Stdout, cmd.Stderr = out, errs
	if in != nil {
		cmd.Stdin = bytes.NewReader(in)
	}
	c.traffic.enter()
	err := cmd.Run()
	c.traffic.leave()
	return out.Bytes(), outcome(ctx, args[0], err, errs, out)
}

// outcome turns what became of a git into an error.
func outcome(ctx context.Context, verb string, err error, errs, out *bounded) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("git %s: %w", verb, context.Cause(ctx))
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 0 {
		return &gitError{verb: verb, code: exit.ExitCode(), text: errs.String()}
	}
	if out.over {
		return fmt.Errorf("git %s: more than %d MiB of output", verb, outLimit>>20)
	}
	return fmt.Errorf("git %s: %w", verb, err)
}

// gitError is a git that ended with an exit code.
type gitError struct {
	verb string
	code int
	text string
}

func (e *gitError) Error() string {
	return fmt.Sprintf("git %s ended with %d: %s", e.verb, e.code, strings.TrimSpace(e.text))
}

// exitCode is that of a git that ran to its end; -1 where it did not, 0 without an error.
func exitCode(err error) int {
	if err == nil {
		return 0
	}
	var g *gitError
	if errors.As(err, &g) {
		return g.code
	}
	return -1
}

func errText(err error) string {
	var g *gitError
	if errors.As(err, &g) {
		return g.text
	}
	return ""
}

// bounded holds at most limit bytes. What is more is dropped where cut is set, else it stops the writer.
type bounded struct {
	bytes.Buffer
	limit int
	cut   bool
	over  bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if room := b.limit - b.Len(); len(p) > room {
		b.over = true
		b.Buffer.Write(p[:room])
		if !b.cut {
			return room, errors.New("too much output")
		}
		return len(p), nil
	}
	return b.Buffer.Write(p)
}
