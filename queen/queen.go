// Package queen carries a plan out: she starts ants for the tasks whose needs are met, lands what they
// bring in order after its gates passed on the combined tree, and says how every task ended.
package queen

import (
	"context"
	"errors"
	"fmt"
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

// Parts are what Run needs.
type Parts struct {
	Run     string
	Past    *Past // of a run that goes on; nil of a new one
	Planner Planner
	Branch  string // full name of the run's branch
	Base    string // commit, where the branch is
	Log     event.Log
	Hatcher Hatcher
	Repo    Repo
	File    func(ctx context.Context, commit, path string) (data []byte, there bool, err error)
	Reword  func(ctx context.Context, commit, body string) (string, error) // the commit with this body in its message
	Gate    Gate
	Caps    func(plan.Task) ledger.Caps      // of an ant on the task
	Cards   func(card string) []plan.Gate    // the card's own gates
	Kept    func(task string) (ref string)   // where work that does not land is kept
	Gates   []plan.Gate                      // the repository's; may be empty
	RedBase func(gate string, exit int) bool // may this gate, red on the base, advise until it first passes
	Ants    int                              // at most this many at once
	Most    func(card string) int            // at most this many of a card at once; 0 is no bound
	Batch   int                              // at most so much work lands at once; 0 is one
	Returns int                              // how often a landing may send a task back
	Retries int                              // how often an attempt that colony lost is made again
	Review  bool                             // a reviewer sees all work before it lands
	Rounds  int                              // how often a reviewer may send a task back
	// Reviewer and Resolver are cards. Without a reviewer, what needs one does not land; without a resolver a conflict
	// ends with its author.
	Reviewer, Resolver string
	Labels             map[string]string // may be empty
	// Again brings tasks that are to begin again, whose last attempt did not land; nil where nobody can ask for it.
	Again <-chan string
	Now   func() time.Time
	// Held, where it is set, is asked before work is joined to the branch. Its word is why it is not to be, which goes back
	// to the author.
	Held func(ctx context.Context, task, ant string, work repo.Candidate) (why string, err error)
	// Deliver, where it is set, takes the branch on when every task has landed or needed no change. Its word is why it did
	// not, which is the run's reason then.
	Deliver func(ctx context.Context, head string) (why string, err error)
}

func (p Parts) check() error {
	var missing []error
	need := func(ok bool, what string) {
		if !ok {
			missing = append(missing, errors.New("queen: no "+what))
		}
	}
	need(p.Run != "", "run")
	need(p.Planner != nil, "planner")
	need(p.Branch != "" && p.Base != "", "branch or base")
	need(p.Log != nil && p.Hatcher != nil && p.Repo != nil && p.Gate != nil, "log, hatcher, repository or gate")
	need(p.File != nil && p.Reword != nil, "files or messages of commits")
	need(p.RedBase != nil, "word on a red base")
	need(p.Most != nil, "bound of a card")
	need(p.Caps != nil && p.Cards != nil && p.Kept != nil && p.Now != nil, "caps, cards, kept or clock")
	need(p.Ants > 0, "place for an ant")
	return errors.Join(missing...)
}

// Run carries the plan out, or goes on with it where there is a Past, and returns run.finished, which it appended as the last event. An error is
// colony's own failure. When ctx is done no new ant starts, those at work are cancelled through it, and the
// exit code is that of the context's cause if it has an ExitCode method.
//
// A red base that RedBase does not allow ends the run with exit 2 before anything is planned; the reason then begins
// with red_base and a colon. An *Unplanned of the planner ends it with the exit code and the reason that it holds.
func Run(ctx context.Context, p Parts) (event.RunFinished, error) {
	if err := p.check(); err != nil {
		return event.RunFinished{}, err
	}
	r := &run{p: p, start: p.Now(), head: p.Base, graph: &graph{}, width: width{most: p.Ants, now: p.Ants}, ratchet: newRatchet(), names: map[string]int{}}
	err := r.open(ctx)
	if err == nil && r.refused == nil {
		err = r.work(ctx)
	}
	finished, endErr := r.finish(ctx)
	if err = errors.Join(err, endErr); err != nil {
		return finished, fmt.Errorf("run %s: %w", p.Run, err)
	}
	return finished, nil
}

// run is what the one goroutine of work knows; landings and ants get values and hand values back.
type run struct {
	p       Parts
	start   time.Time
	head    string // of the branch
	graph   *graph
	width   width
	toLand  []*task  // in the order they came
	queued  int      // how many came to land
	turns   int      // how many had the right of way
	train   []*batch // landings under way, in order
	ratchet *ratchet
	count   tally
	fence   int64
	names   map[string]int // ants by card, for their names

	refused     *Unplanned // nothing may start: why
	broken      bool       // colony itself failed
	capped      bool
	fatal       bool
	asked       bool
	stale       bool   // somebody else moved the branch
	undelivered string // why the branch was not taken on
	why         string // the first sentence about what ended the run early
}

// halted reports whether no new ant may start.
func (r *run) halted(ctx context.Context) bool {
	return r.capped || r.fatal || r.stale || r.broken || ctx.Err() != nil
}

// open looks at the gates on the base, then plans and records the plan. Nothing is spent before.
func (r *run) open(ctx context.Context) error {
	if past := r.p.Past; past != nil && len(past.Plan.Tasks) == 0 {
		r.fence, r.names, r.p.Past = past.fence, past.names, nil // it was killed before it had a plan
	}
	if r.p.Past != nil {
		r.restore(r.p.Past)
		return nil
	}
	err := r.baseGates(ctx)
	if err == nil && r.refused == nil {
		err = r.plan(ctx)
	}
	if err != nil && ctx.Err() != nil {
		return nil
	}
	r.broken = err != nil
	return err
}

// append records facts also when the run is being stopped.
func (r *run) append(ctx context.Context, events ...event.Event) error {
	return record(ctx, r.p, events...)
}

func record(ctx context.Context, p Parts, events ...event.Event) error {
	for i := range events {
		events[i].Run = p.Run
	}
	_, err := p.Log.Append(context.WithoutCancel(ctx), events...)
	return err
}

var _ Repo = (*repo.Repo)(nil)
