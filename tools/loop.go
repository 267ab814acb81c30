package tools

import (
	"context"
	"fmt"
)

// When a call that goes in a circle is warned of, and when it no longer runs.
const (
	warnAt   = 3
	refuseAt = 5
)

// warning begins what is said below a result.
const warning = "\n\n[This call gave the same result "

// LoopGuard warns of a call that gives the same result for the third time while nothing changed, and refuses it
// from the fifth on. A change is a file written, or a success of a call that is not read-only; what a call did
// itself is no change for its own repetition, and doing the same again changes nothing. Calls that change
// nothing, and read nothing else, count as the same when they differ only in words with digits. One guard
// serves one ant, and is safe for concurrent use.
func LoopGuard() Layer {
	g := &loopGuard{streaks: map[string]streak{}, marks: map[string]mark{}}
	return func(next Handler) Handler {
		return func(ctx context.Context, env *Env, p Prepared) (Result, error) {
			id := identify(env, p)
			if n := g.repeats(id); n >= refuseAt-1 {
				return Refuse(LoopBlocked, fmt.Sprintf("%s was not run: this call gave the same result %d times while nothing changed. "+
					"Do something else: change what it depends on, try another way, or end with done and say what blocks you.", clip(p.Call.Name), n)), nil
			}
			r, err := next(ctx, env, p)
			if err != nil || r.Fault == Cancelled {
				return r, err
			}
			if n := g.note(id, r); n >= warnAt {
				r.Text += fmt.Sprintf(warning+"%d times while nothing changed; the fifth is refused. Do something else.]", n)
			}
			return r, nil
		}
	}
}
