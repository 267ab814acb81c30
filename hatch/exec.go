package hatch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"colony/guard"
	"colony/guard/egress"
	"colony/guard/sandbox"
	"colony/tools"
)

// InsideVariable is set in every process that colony starts for ants: what decides for a person is refused there.
const InsideVariable = "COLONY_ANT"

// confined runs processes in the sandbox: they write to the tree they work on and to a build cache of their kind.
type confined struct {
	box      *sandbox.Sandbox
	tree     string
	scratch  string // found as /tmp
	cache    string
	readable []string
	leads    func(dir string) []sandbox.Bind
	env      []string
	out      out                                // what processes reach
	at       string                             // where processes of others begin, if that is not the tree
	tight    bool                               // nothing but their /tmp is writable
	after    func(context.Context, *trip) error // hears what they asked of the network
}

// newConfined makes the cache directory. What it returns works on no tree yet.
func newConfined(box *sandbox.Sandbox, cache string, readable []string, leads func(dir string) []sandbox.Bind, getenv func(string) string) (confined, error) {
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return confined{}, err
	}
	cache, err := filepath.EvalSymlinks(cache)
	if err != nil {
		return confined{}, err
	}
	return confined{box: box, cache: cache, readable: readable, leads: leads, env: []string{
		"GOCACHE=" + filepath.Join(cache, "go-build"), "GOPROXY=off", "GOFLAGS=" + getenv("GOFLAGS"),
		"XDG_CACHE_HOME=" + filepath.Join(cache, "xdg"),
		"npm_config_cache=" + filepath.Join(cache, "npm"),
		"PIP_CACHE_DIR=" + filepath.Join(cache, "pip"),
		"CARGO_TARGET_DIR=" + filepath.Join(cache, "cargo"),
		InsideVariable + "=1",
	}}, nil
}

// in is c at work on a tree. scratch is a directory of colony's own that processes find as /tmp, from call to call;
// where it is empty, what they leave there ends with each.
func (c confined) in(tree, scratch string) confined {
	c.tree, c.scratch = tree, scratch
	return c
}

// to is c with a way out, of whose use after hears.
func (c confined) to(o out, getenv func(string) string, after func(context.Context, *trip) error) confined {
	if c.out, c.after = o, after; !o.none() {
		c.env = append(slices.Clip(c.env), outEnv(c.cache, getenv)...)
	}
	return c
}

// beginning is c whose processes of others begin in a directory that they may read.
func (c confined) beginning(dir string) confined {
	c.at, c.readable = dir, append(slices.Clip(c.readable), dir)
	return c
}

// with is c whose processes see these variables too.
func (c confined) with(env []string) confined {
	c.env = append(slices.Clone(c.env), env...)
	return c
}

func (c confined) exec(ctx context.Context, p tools.Process) (tools.Exit, error) {
	j := c.job(p.Argv, p.Dir)
	j.Env, j.Stdout, j.Stderr = slices.Concat(c.env, p.Env), p.Stdout, p.Stderr
	return c.run(ctx, j)
}

// job is a command in the box, which has no variables of its own yet.
func (c confined) job(argv []string, dir string) sandbox.Job {
	j := sandbox.Job{
		Argv: argv, Dir: dir, Writable: []string{c.tree, c.cache}, Readable: c.readable, Scratch: c.scratch, Bound: c.leads(c.tree),
		Protected: protectedIn(c.tree),
	}
	if c.tight {
		j.Writable, j.Readable = nil, slices.Concat(c.readable, j.Writable)
	}
	return j
}

// run runs a job to its end, with the ways out that there are.
func (c confined) run(ctx context.Context, j sandbox.Job) (tools.Exit, error) {
	if c.out.none() || c.box.Level() == sandbox.Off {
		exit, err := c.box.Run(ctx, j)
		return tools.Exit(exit), err
	}
	t := &trip{refused: map[string]*egress.RefusedError{}}
	c.lead(&j, t)
	exit, err := c.box.Run(ctx, j)
	for _, refused := range t.stopped() {
		if j.Stderr == nil {
			break
		}
		next := "do without it"
		if refused.Unlisted {
			next += ", or say in your summary that sandbox.net lacks it"
		}
		fmt.Fprintf(j.Stderr, "colony: %s; %s\n", refused, next)
	}
	return tools.Exit(exit), errors.Join(err, c.after(ctx, t))
}

// protectedIn are the paths of a tree that no process changes.
func protectedIn(tree string) []string {
	names := guard.ProtectedNames()
	for i, name := range names {
		names[i] = filepath.Join(tree, name)
	}
	return names
}
