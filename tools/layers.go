package tools

import (
	"context"
	"errors"
	"fmt"

	"github.com/sourcegraph/conc/panics"
)

// Refused answers a call that was refused before it ran.
func Refused() Layer {
	return func(next Handler) Handler {
		return func(ctx context.Context, env *Env, p Prepared) (Result, error) {
			if p.Refused != nil {
				return *p.Refused, nil
			}
			return next(ctx, env, p)
		}
	}
}

// Retry repeats a read-only call once when it ended as transient.
func Retry() Layer {
	return func(next Handler) Handler {
		return func(ctx context.Context, env *Env, p Prepared) (Result, error) {
			r, err := next(ctx, env, p)
			readOnly := p.Tool.Spec().ReadOnly || p.Effects.Known && p.Effects.ReadOnly
			if err != nil || r.Fault != Transient || !readOnly || ctx.Err() != nil {
				return r, err
			}
			return next(ctx, env, p)
		}
	}
}

// Catch turns a panic further in into an internal result: the ant lives.
func Catch() Layer {
	return func(next Handler) Handler {
		return func(ctx context.Context, env *Env, p Prepared) (r Result, err error) {
			if crash := panics.Try(func() { r, err = next(ctx, env, p) }); crash != nil {
				return panicked(p.Call.Name, crash.Value), nil
			}
			return r, err
		}
	}
}

// panicked is the internal result of a call whose tool panicked.
func panicked(tool string, value any) Result {
	return Refuse(Internal, fmt.Sprintf("tool %s broke down: %v. This is a fault of colony, not of your arguments: reach the goal another way.", tool, value))
}

// Invoke is the innermost handler: it runs the tool. A wrong argument and the end of the context are results.
func Invoke(ctx context.Context, env *Env, p Prepared) (Result, error) {
	if ctx.Err() != nil {
		return stopped(ctx), nil
	}
	start := env.Now()
	r, err := p.Tool.Run(ctx, env, p.Call.Args)
	if wrong := new(ArgError); errors.As(err, &wrong) {
		r, err = Refuse(Validation, wrong.Error()), nil
	}
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		r, err = Refuse(Timeout, "the call took too long and was ended"), nil
	}
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		r, err = stopped(ctx), nil
	}
	if err != nil {
		return Result{}, fmt.Errorf("run tool %s: %w", p.Call.Name, err)
	}
	if r.Duration == 0 {
		r.Duration = env.Now().Sub(start)
	}
	return r, nil
}

// stopped is the result of a call that the end of the context kept from running or cut.
func stopped(ctx context.Context) Result {
	return Refuse(Cancelled, fmt.Sprintf("the call was stopped (%v) and may not have had its effect", context.Cause(ctx)))
}

var _ Handler = Invoke
