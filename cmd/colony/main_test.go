package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"colony/guard/sandbox"
	"colony/hatch"
	"colony/lsp/lsptest"
	"colony/model/scripted"

	"github.com/rogpeppe/go-internal/testscript"
)

// built is the directory of the command as `make build` makes it, without the race detector: what a person runs.
var built string

// underOrganisation is a name of this test as a program: the command on a machine whose organisation keeps its settings in
// $ORGANISATION instead of /etc/colony.
const underOrganisation = "orgcolony"

// languageServer is a name of this test as a program: a language server in one of lsptest's modes.
const languageServer = "lsptest-server"

func TestMain(m *testing.M) {
	sandbox.Helper()
	lsptest.Main(languageServer)
	if filepath.Base(os.Args[0]) == underOrganisation {
		os.Exit(run(context.Background(), &app{
			args: os.Args[1:], in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv, environ: os.Environ, slept: slept,
			organisation: os.Getenv("ORGANISATION"),
		}))
	}
	os.Exit(runTests(m))
}

// builtIn names where a test that starts this program again built the command.
const builtIn = "COLONY_TEST_BUILT"

// besides is how many tests that wait for processes and disks run at once, where -test.parallel does not say.
const besides = "4"

func runTests(m *testing.M) int {
	if built = os.Getenv(builtIn); built == "" {
		if err := build(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(built)
		os.Setenv(builtIn, built)
	}
	flag.Parse()
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "test.parallel" })
	if !said {
		if err := flag.Set("test.parallel", besides); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	os.Unsetenv(hatch.InsideVariable) // these tests are a person's, also where an ant runs them
	os.Setenv("PATH", built+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return m.Run()
}

// build makes the command, and this test under its other names beside it.
func build() (err error) {
	if built, err = os.MkdirTemp("", "colony-built-"); err != nil {
		return err
	}
	if out, err := exec.Command("go", "build", "-o", filepath.Join(built, "colony"), ".").CombinedOutput(); err != nil {
		return fmt.Errorf("build the command: %w: %s", err, out)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.Symlink(self, filepath.Join(built, underOrganisation)); err != nil {
		return err
	}
	return os.Link(self, filepath.Join(built, languageServer)) // no symbolic link: the sandbox shows the program by its own name
}

// TestScripts runs the command as a person would, one script a verb, against a scripted model over HTTP and real git
// repositories.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("TERM", "dumb")
			env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			config := "[user]\n\tname = Ada\n\temail = ada@example.test\n[init]\n\tdefaultBranch = main\n"
			env.Values[ear{}], env.Values[page{}] = &ear{}, &page{}
			if err := os.MkdirAll(home, 0o700); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o600)
		},
		Condition: hasServer,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"model": serveModel, "billed": billedAsCounted, "commit": commitAll, "code": exitCode,
			"snapshot": takeSnapshot, "unchanged": compareSnapshot, "overlap": antsOverlap, "listen": listen, "unheard": unheard,
			"serve": serve, "unserved": unserved, "gomodule": goModule, "warm": warmCache, "python": namePython,
			"within": within, "clean": cleanOutput, "isjson": isJSON, "interrupt": interrupt, "meanwhile": meanwhile, "nobody": nobodyLeft, "bytes": writeBytes,
			"away": makeAway, "cooled": cooled, "fill": fill, "learned": learned, "servers": realServers, "block": block, "record": record, "mcptest": putServer, "mcphttp": serveTools,
		},
	})
}

// serveModel: `model FILE` serves the scenarios of a file and points OPENAI_BASE_URL at it.
func serveModel(ts *testscript.TestScript, neg bool, args []string) {
	var scenarios []scripted.Scenario
	for _, text := range strings.Split(ts.ReadFile(args[0]), "\n---\n") {
		scenario, err := scripted.Parse(args[0], []byte(text))
		ts.Check(err)
		scenarios = append(scenarios, scenario)
	}
	server, err := scripted.Serve(context.Background(), scripted.Parts{Scenarios: scenarios, Key: "test-key-0123456789"})
	ts.Check(err)
	ts.Defer(func() {
		if err := server.Close(); err != nil {
			ts.Logf("close the model: %v", err)
		}
	})
	ts.Setenv("OPENAI_BASE_URL", server.URL)
	ts.Setenv("MODEL", server.URL)
	ts.Setenv("OPENAI_API_KEY", "test-key-0123456789")
}

// record: `record LOG FILE` makes a scenario of the events of a run, named recorded.
func record(ts *testscript.TestScript, neg bool, args []string) {
	scenario, err := scripted.Record("recorded", strings.NewReader(ts.ReadFile(args[0])))
	ts.Check(err)
	text, err := scenario.YAML()
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), text, 0o600))
}
