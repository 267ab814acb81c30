package tools

import "context"

// Prepared is a call that was looked up and parsed, or that was refused already. Effects, Decision,
// Rule and After are filled by the guard's gate on the way down.
type Prepared struct {
	Call     Call // arguments as they run: coerced, canonical
	Tool     Tool
	Digest   string   // SHA-256 of name and canonical arguments, hex
	Coerced  []string // what was coerced, one phrase each
	Refused  *Result
	Effects  Effects
	Decision string   // allow, ask, deny
	Rule     string   // what decided
	After    []string // what of others the ant had read before it, where it is more than looking
}

// Handler does one prepared call. An error is colony's own failure and stops the ant.
type Handler func(context.Context, *Env, Prepared) (Result, error)

// Layer wraps a handler with one concern.
type Layer func(next Handler) Handler

// Stack puts layers round a handler, the first outermost.
func Stack(inner Handler, layers ...Layer) Handler {
	for i := len(layers) - 1; i >= 0; i-- {
		inner = layers[i](inner)
	}
	return inner
}
