package guard_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"colony/guard"
	"colony/guard/shell"
	"colony/tools"
)

// stub is a tool whose effects are told.
type stub struct {
	tools.Base
	name    string
	effects func(*tools.Env) (tools.Effects, error)
	ran     *int
}

func (s stub) Spec() tools.Spec { return tools.Spec{Name: s.name} }

func (s stub) Effects(env *tools.Env, _ json.RawMessage) (tools.Effects, error) {
	return s.effects(env)
}

func (s stub) Run(context.Context, *tools.Env, json.RawMessage) (tools.Result, error) {
	*s.ran++
	return tools.Result{Text: "ran"}, nil
}

// env is an ant in a fresh worktree.
func newEnv(t *testing.T) *tools.Env {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root = filepath.Join(root, "wt")
	if err := os.MkdirAll(filepath.Join(root, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	return &tools.Env{Root: root, Ant: "worker-1", Cwd: func() string { return root }, Now: time.Now}
}

// line is what the tool sh says of a command line.
func line(env *tools.Env, text string) tools.Effects {
	l := shell.Parse(text)
	e := tools.Effects{Known: l.Known, ReadOnly: l.ReadOnly(), Subjects: []string{text}, Why: l.Why, Hosts: l.Hosts}
	if l.Commands != nil {
		e.Commands = []tools.Command{}
	}
	for _, c := range l.Commands {
		e.Commands = append(e.Commands, tools.Command(c))
	}
	for _, p := range append(l.Reads, l.Globs...) {
		e.Reads = append(e.Reads, absolute(env, p))
	}
	for _, p := range l.Writes {
		e.Writes = append(e.Writes, absolute(env, p))
	}
	return e
}

func absolute(env *tools.Env, p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return env.Cwd() + "/" + p
}

// writes and reads are what the file tools say of a path.
func writes(env *tools.Env, p string) tools.Effects {
	return tools.Effects{Known: true, Writes: []string{absolute(env, p)}, Subjects: []string{p}}
}

func reads(env *tools.Env, p string) tools.Effects {
	return tools.Effects{Known: true, ReadOnly: true, Reads: []string{absolute(env, p)}, Subjects: []string{p}}
}

func call(name string, e tools.Effects) tools.Prepared {
	return tools.Prepared{
		Call:    tools.Call{ID: "c1", Name: name},
		Tool:    stub{name: name, effects: func(*tools.Env) (tools.Effects, error) { return e, nil }, ran: new(int)},
		Effects: e,
	}
}

func policy(t *testing.T, parts guard.Parts) *guard.Policy {
	t.Helper()
	if parts.Mode == "" {
		parts.Mode = guard.ModeAsk
	}
	p, err := guard.New(parts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func rules(t *testing.T, allow, ask, deny []string) guard.Rules {
	t.Helper()
	r, err := guard.ParseRules(allow, ask, deny, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// contract 28: the order, with the stage and the rule that decided. contract 15: plan mode judges by effects, whatever the spec.
func TestOrder(t *testing.T) {
	env := newEnv(t)
	known := tools.Effects{Known: true, Writes: []string{env.Root + "/a"}}
	with := func(e tools.Effects, change func(*tools.Effects)) tools.Effects { change(&e); return e }
	all := rules(t, []string{"x"}, []string{"x"}, []string{"x"})
	for name, c := range map[string]struct {
		parts                 guard.Parts
		e                     tools.Effects
		decision, stage, rule string
	}{
		"floor before deny":           {guard.Parts{Rules: all}, writes(env, ".git/config"), "deny", "floor", "protected-path"},
		"pre-approval not past floor": {guard.Parts{}, with(writes(env, "../o"), func(e *tools.Effects) { e.Opinion = tools.OpinionPreApprove }), "deny", "floor", "path-jail"},
		"auto not past floor":         {guard.Parts{Mode: guard.ModeAuto, Sandboxed: true}, writes(env, "../o"), "deny", "floor", "path-jail"},
		"deny before ask":             {guard.Parts{Rules: all}, known, "deny", "deny", "x"},
		"ask before allow":            {guard.Parts{Rules: rules(t, []string{"x"}, []string{"x"}, nil)}, known, "ask", "ask", "x"},
		"ask rule before auto":        {guard.Parts{Mode: guard.ModeAuto, Sandboxed: true, Rules: rules(t, nil, []string{"x"}, nil)}, known, "ask", "ask", "x"},
		"a tool's deny":               {guard.Parts{Rules: rules(t, []string{"x"}, nil, nil)}, with(known, func(e *tools.Effects) { e.Opinion = tools.OpinionDeny }), "deny", "opinion", "opinion"},
		"a tool's deny past ask":      {guard.Parts{Rules: rules(t, nil, []string{"x"}, nil)}, with(known, func(e *tools.Effects) { e.Opinion = tools.OpinionDeny }), "deny", "ask", "opinion"},
		"a tool's ask before mode":    {guard.Parts{Mode: guard.ModeAutoEdit}, with(known, func(e *tools.Effects) { e.Opinion = tools.OpinionAsk }), "ask", "opinion", "opinion"},
		"a tool's allow":              {guard.Parts{}, with(known, func(e *tools.Effects) { e.Opinion = tools.OpinionPreApprove }), "allow", "allow", "opinion"},
		"allow not past unknown":      {guard.Parts{}, tools.Effects{Opinion: tools.OpinionPreApprove}, "ask", "default", "default"},
		"plan":                        {guard.Parts{Mode: guard.ModePlan, Rules: rules(t, []string{"x"}, nil, nil)}, known, "deny", "mode", "plan"},
		"plan reads":                  {guard.Parts{Mode: guard.ModePlan}, reads(env, "a"), "allow", "allow", "read-only"},
		"plan unknown":                {guard.Parts{Mode: guard.ModePlan}, tools.Effects{}, "deny", "mode", "plan"},
		"plan fetch":                  {guard.Parts{Mode: guard.ModePlan}, tools.Effects{Known: true, ReadOnly: true, Hosts: []string{"a.org"}}, "ask", "default", "default"},
		"auto-edit":                   {guard.Parts{Mode: guard.ModeAutoEdit}, known, "allow", "mode", "auto-edit"},
		"auto-edit destructive":       {guard.Parts{Mode: guard.ModeAutoEdit}, with(known, func(e *tools.Effects) { e.Destructive = true }), "ask", "default", "default"},
		"auto-edit unknown":           {guard.Parts{Mode: guard.ModeAutoEdit}, tools.Effects{}, "ask", "default", "default"},
		"auto edits":                  {guard.Parts{Mode: guard.ModeAuto, Sandboxed: true}, known, "allow", "mode", "auto"},
		"auto unknown leaves":         {guard.Parts{Mode: guard.ModeAuto, Sandboxed: true}, tools.Effects{}, "ask", "default", "default"},
		"auto host leaves":            {guard.Parts{Mode: guard.ModeAuto, Sandboxed: true}, tools.Effects{Known: true, ReadOnly: true, Hosts: []string{"a.org"}}, "ask", "default", "default"},
		"private host":                {guard.Parts{Rules: rules(t, []string{"x"}, nil, nil)}, tools.Effects{Known: true, Hosts: []string{"127.0.0.1:80"}}, "deny", "floor", "private-address"},
		"mapped host":                 {guard.Parts{}, tools.Effects{Known: true, Hosts: []string{"[::ffff:10.0.0.1]"}}, "deny", "floor", "private-address"},
		"allow":                       {guard.Parts{Rules: rules(t, []string{"x"}, nil, nil)}, known, "allow", "allow", "x"},
		"allow unknown tool-wide":     {guard.Parts{Rules: rules(t, []string{"x"}, nil, nil)}, tools.Effects{}, "allow", "allow", "x"},
		"allow of another tool":       {guard.Parts{Rules: rules(t, []string{"X", "xy"}, nil, nil)}, known, "ask", "default", "default"},
		"default":                     {guard.Parts{}, known, "ask", "default", "default"},
		"reading":                     {guard.Parts{}, reads(env, "a"), "allow", "allow", "read-only"},
		"claims read-only, writes":    {guard.Parts{Mode: guard.ModePlan}, with(known, func(e *tools.Effects) { e.ReadOnly = true }), "deny", "mode", "plan"},
	} {
		d := policy(t, c.parts).Decide(env, call("x", c.e))
		if d.Decision != c.decision || d.Stage != c.stage || d.Rule != c.rule || d.Reason == "" {
			t.Errorf("%s: %+v, want %s at %s by %s", name, d, c.decision, c.stage, c.rule)
		}
	}
	d := policy(t, guard.Parts{}).Decide(env, tools.Prepared{Call: tools.Call{Name: "bash"}})
	if d.Decision != guard.Deny || d.Stage != "registry" {
		t.Errorf("an unknown tool: %+v", d)
	}
}

// contract 61, FS01 to FS05, FS07: the jail compares components of resolved paths; protected names in any case.
func TestPathJail(t *testing.T) {
	env := newEnv(t)
	base := filepath.Dir(env.Root)
	blobs, state := filepath.Join(base, "blobs"), filepath.Join(env.Root, "state")
	for _, dir := range []string{"outside", "wt-evil", "wt-of-another", "main", "gitdir/hooks", "blobs", "tmp", "wt/state", "wt/colony"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"link": "../outside", "dangling": "../outside/new", "loop": "loop", "in": "sub", "hook": ".git/hooks/x"} {
		if err := os.Symlink(to, filepath.Join(env.Root, link)); err != nil {
			t.Fatal(err)
		}
	}
	auto := guard.Parts{Mode: guard.ModeAuto, Sandboxed: true, Rules: rules(t, []string{"write", "read", "sh"}, nil, nil),
		Protected: []string{state}, Readable: []string{blobs}}
	p := policy(t, auto)
	var cases []struct{ ID, Path, Write, Read string } // the rule that denies, or nothing
	data, err := os.ReadFile("testdata/paths.json")
	if err == nil {
		err = json.Unmarshal(data, &cases)
	}
	if err != nil || len(cases) == 0 {
		t.Fatal(len(cases), err)
	}
	for _, c := range cases {
		path := strings.ReplaceAll(c.Path, "BASE", base)
		for _, try := range []struct {
			tool string
			e    tools.Effects
			want string
		}{
			{"write", writes(env, path), c.Write},
			{"read", reads(env, path), c.Read},
			{"sh", line(env, "touch "+quoted(path)), c.Write},
			{"sh", line(env, "ls > "+quoted(path)), c.Write},
			{"sh", line(env, "cat "+quoted(path)), c.Read},
		} {
			d := p.Decide(env, call(try.tool, try.e))
			if try.want == "" && d.Decision != guard.Allow || try.want != "" && (d.Decision != guard.Deny || d.Stage != "floor" || d.Rule != try.want) {
				t.Errorf("%s %s %s: %+v, want the floor's %q", c.ID, try.tool, path, d, try.want)
			}
		}
	}
}

// Scratch outside the worktree is for commands: file tools stay inside.
func TestScratchIsForCommands(t *testing.T) {
	env := newEnv(t)
	tmp := filepath.Join(filepath.Dir(env.Root), "tmp")
	p := policy(t, guard.Parts{Mode: guard.ModeAuto, Sandboxed: true, Writable: []string{tmp}})
	for _, c := range []struct {
		tool string
		e    tools.Effects
		want string
	}{
		{"sh", line(env, "touch "+tmp+"/x"), guard.Allow},
		{"sh", line(env, "cat "+tmp+"/x"), guard.Allow},
		{"write", writes(env, tmp+"/x"), guard.Deny},
		{"read", reads(env, tmp+"/x"), guard.Deny},
	} {
		if d := p.Decide(env, call(c.tool, c.e)); d.Decision != c.want {
			t.Errorf("%s: %+v", c.tool, d)
		}
	}
}

func quoted(s string) string { return "'" + s + "'" }

// The ant's worktree hangs in colony's state, which is protected round it.
func TestWorktreeInsideProtectedState(t *testing.T) {
	env := newEnv(t)
	p := policy(t, guard.Parts{Mode: guard.ModeAutoEdit, Protected: []string{filepath.Dir(env.Root)}})
	if d := p.Decide(env, call("write", writes(env, "a"))); d.Decision != guard.Allow {
		t.Errorf("inside: %+v", d)
	}
	if d := p.Decide(env, call("write", writes(env, "../events.db"))); d.Decision != guard.Deny || d.Rule != "protected-path" {
		t.Errorf("beside: %+v", d)
	}
}

func TestNewRefuses(t *testing.T) {
	if _, err := guard.New(guard.Parts{Mode: guard.ModeAuto}); err != guard.ErrNoSandbox {
		t.Errorf("auto without a sandbox: %v", err)
	}
	if _, err := guard.New(guard.Parts{Mode: "yolo"}); err == nil || !strings.Contains(err.Error(), "auto-edit") {
		t.Errorf("an unknown mode: %v", err)
	}
	if _, err := guard.New(guard.Parts{}); err == nil {
		t.Error("no mode was taken")
	}
	if _, err := guard.New(guard.Parts{Mode: guard.ModeAsk, Readable: []string{"blobs"}}); err == nil {
		t.Error("a relative path was taken")
	}
	loop := filepath.Join(t.TempDir(), "loop")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	if _, err := guard.New(guard.Parts{Mode: guard.ModeAsk, Protected: []string{loop}}); err == nil {
		t.Error("a path that leads nowhere was taken")
	}
	if _, err := guard.ParseMode("auto-edti"); err == nil || !strings.Contains(err.Error(), "auto-edit") {
		t.Errorf("a near mode: %v", err)
	}
}
