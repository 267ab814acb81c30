package model

import (
	"fmt"
	"time"
)

// Kind is what went wrong with a request, as classified at the adapter.
type Kind string

// The kinds.
const (
	RateLimited    Kind = "rate_limited"
	Overloaded     Kind = "overloaded"
	Quota          Kind = "quota"
	ContextTooLong Kind = "context_too_long"
	NoModel        Kind = "no_model"
	Auth           Kind = "auth"
	Unverified     Kind = "unverified"
	BadRequest     Kind = "bad_request"
	Transport      Kind = "transport"
	Cut            Kind = "cut" // the reply was longer than the output limit, and has not been asked for with a larger one
	Aborted        Kind = "aborted"
)

// Error is a request that a provider refused or that did not reach it. Text is the provider's own
// message, cut to one line and free of secrets.
type Error struct {
	Kind       Kind
	Status     int           // HTTP status; 0 where none came
	RetryAfter time.Duration // how long the provider asked to wait; 0 where it did not
	Sent       bool          // no refusal came back and the request may have reached the provider, so it may be billed
	Dropped    bool          // the connection was closed before an answer began
	Again      bool          // the adapter will ask in another way, which it remembers: to be sent again at once
	Text       string
	Limits     Limits // what the provider said about its rate limits
	Err        error
}

func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s (%d): %s", e.Kind, e.Status, e.Text)
	}
	return fmt.Sprintf("%s: %s", e.Kind, e.Text)
}

func (e *Error) Unwrap() error { return e.Err }

// Fatal reports whether no later request with this key and model can work.
func (e *Error) Fatal() bool {
	switch e.Kind {
	case Auth, Quota, NoModel, Unverified:
		return true
	}
	return false
}

// CapError is a request that was not sent because it does not fit under a cap.
type CapError struct {
	Scope string // run, task, ant
	Cap   string // usd, tokens, turns, calls, wall
	Text  string // what was used and what the cap is
}

func (e *CapError) Error() string { return fmt.Sprintf("%s cap of the %s: %s", e.Cap, e.Scope, e.Text) }
