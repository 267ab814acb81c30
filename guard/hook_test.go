package guard_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"colony/guard"
	"colony/tools"
)

// A hook stands behind floor and deny rules and before every question: it may refuse and ask, and its allow answers only
// the question that comes because nothing else decides.
func TestHooksStandBeforeQuestions(t *testing.T) {
	env := newEnv(t)
	rules, err := guard.ParseRules(nil, []string{"sh(make ask:*)"}, []string{"sh(make deny:*)"}, []string{"sh"})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		effects tools.Effects
		says    string // the hook
		answer  func(tools.Question) (tools.Answer, error)
		fault   tools.Fault
		text    string
		heard   int
		asks    int
	}{
		"no word":             {line(env, "make"), "", yes, "", "ran", 1, 1},
		"deny":                {line(env, "make"), guard.Deny, yes, tools.PermissionDenied, "nothing of it ran: it is Friday", 1, 0},
		"deny of the free":    {reads(env, "a"), guard.Deny, yes, tools.PermissionDenied, "it is Friday", 1, 0},
		"ask of the free":     {reads(env, "a"), guard.Ask, no, tools.PermissionDenied, "it is Friday", 1, 1},
		"asked and allowed":   {reads(env, "a"), guard.Ask, yes, "", "ran", 1, 1},
		"allow":               {line(env, "make"), guard.Allow, no, "", "ran", 1, 0},
		"allow and the floor": {writes(env, ".git/x"), guard.Allow, yes, tools.PermissionDenied, "no ant may change", 0, 0},
		"allow and a deny":    {line(env, "make deny"), guard.Allow, yes, tools.PermissionDenied, "the rule sh(make deny:*)", 0, 0},
		"allow and an ask":    {line(env, "make ask"), guard.Allow, no, tools.PermissionDenied, "the rule sh(make ask:*)", 1, 1},
	} {
		for _, foreseen := range []bool{false, true} {
			ran, heard, d := 0, 0, &desk{answer: c.answer}
			env.Ask = d.ask
			p := policy(t, guard.Parts{Rules: rules, Hook: func(context.Context, *tools.Env, tools.Prepared) (string, string, error) {
				heard++
				return c.says, "it is Friday", nil
			}})
			call := told("sh", "c1", &ran, func(*tools.Env) (tools.Effects, error) { return c.effects, nil })
			if foreseen {
				if err := p.Foresee(t.Context(), env, []tools.Prepared{call}); err != nil {
					t.Fatal(err)
				}
			}
			r, err := p.Gate()(func(ctx context.Context, env *tools.Env, p tools.Prepared) (tools.Result, error) {
				return p.Tool.Run(ctx, env, nil)
			})(t.Context(), env, call)
			if err != nil || r.Fault != c.fault || !strings.Contains(r.Text, c.text) || heard != c.heard || len(d.asked) != c.asks {
				t.Errorf("%s, foreseen %v: %+v, %v, heard %d, asked %d", name, foreseen, r, err, heard, len(d.asked))
			}
		}
	}
}

// What keeps a hook from answering is colony's own error; the end of the run is none.
func TestAHookThatCannotAnswer(t *testing.T) {
	env := newEnv(t)
	broken := errors.New("broken")
	ctx, cancel := context.WithCancel(t.Context())
	for _, ended := range []bool{false, true} {
		if ended {
			cancel()
		}
		ran := 0
		p := policy(t, guard.Parts{Hook: func(context.Context, *tools.Env, tools.Prepared) (string, string, error) { return "", "", broken }})
		call := told("sh", "c1", &ran, func(*tools.Env) (tools.Effects, error) { return reads(env, "a"), nil })
		r, err := p.Gate()(func(ctx context.Context, env *tools.Env, p tools.Prepared) (tools.Result, error) {
			return p.Tool.Run(ctx, env, nil)
		})(ctx, env, call)
		if ran != 0 || ended && (err != nil || r.Fault != tools.Cancelled) || !ended && !errors.Is(err, broken) {
			t.Errorf("ended %v: %+v, %v, ran %d", ended, r, err, ran)
		}
	}
	cancel()
}
