// Package queen carries a plan out: she starts ants for the tasks whose needs are met, lands what they
// bring one at a time after its gates passed on the combined tree, and says how every task ended.
package queen

import (
	"context"
	"errors"
	"time"

	"colony/event"
	"colony/ledger"
	"colony/plan"
	"colony/repo"
)

// Repo is what landing needs of git. It is safe for concurrent use.
type Repo interface {
	Stage(ctx context.Context, onto, commit string) (repo.Candidate, *repo.Conflict, error)
	Checkout(ctx context.Context, commit string) (repo.Checkout, error)
	Advance(ctx context.Context, ref, old, new string) (moved bool, err error)
	Keep(ctx context.Context, ref, commit string) error
}

// Bill is what a task or, for the empty name, the run has cost so far.
type Bill func(task string) (event.Usage, *event.PicoUSD, event.Price)

// Parts are what Run needs; every field without a word on it is needed.
type Parts struct {
	Run     string
	Plan    plan.Plan // checked; every task names its card
	Branch  string    // full ref name of the run's branch
	Base    string    // commit
	Tree    string    // of Base
	Log     event.Log
	Hatcher Hatcher
	Repo    Repo
	Gate    Gate
	Bill    Bill
	Caps    func(plan.Task) ledger.Caps   // of an ant on the task
	Cards   func(card string) []plan.Gate // the card's own gates
	Kept    func(task string) string      // the ref that keeps its work
	Gates   []plan.Gate                   // the repository's; may be empty
	NoGate  bool                          // tasks without any gate are allowed
	RedBase bool                          // a gate that is red on the base advises until it first passes
	Ants    int                           // at most this many at once, at least 1
	Returns int                           // how often a landing may send a task back
	Labels  map[string]string             // may be nil
	Now     func() time.Time
}

// Run carries the plan out and appends run.finished, which it returns. It returns an error, with whatever
// it could append, where colony itself failed. When ctx is done no new ant starts, those at work are
// cancelled through the context and the status is stopped.
func Run(ctx context.Context, p Parts) (event.RunFinished, error) {
	return event.RunFinished{}, errors.New("not built yet")
}

var _ Repo = (*repo.Repo)(nil)
