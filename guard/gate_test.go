package guard_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"colony/guard"
	"colony/tools"
)

// desk answers questions and keeps them.
type desk struct {
	mu     sync.Mutex
	asked  []tools.Question
	answer func(tools.Question) (tools.Answer, error)
}

func (d *desk) ask(_ context.Context, q tools.Question) (tools.Answer, error) {
	d.mu.Lock()
	d.asked = append(d.asked, q)
	d.mu.Unlock()
	return d.answer(q)
}

func yes(tools.Question) (tools.Answer, error) { return tools.Answer{Allow: true}, nil }
func yesAlways(context.Context, tools.Question) (tools.Answer, error) {
	return tools.Answer{Allow: true}, nil
}
func no(tools.Question) (tools.Answer, error) { return tools.Answer{Text: "use make"}, nil }
func nobody(tools.Question) (tools.Answer, error) {
	return tools.Answer{Headless: true}, nil
}

func told(name, id string, ran *int, effects func(*tools.Env) (tools.Effects, error)) tools.Prepared {
	return tools.Prepared{
		Call:   tools.Call{ID: id, Name: name, Args: []byte("{\"command\":\"make\u202e\"}")},
		Tool:   stub{name: name, effects: effects, ran: ran},
		Digest: "d-" + id,
	}
}

// contract 16, 23, 32, 34: what a call comes to at the gate.
func TestGate(t *testing.T) {
	env := newEnv(t)
	fixed := func(e tools.Effects) func(*tools.Env) (tools.Effects, error) {
		return func(*tools.Env) (tools.Effects, error) { return e, nil }
	}
	turn := 0
	for name, c := range map[string]struct {
		effects func(*tools.Env) (tools.Effects, error)
		answer  func(tools.Question) (tools.Answer, error)
		fault   tools.Fault
		says    string // in the result
		asks    int
		ran     int
	}{
		"allowed":      {fixed(reads(env, "a")), no, "", "ran", 0, 1},
		"answered yes": {fixed(line(env, "make")), yes, "", "ran", 1, 1},
		"answered no":  {fixed(line(env, "make")), no, tools.PermissionDenied, "use make", 1, 0},
		"headless":     {fixed(line(env, "make")), nobody, tools.PermissionDenied, "call c1", 1, 0},
		"floor":        {fixed(writes(env, ".git/x")), yes, tools.PermissionDenied, "no ant may change", 0, 0},
		"argument": {func(*tools.Env) (tools.Effects, error) {
			return tools.Effects{}, fmt.Errorf("read it: %w", &tools.ArgError{Field: "path", Reason: "is empty"})
		}, yes, tools.Validation, "path: is empty", 0, 0},
		"panic":               {func(*tools.Env) (tools.Effects, error) { panic("boom") }, yes, tools.Internal, "boom", 0, 0},
		"changed while asked": {func(*tools.Env) (tools.Effects, error) { turn++; return line(env, fmt.Sprint("make ", turn)), nil }, yes, tools.PermissionDenied, "changed while", 1, 0},
		"floor while asked": {func(*tools.Env) (tools.Effects, error) {
			turn++
			return writes(env, []string{"a", ".git/x"}[turn%2]), nil
		}, yes, tools.PermissionDenied, "no ant may change", 1, 0},
	} {
		turn = 1
		ran, d := 0, &desk{answer: c.answer}
		env.Ask = d.ask
		var got tools.Prepared
		handler := policy(t, guard.Parts{}).Gate()(func(ctx context.Context, env *tools.Env, p tools.Prepared) (tools.Result, error) {
			got = p
			return p.Tool.Run(ctx, env, nil)
		})
		r, err := handler(t.Context(), env, told("sh", "c1", &ran, c.effects))
		if err != nil || r.Fault != c.fault || !strings.Contains(r.Text, c.says) || ran != c.ran || len(d.asked) != c.asks {
			t.Errorf("%s: %+v, %v, ran %d, asked %d", name, r, err, ran, len(d.asked))
		}
		if ran == 1 && (got.Decision != guard.Allow || got.Rule == "" || !got.Effects.Known) {
			t.Errorf("%s: went down as %+v", name, got)
		}
	}
}

