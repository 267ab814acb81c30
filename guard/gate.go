package guard

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode"

	"github.com/sourcegraph/conc/panics"

	"colony/tools"
)

// Gate is the layer that stands before every tool: it reads the call's effects at its turn, decides, asks
// where it must, looks again after an answer, and only then lets the call down.
func (p *Policy) Gate() tools.Layer {
	return func(next tools.Handler) tools.Handler {
		return func(ctx context.Context, env *tools.Env, call tools.Prepared) (tools.Result, error) {
			if call.Refused != nil {
				return *call.Refused, nil
			}
			call, d, refused, err := p.judge(env, call)
			if refused != nil || err != nil {
				return orZero(refused), err
			}
			if d, err = p.hear(ctx, env, call, d); err != nil {
				return asking(ctx, call, err)
			}
			if d.Decision == Ask {
				answer, err := p.answer(ctx, env, call, d)
				if err != nil {
					return asking(ctx, call, err)
				}
				if !answer.Allow {
					return refusal(call, d, answer), nil
				}
				before := call.Effects
				if call, d, refused, err = p.judge(env, call); refused != nil || err != nil {
					return orZero(refused), err
				}
				if d, err = p.hear(ctx, env, call, d); err != nil {
					return asking(ctx, call, err)
				}
				if d.Decision == Ask && !reflect.DeepEqual(before, call.Effects) {
					return tools.Refuse(tools.PermissionDenied, fmt.Sprintf(
						"%s was not run: what it would touch changed while the question was open. Look again, then call it anew", call.Call.Name)), nil
				}
				if d.Decision == Ask {
					d.Decision = Allow
				}
			}
			if d.Decision != Allow {
				return refusal(call, d, tools.Answer{}), nil
			}
			call.Decision, call.Rule = d.Decision, d.Stage+": "+d.Rule
			return next(ctx, env, call)
		}
	}
}

// judge reads the effects of a call and decides. A call whose arguments are wrong or whose tool panics comes
// back refused; an error is colony's own.
func (p *Policy) judge(env *tools.Env, call tools.Prepared) (tools.Prepared, Decision, *tools.Result, error) {
	if call.Tool == nil {
		return call, p.Decide(env, call), nil, nil
	}
	var effects tools.Effects
	var err error
	if caught := panics.Try(func() { effects, err = call.Tool.Effects(env, call.Call.Args) }); caught != nil {
		broken := tools.Refuse(tools.Internal, fmt.Sprintf("%s broke while its effects were read and was not run: %v", call.Call.Name, caught.Value))
		return call, Decision{}, &broken, nil
	}
	if bad := new(tools.ArgError); errors.As(err, &bad) {
		wrong := tools.Refuse(tools.Validation, call.Call.Name+": "+bad.Error())
		return call, Decision{}, &wrong, nil
	}
	if err != nil {
		return call, Decision{}, nil, fmt.Errorf("read the effects of %s: %w", call.Call.Name, err)
	}
	call.Effects = effects
	return call, p.Decide(env, call), nil, nil
}

func orZero(r *tools.Result) tools.Result {
	if r == nil {
		return tools.Result{}
	}
	return *r
}

// asking is what an ask that could not be answered comes to. A cancelled call is a result.
func asking(ctx context.Context, call tools.Prepared, err error) (tools.Result, error) {
	if ctx.Err() != nil {
		return tools.Refuse(tools.Cancelled, call.Call.Name+" was cancelled while its question was open; it was not run"), nil
	}
	return tools.Result{}, fmt.Errorf("ask about %s: %w", call.Call.Name, err)
}

// refusal is a denied call as the model reads it: what was not run, why, and what to do instead.
func refusal(call tools.Prepared, d Decision, answer tools.Answer) tools.Result {
	name := call.Call.Name
	text := fmt.Sprintf("%s was denied and nothing of it ran: %s.", name, d.Reason)
	if d.Decision == Ask {
		text = fmt.Sprintf("%s (call %s) was denied and nothing of it ran: %s", name, call.Call.ID, d.Reason)
		if answer.Headless {
			text += ", and nobody is there to answer. Do it another way, or end with done and say what is missing."
		} else {
			text += ", and the answer was no. Do not repeat it; do it another way."
		}
		if said := strings.TrimSpace(answer.Text); said != "" {
			text += " The answer said: " + said
		}
	}
	refused := tools.Refuse(tools.PermissionDenied, text)
	refused.Rule = d.Stage + ": " + d.Rule
	return refused
}

// question is what a person is asked about a call. Nothing of the call is left out, and what could hide a part
// of it on a screen is shown as an escape.
func question(env *tools.Env, call tools.Prepared, d Decision) tools.Question {
	return tools.Question{
		Kind:    "permission",
		Text:    visible(fmt.Sprintf("%s asks to run %s %s (%s)", env.Ant, call.Call.Name, call.Call.Args, d.Reason)),
		Call:    call.Call.ID,
		Digest:  call.Digest,
		Choices: []string{Allow, Deny},
	}
}

func visible(s string) string {
	var b strings.Builder
	for _, c := range s {
		if unicode.IsPrint(c) {
			b.WriteRune(c)
			continue
		}
		fmt.Fprintf(&b, "\\u{%X}", c)
	}
	return b.String()
}
