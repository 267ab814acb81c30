package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"colony/guard/sandbox"
	"colony/model/scripted"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	sandbox.Helper()
	testscript.Main(m, map[string]func(){"colony": main})
}

// TestScripts runs the command as a person would, one script a verb, against a scripted model over HTTP and real git
// repositories.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("TERM", "dumb")
			env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			config := "[user]\n\tname = Ada\n\temail = ada@example.test\n[init]\n\tdefaultBranch = main\n"
			if err := os.MkdirAll(home, 0o700); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o600)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"model": serveModel, "billed": billedAsCounted, "commit": commitAll, "code": exitCode,
		},
	})
}

// serveModel: `model FILE` serves a scenario and points OPENAI_BASE_URL at it.
func serveModel(ts *testscript.TestScript, neg bool, args []string) {
	scenario, err := scripted.Parse(args[0], []byte(ts.ReadFile(args[0])))
	ts.Check(err)
	server, err := scripted.Serve(context.Background(), scripted.Parts{Scenarios: []scripted.Scenario{scenario}, Key: "test-key-0123456789"})
	ts.Check(err)
	ts.Defer(func() {
		if err := server.Close(); err != nil {
			ts.Logf("close the model: %v", err)
		}
	})
	ts.Setenv("OPENAI_BASE_URL", server.URL)
	ts.Setenv("OPENAI_API_KEY", "test-key-0123456789")
}

// billedAsCounted: `billed` compares the standard output of `colony cost --json` with what the server counted.
func billedAsCounted(ts *testscript.TestScript, neg bool, _ []string) {
	var bill struct {
		Total struct {
			Usage struct {
				Requests, Input_tokens, Cached_input_tokens, Output_tokens, Reasoning_tokens int64
			}
			USD   *float64
			Price string
		}
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &bill))
	counts := fetchCounts(ts, strings.TrimSuffix(ts.Getenv("OPENAI_BASE_URL"), "/v1")+"/counts")
	var want [5]int64
	for _, r := range counts.Rows {
		want[0], want[1], want[2], want[3], want[4] = want[0]+r.Replies, want[1]+r.Input, want[2]+r.Cached, want[3]+r.Output, want[4]+r.Reasoning
	}
	u := bill.Total.Usage
	if got := [5]int64{u.Requests, u.Input_tokens, u.Cached_input_tokens, u.Output_tokens, u.Reasoning_tokens}; got != want {
		ts.Fatalf("the bill says %v, the server counted %v", got, want)
	}
}

// commitAll: `commit DIR` makes a repository of a directory, with one commit.
func commitAll(ts *testscript.TestScript, neg bool, args []string) {
	dir := ts.MkAbs(args[0])
	for _, git := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "base"}} {
		ts.Check(ts.Exec("git", append([]string{"-C", dir}, git...)...))
	}
}

// exitCode: `code N CMD...` wants a command to end with exit code N.
func exitCode(ts *testscript.TestScript, neg bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if err != nil {
		if e, ok := err.(interface{ ExitCode() int }); ok {
			got = e.ExitCode()
		} else {
			got = -1
		}
	}
	if fmt.Sprint(got) != args[0] {
		ts.Fatalf("%s ended with %d, want %s (%v)", strings.Join(args[1:], " "), got, args[0], err)
	}
}