func TestGateErrors(t *testing.T) {
	env, ran := newEnv(t), 0
	lost := errors.New("the log is gone")
	gate := policy(t, guard.Parts{}).Gate()(tools.Invoke)
	if _, err := gate(t.Context(), env, told("x", "c1", &ran, func(*tools.Env) (tools.Effects, error) { return tools.Effects{}, lost })); !errors.Is(err, lost) {
		t.Errorf("colony's own failure: %v", err)
	}
	unknown := told("x", "c1", &ran, func(*tools.Env) (tools.Effects, error) { return tools.Effects{}, nil })
	env.Ask = func(context.Context, tools.Question) (tools.Answer, error) { return tools.Answer{}, lost }
	if _, err := gate(t.Context(), env, unknown); !errors.Is(err, lost) {
		t.Errorf("an inbox that broke: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	env.Ask = func(ctx context.Context, _ tools.Question) (tools.Answer, error) {
		cancel()
		return tools.Answer{}, ctx.Err()
	}
	if r, err := gate(ctx, env, unknown); err != nil || r.Fault != tools.Cancelled {
		t.Errorf("cancelled: %+v, %v", r, err)
	}
	reads := 0
	env.Ask = yesAlways
	later := told("x", "c1", &ran, func(*tools.Env) (tools.Effects, error) {
		reads++
		if reads > 1 {
			return tools.Effects{}, lost
		}
		return tools.Effects{}, nil
	})
	if _, err := gate(t.Context(), env, later); !errors.Is(err, lost) {
		t.Errorf("colony's own failure after the answer: %v", err)
	}
	refused := tools.Refuse(tools.Validation, "no such tool")
	if r, err := gate(t.Context(), env, tools.Prepared{Refused: &refused}); err != nil || r.Text != refused.Text {
		t.Errorf("refused already: %+v, %v", r, err)
	}
	if r, err := gate(t.Context(), env, tools.Prepared{Call: tools.Call{Name: "bash"}}); err != nil || r.Fault != tools.PermissionDenied {
		t.Errorf("no tool: %+v, %v", r, err)
	}
	if ran != 0 {
		t.Errorf("ran %d", ran)
	}
}

// What could hide a part of a call on a screen is shown as an escape.
func TestQuestion(t *testing.T) {
	env, ran, d := newEnv(t), 0, &desk{answer: no}
	env.Ask = d.ask
	gate := policy(t, guard.Parts{}).Gate()(tools.Invoke)
	if _, err := gate(t.Context(), env, told("sh", "c9", &ran, func(*tools.Env) (tools.Effects, error) { return line(env, "make"), nil })); err != nil {
		t.Fatal(err)
	}
	q := d.asked[0]
	if q.Kind != "permission" || q.Call != "c9" || q.Digest != "d-c9" || !slices.Equal(q.Choices, []string{"allow", "for this run", "deny"}) ||
		!strings.Contains(q.Text, `make\u{202E}`) || !strings.Contains(q.Text, env.Ant) {
		t.Errorf("%+v", q)
	}
}

// The questions of a batch are open together; each call is judged again at its turn and an answer counts once.
func TestForesee(t *testing.T) {
	env, ran := newEnv(t), 0
	var open sync.WaitGroup
	open.Add(2)
	d := &desk{answer: func(q tools.Question) (tools.Answer, error) {
		open.Done()
		open.Wait() // returns only when both are open
		return tools.Answer{Allow: q.Call == "c2"}, nil
	}}
	env.Ask = d.ask
	target := "out"
	asks := func(*tools.Env) (tools.Effects, error) { return line(env, "make "+target), nil }
	calls := []tools.Prepared{
		told("read", "c0", &ran, func(*tools.Env) (tools.Effects, error) { return reads(env, "a"), nil }),
		told("sh", "c1", &ran, asks),
		told("sh", "c2", &ran, asks),
		told("write", "c3", &ran, func(*tools.Env) (tools.Effects, error) { return writes(env, ".git/x"), nil }),
		{Refused: &tools.Result{}},
	}
	p := policy(t, guard.Parts{})
	if err := p.Foresee(t.Context(), env, calls); err != nil || len(d.asked) != 2 {
		t.Fatalf("%v, asked %d", err, len(d.asked))
	}
	gate := p.Gate()(tools.Invoke)
	for i, fault := range []tools.Fault{"", tools.PermissionDenied, "", tools.PermissionDenied} {
		if r, err := gate(t.Context(), env, calls[i]); err != nil || r.Fault != fault {
			t.Errorf("call %d: %+v, %v", i, r, err)
		}
	}
	if len(d.asked) != 2 || ran != 2 {
		t.Errorf("asked %d, ran %d", len(d.asked), ran)
	}
	d.answer = no
	if r, err := gate(t.Context(), env, calls[2]); err != nil || r.Fault == "" || len(d.asked) != 3 {
		t.Errorf("an answer counted twice: %+v, %v", r, err)
	}
	d.answer = yes
	if err := p.Foresee(t.Context(), env, calls[1:2]); err != nil {
		t.Fatal(err)
	}
	target, d.answer = "elsewhere", no
	if r, err := gate(t.Context(), env, calls[1]); err != nil || r.Fault == "" || len(d.asked) != 5 {
		t.Errorf("an answer about something else counted: %+v, %v", r, err)
	}
}

func TestForeseeErrors(t *testing.T) {
	env, ran := newEnv(t), 0
	lost := errors.New("the log is gone")
	env.Ask = func(context.Context, tools.Question) (tools.Answer, error) { return tools.Answer{}, lost }
	ask := told("x", "c1", &ran, func(*tools.Env) (tools.Effects, error) { return tools.Effects{}, nil })
	broken := told("x", "c2", &ran, func(*tools.Env) (tools.Effects, error) { return tools.Effects{}, lost })
	p := policy(t, guard.Parts{})
	for _, batch := range [][]tools.Prepared{{ask}, {broken}, {ask, broken}} {
		if err := p.Foresee(t.Context(), env, batch); !errors.Is(err, lost) {
			t.Errorf("%d calls: %v", len(batch), err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Foresee(ctx, env, []tools.Prepared{ask}); err != nil {
		t.Errorf("a cancelled batch ends call by call: %v", err)
	}
}

func BenchmarkDecide(b *testing.B) {
	root := b.TempDir()
	env := &tools.Env{Root: root, Cwd: func() string { return root }}
	r, err := guard.ParseRules([]string{"sh(go test:*)"}, []string{"sh(git push:*)"}, []string{"sh(rm -rf:*)"}, nil)
	if err != nil {
		b.Fatal(err)
	}
	p, err := guard.New(guard.Parts{Mode: guard.ModeAsk, Rules: r})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		p.Decide(env, call("sh", line(env, "cd sub && go test ./... 2>&1 | tail -20")))
	}
}
