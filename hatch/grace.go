package hatch

import (
	"context"
	"errors"
	"time"

	"colony/model"
	"colony/tools"
)

// grace is a context that outlives ctx for a while: what runs may end by itself, and is then cut for the same cause. A
// cause with a Hurry channel cuts it when that is closed.
func grace(ctx context.Context, after time.Duration) (context.Context, context.CancelFunc) {
	long, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	unhook := context.AfterFunc(ctx, func() {
		cause := context.Cause(ctx)
		timer := time.NewTimer(after)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-hurry(cause):
		case <-long.Done():
		}
		cut(cause)
	})
	return long, func() {
		unhook()
		cut(context.Canceled)
	}
}

// hurry is closed when what is being stopped must end now; nil where the cause knows no hurry.
func hurry(cause error) <-chan struct{} {
	var h interface {
		error
		Hurry() <-chan struct{}
	}
	if errors.As(cause, &h) {
		return h.Hurry()
	}
	return nil
}

// beginning lets no call begin once the run is being stopped.
func beginning(stopped func() error) tools.Layer {
	return func(next tools.Handler) tools.Handler {
		return func(ctx context.Context, env *tools.Env, p tools.Prepared) (tools.Result, error) {
			if err := stopped(); err != nil {
				return tools.Refuse(tools.Cancelled, "interrupted: the run is being stopped, and this call did not happen. Call it again if you still want it."), nil
			}
			return next(ctx, env, p)
		}
	}
}

// sending is a provider that sends nothing more once stopped says so.
type sending struct {
	model.Provider
	stopped func() error
}

// Complete sends the attempt, or refuses it as aborted.
func (s sending) Complete(ctx context.Context, req model.Request, show func(model.Delta)) (model.Reply, error) {
	if err := s.stopped(); err != nil {
		return model.Reply{}, &model.Error{Kind: model.Aborted, Text: "the run is being stopped", Err: err}
	}
	return s.Provider.Complete(ctx, req, show)
}
