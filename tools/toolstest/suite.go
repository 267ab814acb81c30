package toolstest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	"colony/tools"
)

// Suite is a tool and calls of it. Every call gets an env of its own, on a tree that Tree fills.
type Suite struct {
	Tool tools.Tool
	Tree map[string]string                // path below the root to content
	Arm  func(t *testing.T, e *tools.Env) // before each call, where the env needs more; may be nil
	Good []string                         // arguments that run to a result without a fault
	Bad  []string                         // arguments that Prepare or Effects refuses
}

// Run holds the tool to what every tool promises.
func Run(t *testing.T, s Suite) {
	t.Helper()
	t.Run("spec", func(t *testing.T) { checkSpec(t, s) })
	for _, args := range s.Good {
		t.Run("good "+args, func(t *testing.T) { checkGood(t, s, args) })
	}
	for _, args := range s.Bad {
		t.Run("bad "+args, func(t *testing.T) { checkBad(t, s, args) })
	}
}

// checkSpec: the name and schema are taken by a registry, the schema is closed, and the text is fit to read.
func checkSpec(t *testing.T, s Suite) {
	spec := s.Tool.Spec()
	if err := tools.NewRegistry(io.Discard).Register(tools.BuiltIn, s.Tool); err != nil {
		t.Fatal(err)
	}
	if spec.Line() == "" || len(spec.Line()) > 160 || strings.TrimSpace(spec.Description) != spec.Description {
		t.Errorf("description %q: its first line must say in at most 160 bytes what the tool does, with no blanks round it", spec.Description)
	}
	var schema struct {
		Properties           map[string]struct{ Description string }
		AdditionalProperties *bool
	}
	if err := json.Unmarshal(spec.Params, &schema); err != nil {
		t.Fatalf("schema: %v", err)
	}
	if schema.AdditionalProperties == nil || *schema.AdditionalProperties {
		t.Error("schema: additionalProperties must be false")
	}
	for name, p := range schema.Properties {
		if p.Description == "" {
			t.Errorf("schema: field %s has no description", name)
		}
	}
	if !reflect.DeepEqual(spec, s.Tool.Spec()) {
		t.Error("spec: two answers differ")
	}
}

// checkGood: Effects and Preview touch nothing, answers hold still, Run says something, and a call that says it
// is read-only is.
func checkGood(t *testing.T, s Suite, args string) {
	env := s.env(t)
	p := prepare(t, env, s.Tool, args)
	if p.Refused != nil {
		t.Fatalf("refused: %s", p.Refused.Text)
	}
	before := snapshot(t, env.Root)
	effects := s.effects(t, env, p)
	if s.Tool.Spec().ReadOnly && !(effects.Known && effects.ReadOnly) {
		t.Error("spec says read-only, effects do not")
	}
	if safe := s.Tool.IsConcurrencySafe(p.Call.Args); safe != s.Tool.IsConcurrencySafe(p.Call.Args) {
		t.Error("IsConcurrencySafe: two answers differ")
	} else if safe && effects.Known && !effects.ReadOnly {
		t.Error("safe beside others, yet not read-only")
	}
	s.preview(t, env, p)
	compare(t, "Effects or Preview", before, snapshot(t, env.Root))
	r, err := tools.Invoke(t.Context(), env, p)
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	if r.Fault != "" || strings.TrimSpace(r.Text) == "" {
		t.Errorf("fault %q, text %q: want no fault and some text", r.Fault, r.Text)
	}
	if effects.ReadOnly {
		compare(t, "a read-only Run", before, snapshot(t, env.Root))
	}
	s.stopped(t, p)
}

// effects asks the tool twice, with no way to run a process, reach the network, ask, or tell the time.
func (s Suite) effects(t *testing.T, env *tools.Env, p tools.Prepared) tools.Effects {
	t.Helper()
	barred := bar(t, env, "Effects")
	first, err := s.Tool.Effects(barred, p.Call.Args)
	if err != nil {
		t.Fatalf("effects: %v", err)
	}
	again, err := s.Tool.Effects(barred, p.Call.Args)
	if err != nil || !reflect.DeepEqual(first, again) {
		t.Errorf("effects: %+v and then %+v, %v", first, again, err)
	}
	return first
}

