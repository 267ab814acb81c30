package toolstest_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"colony/tools"
	"colony/tools/toolstest"
)

// liar names the broken tool that a second process of this test holds to the suite.
const liar = "TOOLSTEST_LIAR"

const closedSchema = `{"type":"object","properties":{"a":{"type":"integer","description":"A number."}},"additionalProperties":false}`

func good(env *tools.Env, _ json.RawMessage) (tools.Effects, error) {
	return tools.Effects{Known: true, ReadOnly: true}, nil
}

func honest() toolstest.Fake {
	f := toolstest.Reader("honest", nil)
	f.Is.Params = json.RawMessage(closedSchema)
	f.Touch = good
	return f
}

// touching is honest but for what its Effects does first.
func touching(do func(*tools.Env)) tools.Tool {
	f := honest()
	f.Touch = func(env *tools.Env, args json.RawMessage) (tools.Effects, error) {
		do(env)
		return good(env, args)
	}
	return f
}

// previewing is honest but for its Preview.
type previewing struct {
	toolstest.Fake
	do func(*tools.Env)
}

func (p previewing) Preview(_ context.Context, env *tools.Env, _ json.RawMessage) (tools.Result, error) {
	p.do(env)
	return tools.Result{}, nil
}

func scribble(env *tools.Env) {
	if err := os.WriteFile(filepath.Join(env.Root, "scribble"), nil, 0o600); err != nil {
		panic(err)
	}
}

// liars are tools that break one promise each, with what the suite must say.
func liars() map[string]struct {
	suite toolstest.Suite
	says  string
} {
	edit := func(change func(*toolstest.Fake)) tools.Tool {
		f := honest()
		change(&f)
		return f
	}
	calls, flips := []string{`{"a":1}`}, 0
	of := func(t tools.Tool) toolstest.Suite { return toolstest.Suite{Tool: t, Good: calls} }
	return map[string]struct {
		suite toolstest.Suite
		says  string
	}{
		"open schema": {of(edit(func(f *toolstest.Fake) {
			f.Is.Params = json.RawMessage(`{"type":"object","properties":{"a":{"description":"x"}}}`)
		})), "additionalProperties must be false"},
		"no field text": {of(edit(func(f *toolstest.Fake) {
			f.Is.Params = json.RawMessage(`{"type":"object","properties":{"a":{}},"additionalProperties":false}`)
		})), "field a has no description"},
		"long line":      {of(edit(func(f *toolstest.Fake) { f.Is.Description = strings.Repeat("x", 200) })), "at most 160 bytes"},
		"bad name":       {of(edit(func(f *toolstest.Fake) { f.Is.Name = "a b" })), "a name is"},
		"writes":         {of(touching(scribble)), "Effects or Preview made"},
		"execs":          {of(touching(func(e *tools.Env) { _, _ = e.Exec(context.Background(), tools.Process{}) })), "Effects ran a process"},
		"dials":          {of(touching(func(e *tools.Env) { _, _ = e.Dial(context.Background(), "", "") })), "Effects dialled"},
		"asks":           {of(touching(func(e *tools.Env) { _, _ = e.Ask(context.Background(), tools.Question{}) })), "Effects asked"},
		"clock":          {of(touching(func(e *tools.Env) { e.Now() })), "Effects read the clock"},
		"preview writes": {of(previewing{honest(), scribble}), "Effects or Preview made"},
		"preview execs":  {of(previewing{honest(), func(e *tools.Env) { _, _ = e.Exec(context.Background(), tools.Process{}) }}), "Preview ran a process"},
		"not read-only":  {of(edit(func(f *toolstest.Fake) { f.Touch = nil })), "spec says read-only"},
		"safe writer": {of(edit(func(f *toolstest.Fake) {
			f.Is.ReadOnly = false
			f.Touch = func(*tools.Env, json.RawMessage) (tools.Effects, error) { return tools.Effects{Known: true}, nil }
		})), "safe beside others"},
		"unsteady":        {of(edit(func(f *toolstest.Fake) { f.Safe = func(json.RawMessage) bool { flips++; return flips%2 == 0 } })), "IsConcurrencySafe: two answers"},
		"unsteady effect": {of(touchingTwice()), "and then"},
		"blank": {of(edit(func(f *toolstest.Fake) {
			f.Do = func(context.Context, *tools.Env, json.RawMessage) (tools.Result, error) { return tools.Result{}, nil }
		})), "some text"},
		"reader writes": {toolstest.Suite{Tool: edit(func(f *toolstest.Fake) {
			f.Do = func(_ context.Context, e *tools.Env, _ json.RawMessage) (tools.Result, error) {
				if err := os.Remove(filepath.Join(e.Root, "d", "f")); err != nil {
					panic(err)
				}
				return tools.Result{Text: "x"}, nil
			}
		}), Tree: map[string]string{"d/f": "x"}, Good: calls}, "a read-only Run changed"},
		"coerced":  {toolstest.Suite{Tool: honest(), Good: []string{`{"a":"1"}`}}, "were coerced"},
		"not good": {toolstest.Suite{Tool: honest(), Good: []string{`{"b":1}`}}, "refused"},
		"not bad":  {toolstest.Suite{Tool: honest(), Bad: calls}, "taken"},
	}
}

