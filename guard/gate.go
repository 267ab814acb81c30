package guard

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

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
				if call, d, refused, err = p.settle(ctx, env, call, d); refused != nil || err != nil {
					return orZero(refused), err
				}
			}
			if d.Decision != Allow {
				return p.traced(env, refusal(call, d, tools.Answer{})), nil
			}
			call.Decision, call.Rule, call.After = d.Decision, d.Stage+": "+d.Rule, p.after(env, d)
			r, err := next(ctx, env, call)
			if err == nil {
				p.Witness(env, call.Call.Name, call.Effects, r.Seen)
			}
			return r, err
		}
	}
}

// settle asks about a call and looks at it anew: what was shown is what runs, or nothing does.
func (p *Policy) settle(ctx context.Context, env *tools.Env, call tools.Prepared, d Decision) (tools.Prepared, Decision, *tools.Result, error) {
	stop := func(r tools.Result) (tools.Prepared, Decision, *tools.Result, error) { return call, d, &r, nil }
	heard, refused, err := p.answer(ctx, env, doubt{call, d})
	switch {
	case err != nil:
		r, err := asking(ctx, call, err)
		return call, d, &r, err
	case refused != nil:
		return stop(*refused)
	case !heard.answer.Allow:
		return stop(p.traced(env, refusal(call, d, heard.answer)))
	case heard.drift != "":
		return stop(drift(env, call, heard.drift))
	}
	if call, d, refused, err = p.judge(env, call); refused != nil || err != nil {
		return call, d, refused, err
	}
	if d, err = p.hear(ctx, env, call, d); err != nil {
		r, err := asking(ctx, call, err)
		return call, d, &r, err
	}
	switch {
	case d.Decision == Ask && !reflect.DeepEqual(heard.call.Effects, call.Effects):
		return stop(tools.Refuse(tools.PermissionDenied, fmt.Sprintf(
			"%s was not run: what it would touch changed while the question was open. Look again, then call it anew", call.Call.Name)))
	case d.Decision == Ask:
		if heard.answer.ForRun && heard.may != nil {
			p.session.grant(env.Ant, *heard.may)
		}
		d.Decision = Allow
	}
	return call, d, nil, nil
}

// drift refuses a call whose files are not what they were when it was shown.
func drift(env *tools.Env, call tools.Prepared, path string) tools.Result {
	if rel, ok := beneath(env.Root, path); ok {
		path = rel
	}
	fault := tools.PermissionDenied
	if _, ok := call.Tool.(tools.Previewer); ok {
		fault = tools.StaleRead
	}
	r := tools.Refuse(fault, fmt.Sprintf("%s was allowed but not run: %s is not what it was when the question was opened. Read it again, then call %s anew",
		call.Call.Name, path, call.Call.Name))
	r.Rule = "execution: drift"
	return r
}

// traced is a refusal that says, for the log, what the ant had read before.
func (p *Policy) traced(env *tools.Env, r tools.Result) tools.Result {
	r.After = p.sources(env.Ant)
	return r
}

// after is what the ant had read before a call that is more than looking.
func (p *Policy) after(env *tools.Env, d Decision) []string {
	if d.Rule == "read-only" {
		return nil
	}
	return p.sources(env.Ant)
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
		return tools.Refuse(tools.Cancelled, fmt.Sprintf("interrupted: %s was stopped while its question was open, and did not happen. Call it again if you still want it.", call.Call.Name)), nil
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
