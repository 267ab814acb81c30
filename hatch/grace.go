package hatch

import (
	"context"
	"time"

	"colony/model"
)

// grace is a context that outlives ctx for a while: what runs may end by itself, and is then cut for the same cause.
func grace(ctx context.Context, after time.Duration) (context.Context, context.CancelFunc) {
	long, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	unhook := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(after, func() { cut(context.Cause(ctx)) })
		context.AfterFunc(long, func() { timer.Stop() })
	})
	return long, func() {
		unhook()
		cut(context.Canceled)
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
