package guard_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"colony/guard"
	"colony/tools"
)

// contract 36, 28: Test decides on a call whose effects were not read, runs nothing and says what is wrong with it.
func TestTest(t *testing.T) {
	env, lost := newEnv(t), errors.New("the disk is gone")
	fixed := func(e tools.Effects, err error) func(*tools.Env) (tools.Effects, error) {
		return func(*tools.Env) (tools.Effects, error) { return e, err }
	}
	ran := 0
	tool := func(effects func(*tools.Env) (tools.Effects, error)) tools.Prepared {
		return told("x", "c1", &ran, effects)
	}
	refused := tool(fixed(tools.Effects{}, nil))
	refused.Refused = &tools.Result{Fault: tools.Validation, Text: "path: is missing"}
	for name, c := range map[string]struct {
		call                  tools.Prepared
		decision, stage, rule string
		err                   error
	}{
		"unknown":        {tools.Prepared{Call: tools.Call{Name: "bash"}, Refused: &tools.Result{Fault: tools.Validation}}, "deny", "registry", "registry", nil},
		"refused":        {refused, "deny", "arguments", "validation", nil},
		"wrong argument": {tool(fixed(tools.Effects{}, fmt.Errorf("read: %w", &tools.ArgError{Field: "path", Reason: "is empty"}))), "deny", "arguments", "validation", nil},
		"broken":         {tool(func(*tools.Env) (tools.Effects, error) { panic("boom") }), "deny", "arguments", "internal", nil},
		"colony's own":   {tool(fixed(tools.Effects{}, lost)), "", "", "", lost},
		"harmless":       {tool(fixed(reads(env, "a"), nil)), "allow", "allow", "read-only", nil},
		"floor":          {tool(fixed(writes(env, ".git/x"), nil)), "deny", "floor", "protected-path", nil},
		"relative":       {tool(fixed(tools.Effects{Known: true, Writes: []string{".git/x"}}, nil)), "deny", "floor", "protected-path", nil},
		"to be asked":    {tool(fixed(writes(env, "x"), nil)), "ask", "default", "default", nil},
		"colony's git":   {tool(fixed(line(env, "git commit -m x"), nil)), "deny", "default", "git", nil},
	} {
		d, err := policy(t, guard.Parts{}).Test(env, c.call)
		if !errors.Is(err, c.err) || d.Decision != c.decision || d.Stage != c.stage || d.Rule != c.rule || d.Decision == guard.Deny && d.Stage != "registry" && d.Reason == "" {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
	if ran != 0 {
		t.Errorf("ran %d", ran)
	}
}

// A file counts by its content, whatever its time and size: also what is long, cannot be read, comes or goes.
func TestWhatCountsAsChanged(t *testing.T) {
	long := make([]byte, 64<<20)
	for name, c := range map[string]struct {
		before, after string // none where empty
		grown         bool
		runs          bool
	}{
		"the same":       {before: "echo a", after: "echo a", runs: true},
		"as long":        {before: "echo a", after: "echo b"},
		"comes":          {after: "echo a"},
		"goes":           {before: "echo a"},
		"never there":    {runs: true},
		"a long one":     {before: string(long), after: string(long), runs: true},
		"one that grows": {before: string(long), after: string(long), grown: true},
	} {
		env, ran := newEnv(t), 0
		path := filepath.Join(env.Root, "x.sh")
		put := func(text string) {
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			if text != "" {
				keep(t, env, "x.sh", text)
			}
		}
		put(c.before)
		env.Ask = (&desk{answer: func(tools.Question) (tools.Answer, error) {
			put(c.after)
			if c.grown {
				put(c.after + "more")
			}
			return tools.Answer{Allow: true}, nil
		}}).ask
		r, err := policy(t, guard.Parts{}).Gate()(tools.Invoke)(t.Context(), env, running(env, "c1", "sh x.sh", &ran))
		if err != nil || (ran == 1) != c.runs {
			t.Errorf("%s: %+v, %v, ran %d", name, r, err, ran)
		}
	}
}

// What the house says of protected names is what the floor holds.
func TestProtectedNames(t *testing.T) {
	env, names := newEnv(t), guard.ProtectedNames()
	for _, name := range names {
		if d := policy(t, guard.Parts{}).Decide(env, call("write", writes(env, "sub/"+name))); d.Rule != "protected-path" {
			t.Errorf("%s: %+v", name, d)
		}
		if got, what := guard.Protected("sub/" + name + "/x"); got != name || what == "" {
			t.Errorf("%s is %q, %q", name, got, what)
		}
	}
	if name, what := guard.Protected("src/main.go"); len(names) < 10 || name != "" || what != "" {
		t.Errorf("%d names; %q, %q", len(names), name, what)
	}
}