func touchingTwice() tools.Tool {
	f, n := honest(), 0
	f.Touch = func(*tools.Env, json.RawMessage) (tools.Effects, error) {
		n++
		return tools.Effects{Known: true, ReadOnly: true, Subjects: make([]string, n)}, nil
	}
	return f
}

func TestHonestToolPasses(t *testing.T) {
	toolstest.Run(t, toolstest.Suite{Tool: honest(), Good: []string{`{"a":1}`, `{}`}, Bad: []string{`{"b":1}`, `x`}})
	refuses := honest()
	refuses.Touch = func(*tools.Env, json.RawMessage) (tools.Effects, error) {
		return tools.Effects{}, &tools.ArgError{Reason: "no"}
	}
	toolstest.Run(t, toolstest.Suite{Tool: refuses, Bad: []string{`{"a":1}`}})
}

// Each liar is held to the suite in a process of its own, which must fail for the right reason.
func TestSuiteCatchesLiars(t *testing.T) {
	if name := os.Getenv(liar); name != "" {
		toolstest.Run(t, liars()[name].suite)
		return
	}
	for name, l := range liars() {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestSuiteCatchesLiars$")
			cmd.Env = append(os.Environ(), liar+"="+name)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), l.says) {
				t.Errorf("%v: want %q in\n%s", err, l.says, out)
			}
		})
	}
}

func TestFakeIsCautious(t *testing.T) {
	f := toolstest.Named("x")
	e, err := f.Effects(nil, nil)
	if err != nil || e.Known || f.IsConcurrencySafe(nil) {
		t.Errorf("got %+v, %v", e, err)
	}
	if err := tools.NewRegistry(io.Discard).Register("s", f); err != nil {
		t.Error(err)
	}
}

func TestEnvHasNoNetworkAndNobody(t *testing.T) {
	env := toolstest.NewEnv(t)
	if _, err := env.Dial(t.Context(), "tcp", "127.0.0.1:1"); err == nil {
		t.Error("dialled")
	}
	if a, err := env.Ask(t.Context(), tools.Question{}); err != nil || !a.Headless {
		t.Errorf("asked: %+v, %v", a, err)
	}
	var out strings.Builder
	exit, err := env.Exec(t.Context(), tools.Process{Argv: []string{"sh", "-c", "echo $X; exit 3"}, Dir: env.Cwd(), Env: []string{"X=y"}, Stdout: &out, Stderr: &out})
	if err != nil || exit.Code != 3 || out.String() != "y\n" {
		t.Errorf("got %+v, %v, %q", exit, err, out.String())
	}
	if _, err := env.Exec(t.Context(), tools.Process{Argv: []string{"/no/such/program"}, Dir: env.Root}); err == nil {
		t.Error("ran what is not there")
	}
	exit, err = env.Exec(t.Context(), tools.Process{Argv: []string{"sh", "-c", "sleep 30 & exit 0"}, Dir: env.Root, Stdout: &out})
	if err != nil || exit.Code != 0 {
		t.Errorf("a child that holds the pipe: %+v, %v", exit, err)
	}
	env.Progress("x")
}
