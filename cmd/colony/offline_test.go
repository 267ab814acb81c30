package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// goModule: `gomodule DIR` makes a directory a module with a dependency that lies in this machine's module cache, and names
// the cache, since the home is another.
func goModule(ts *testscript.TestScript, neg bool, args []string) {
	const dependency = "github.com/spf13/pflag "
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	ts.Check(err)
	ts.Setenv("GOMODCACHE", strings.TrimSpace(string(out)))
	lines := func(file string) (found []string) {
		text, err := os.ReadFile(filepath.Join("..", "..", file))
		ts.Check(err)
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, dependency) {
				found = append(found, strings.TrimSpace(line))
			}
		}
		return found
	}
	mod, sum := lines("go.mod"), lines("go.sum")
	if len(mod) != 1 || len(sum) < 2 {
		ts.Fatalf("this repository names its dependency otherwise: %v, %v", mod, sum)
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module m\n\ngo 1.26\n\nrequire "+mod[0]+"\n"), 0o600))
	ts.Check(os.WriteFile(filepath.Join(dir, "go.sum"), []byte(strings.Join(sum, "\n")+"\n"), 0o600))
}

// warmCache: `warm` gives colony's commands the standard library that an earlier test built, so that they do not build it
// again; `warm keep` keeps what they built for later ones, in the checkout.
func warmCache(ts *testscript.TestScript, neg bool, args []string) {
	kept := filepath.Join(filepath.Dir(ts.Getenv("AWAY")), "built-"+runtime.Version())
	made, err := filepath.Glob(filepath.Join(ts.Getenv("HOME"), ".local/state/colony/repos/*/cache/ants"))
	ts.Check(err)
	if len(made) != 1 {
		ts.Fatalf("there is not one cache of commands: %v", made)
	}
	from, to := kept, filepath.Join(made[0], "go-build")
	if len(args) > 0 {
		from, to = to, kept
	}
	if !exists(from) || exists(to) {
		return
	}
	part, err := os.MkdirTemp(filepath.Dir(to), "part-")
	ts.Check(err)
	ts.Defer(func() { os.RemoveAll(part) })
	ts.Check(os.CopyFS(part, os.DirFS(from)))
	if err := os.Rename(part, to); err != nil && !exists(to) { // another test was quicker
		ts.Fatalf("%v", err)
	}
}

// namePython: `python` names where pyenv keeps interpreters, since the home is another.
func namePython(ts *testscript.TestScript, neg bool, _ []string) {
	if home, err := os.UserHomeDir(); err == nil && os.Getenv("PYENV_ROOT") == "" {
		if root := filepath.Join(home, ".pyenv"); exists(root) {
			ts.Setenv("PYENV_ROOT", root)
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
