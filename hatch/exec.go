package hatch

import (
	"context"
	"os"
	"path/filepath"

	"colony/guard/sandbox"
	"colony/tools"
)

// confined runs processes in the sandbox for one ant or for gates: in its tree, with a scratch home and a build
// cache of its own kind.
type confined struct {
	box      *sandbox.Sandbox
	tree     string
	home     string
	cache    string
	readable []string
	env      []string
}

func (c confined) exec(ctx context.Context, p tools.Process) (tools.Exit, error) {
	exit, err := c.box.Run(ctx, sandbox.Job{
		Argv: p.Argv, Dir: p.Dir, Env: append(append([]string{}, c.env...), p.Env...),
		Writable: []string{c.tree, c.home, c.cache}, Readable: c.readable,
		Stdout: p.Stdout, Stderr: p.Stderr,
	})
	return tools.Exit(exit), err
}

// confine makes the directories that processes of one kind write to.
func (c *Colony) confine(tree, home, cache string, readable []string) (confined, error) {
	for _, dir := range []string{home, cache} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return confined{}, err
		}
	}
	env := append([]string{
		"HOME=" + home,
		"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_EDITOR=true",
		"GOCACHE=" + filepath.Join(cache, "go-build"), "GOTMPDIR=",
		"GOMODCACHE=" + c.modules, "GOPROXY=off", "GOTOOLCHAIN=local", "GOFLAGS=" + c.parts.Getenv("GOFLAGS"),
		"XDG_CACHE_HOME=" + filepath.Join(cache, "xdg"),
		"npm_config_cache=" + filepath.Join(cache, "npm"),
		"PIP_CACHE_DIR=" + filepath.Join(cache, "pip"),
		"CARGO_TARGET_DIR=" + filepath.Join(cache, "cargo"),
	})
	return confined{c.box, tree, home, cache, readable, env}, nil
}

// moduleCache is where the user's Go keeps downloaded modules: ants may read it.
func moduleCache(getenv func(string) string) string {
	if dir := getenv("GOMODCACHE"); dir != "" {
		return dir
	}
	gopath := filepath.SplitList(getenv("GOPATH"))
	if len(gopath) > 0 && gopath[0] != "" {
		return filepath.Join(gopath[0], "pkg", "mod")
	}
	return filepath.Join(getenv("HOME"), "go", "pkg", "mod")
}
