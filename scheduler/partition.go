// Package scheduler runs the calls of one model reply: side by side where that is safe, with the answers in
// the order of the calls.
package scheduler

import (
	"github.com/sourcegraph/conc/panics"

	"colony/tools"
)

// Partition cuts calls into batches that run one after the other: consecutive safe calls share one, and an
// unsafe call is alone. What is refused, panics or answers differently when asked again is unsafe.
func Partition(calls []tools.Prepared) [][]tools.Prepared { return split(calls, isSafe) }

// split cuts the calls in order; a call that is not safe beside others is alone.
func split(calls []tools.Prepared, safe func(tools.Prepared) bool) [][]tools.Prepared {
	var batches [][]tools.Prepared
	open := false // the last batch takes safe calls
	for i, p := range calls {
		ok := safe(p)
		if ok && open {
			last := len(batches) - 1
			batches[last] = calls[i-len(batches[last]) : i+1]
		} else {
			batches = append(batches, calls[i:i+1])
		}
		open = ok
	}
	return batches
}

// isSafe asks the tool twice, with panics caught.
func isSafe(p tools.Prepared) bool {
	if p.Refused != nil || p.Tool == nil {
		return false
	}
	safe := false
	crash := panics.Try(func() {
		first, again := p.Tool.IsConcurrencySafe(p.Call.Args), p.Tool.IsConcurrencySafe(p.Call.Args)
		safe = first && again
	})
	return crash == nil && safe
}

// keepsItsWord reports whether a call that claims to be safe is not known to change something.
func keepsItsWord(env *tools.Env, p tools.Prepared) bool {
	word := false
	crash := panics.Try(func() {
		e, err := p.Tool.Effects(env, p.Call.Args)
		word = err == nil && (!e.Known || e.ReadOnly)
	})
	return crash == nil && word
}
