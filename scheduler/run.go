package scheduler

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/sourcegraph/conc/panics"
	"github.com/sourcegraph/conc/pool"

	"colony/tools"
)

// Run sends every call through the handler, at most width at once, and returns one result for each in the order
// of the calls. A call that fails or panics does not touch its siblings. When the context ends, what is done is
// kept, what runs ends as cancelled and the rest never starts. An error is colony's own failure, from the first
// handler that returned one: it too stops what runs, and the results are still one for each call.
func Run(ctx context.Context, env *tools.Env, calls []tools.Prepared, width int, handler tools.Handler) ([]tools.Result, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r := runner{env: env, handler: handler, stop: stop, results: make([]tools.Result, len(calls))}
	at := 0
	for _, batch := range split(onceEach(calls), r.safe) {
		r.batch(ctx, at, batch, max(width, 1))
		at += len(batch)
	}
	return r.results, r.err
}

type runner struct {
	env     *tools.Env
	handler tools.Handler
	stop    context.CancelCauseFunc
	results []tools.Result // each written by its own call only

	mu  sync.Mutex
	err error // guarded by mu; colony's first failure
}

func (r *runner) safe(p tools.Prepared) bool { return isSafe(p) && keepsItsWord(r.env, p) }

// batch runs the calls whose results begin at first, and returns when all have one.
func (r *runner) batch(ctx context.Context, first int, calls []tools.Prepared, width int) {
	p := pool.New().WithMaxGoroutines(width)
	for i, call := range calls {
		p.Go(func() { r.results[first+i] = r.one(ctx, call) })
	}
	p.Wait()
}

// one is the call's result, whatever the handler does.
func (r *runner) one(ctx context.Context, p tools.Prepared) (result tools.Result) {
	if ctx.Err() != nil {
		return tools.Refuse(tools.Cancelled, fmt.Sprintf("interrupted: the call was not started and did not happen: %v. Call it again if you still want it.", context.Cause(ctx)))
	}
	var err error
	if crash := panics.Try(func() { result, err = r.handler(ctx, r.env, p) }); crash != nil {
		return tools.Refuse(tools.Internal, fmt.Sprintf("%s broke down: %v. This is a fault of colony, not of your arguments.", p.Call.Name, crash.Value))
	}
	if err == nil {
		return result
	}
	if ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))) {
		return tools.Refuse(tools.Cancelled, fmt.Sprintf("the call was stopped: %v. It may or may not have had its effect.", context.Cause(ctx)))
	}
	r.fail(err)
	return tools.Refuse(tools.Cancelled, "colony could not go on with this call")
}

func (r *runner) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
	r.stop(err)
}

// onceEach refuses every call whose id an earlier one has: a provider takes one result an id.
func onceEach(calls []tools.Prepared) []tools.Prepared {
	out := make([]tools.Prepared, len(calls))
	seen := map[string]bool{}
	for i, p := range calls {
		if id := p.Call.ID; id != "" && seen[id] && p.Refused == nil {
			no := tools.Refuse(tools.Validation, fmt.Sprintf("call id %q is used twice in one reply: this second call did not run", id))
			p.Refused = &no
		}
		seen[p.Call.ID] = true
		out[i] = p
	}
	return out
}