func (s Suite) preview(t *testing.T, env *tools.Env, p tools.Prepared) {
	t.Helper()
	pre, ok := s.Tool.(tools.Previewer)
	if !ok {
		return
	}
	if _, err := pre.Preview(t.Context(), bar(t, env, "Preview"), p.Call.Args); err != nil {
		t.Errorf("preview: %v", err)
	}
}

// stopped: under a context that has ended, a call comes back soon and is no failure of colony's.
func (s Suite) stopped(t *testing.T, p tools.Prepared) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	start := time.Now()
	_, err := s.Tool.Run(ctx, s.env(t), p.Call.Args)
	if err != nil && ctx.Err() != nil && !strings.Contains(err.Error(), ctx.Err().Error()) {
		t.Errorf("run under an ended context: %v", err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("run under an ended context took %v", took)
	}
}

// checkBad: the arguments are refused as a validation fault that says something, before anything runs.
func checkBad(t *testing.T, s Suite, args string) {
	env := s.env(t)
	p := prepare(t, env, s.Tool, args)
	if p.Refused != nil {
		if p.Refused.Fault != tools.Validation || p.Refused.Text == "" {
			t.Errorf("refused as %q: %q", p.Refused.Fault, p.Refused.Text)
		}
		return
	}
	_, err := s.Tool.Effects(bar(t, env, "Effects"), p.Call.Args)
	if _, wrong := err.(*tools.ArgError); !wrong {
		t.Errorf("taken: effects gave %v", err)
	}
}

func (s Suite) env(t *testing.T) *tools.Env {
	t.Helper()
	env := NewEnv(t)
	plant(t, env.Root, s.Tree)
	if s.Arm != nil {
		s.Arm(t, env)
	}
	return env
}

func prepare(t *testing.T, env *tools.Env, tool tools.Tool, args string) tools.Prepared {
	t.Helper()
	r := env.Tools.Clone()
	if err := r.Register("suite", tool); err != nil {
		t.Fatal(err)
	}
	if tool.Spec().Name == tools.SearchName {
		if err := r.RegisterDeferred("suite", Named("deferred_by_the_suite")); err != nil {
			t.Fatal(err)
		}
	}
	p := r.Prepare(tools.Call{ID: "1", Name: tool.Spec().Name, Args: json.RawMessage(args)})
	if p.Refused == nil && len(p.Coerced) > 0 {
		t.Errorf("arguments %s were coerced: %v", args, p.Coerced)
	}
	return p
}

// bar is the env with no power but to read.
func bar(t *testing.T, env *tools.Env, who string) *tools.Env {
	t.Helper()
	barred := *env
	barred.Exec = func(context.Context, tools.Process) (tools.Exit, error) {
		t.Errorf("%s ran a process", who)
		return tools.Exit{}, io.ErrClosedPipe
	}
	barred.Dial = func(context.Context, string, string) (net.Conn, error) {
		t.Errorf("%s dialled", who)
		return nil, io.ErrClosedPipe
	}
	barred.Ask = func(context.Context, tools.Question) (tools.Answer, error) {
		t.Errorf("%s asked a person", who)
		return tools.Answer{}, io.ErrClosedPipe
	}
	barred.Now = func() time.Time {
		t.Errorf("%s read the clock", who)
		return time.Time{}
	}
	return &barred
}

func compare(t *testing.T, who string, before, after map[string][]byte) {
	t.Helper()
	for path, was := range before {
		if is, there := after[path]; !there || !bytes.Equal(was, is) {
			t.Errorf("%s changed %s", who, path)
		}
	}
	for path := range after {
		if _, was := before[path]; !was {
			t.Errorf("%s made %s", who, path)
		}
	}
}
