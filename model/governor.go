package model

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"
)

// GovernorParts is what a Governor is made of. Limits of 0 take the value that stands beside them.
type GovernorParts struct {
	Attempts  int                               // 6: how often one request is sent, outages apart
	FirstWait time.Duration                     // 4s: how long an endpoint that never answered is tried
	Outage    time.Duration                     // 10m: how long one that is overloaded, or gone after it answered, is waited for
	Probe     time.Duration                     // 2s: the time between two probes of an outage
	MaxWait   time.Duration                     // 5m: the longest wait that a provider can ask for
	Output    int                               // the most tokens of a reply that the model gives; 0 is not known
	Key       *Key                              // shared by the governors of one provider key; nil is one of its own
	Jitter    func(time.Duration) time.Duration // a random part of what it is given, above 0; nil is uniform
	Throttled func(why string, until time.Time) // told when all ants have to wait; called without a lock held
}

// Governor decides when a request is sent and whether it is sent again. There is one for each provider key
// and model, shared by all ants, so that what one ant was told holds for all. It is safe for concurrent use.
type Governor struct {
	parts GovernorParts

	mu      sync.Mutex // guards what follows
	changed chan struct{}
	dead    error     // what every later request gets
	begun   time.Time // when the first request was sent
	heard   bool      // the endpoint answered at least once, with whatever
	open    bool      // it gave an answer that lets other requests follow the first
	alone   bool      // the first request is on its way
	fails   int       // failures in a row
	cool    time.Time // nothing is sent before
	outage  time.Time // since when nothing works; zero while it does
	silent  time.Time // since when all requests are dropped; zero while one is not
	probe   time.Time // when the next probe may go
	probing bool
	left    [2]allowance // requests, tokens
	waiting map[*turn]bool
}

type allowance struct {
	left  int64
	until time.Time
}

// turn is one request on its way through the governor.
type turn struct {
	size         int64     // estimated input tokens
	priority     int       // as the request has it
	tries        int       // attempts that count
	after        time.Time // its own wait
	at           time.Time // when it may go, as far as is known
	cool, start  time.Time // the cool-down it has seen, and its own start after that
	alone, probe bool      // what it holds
	finds        bool      // it holds the key's turn to find out whether the key is any good
}

// NewGovernor returns a governor that has sent nothing yet.
func NewGovernor(p GovernorParts) (*Governor, error) {
	if p.Throttled == nil {
		return nil, errors.New("set up the governor: nobody to tell about waits")
	}
	p.Attempts = cmp.Or(p.Attempts, 6)
	p.FirstWait = cmp.Or(p.FirstWait, 4*time.Second)
	p.Outage = cmp.Or(p.Outage, 10*time.Minute)
	p.Probe = cmp.Or(p.Probe, 2*time.Second)
	p.MaxWait = cmp.Or(p.MaxWait, 5*time.Minute)
	if p.Jitter == nil {
		p.Jitter = func(d time.Duration) time.Duration { return 1 + rand.N(d) }
	}
	if p.Key == nil {
		p.Key = NewKey()
	}
	g := &Governor{parts: p, changed: make(chan struct{}), waiting: map[*turn]bool{}}
	p.Key.join(g)
	return g, nil
}

// Around is inner under the governor's rules: it is called once for each attempt, with Request.Attempt counted up.
func (g *Governor) Around(inner Provider) Provider { return governed{g, inner} }

type governed struct {
	gov   *Governor
	inner Provider
}

func (p governed) Complete(ctx context.Context, req Request, show func(Delta)) (Reply, error) {
	t := &turn{size: EstimateTokens(req.Bytes()), priority: req.Priority}
	most := p.gov.parts.Output
	for {
		req.Grown = req.Grown || most > 0 && req.OutputLimit >= most
		if err := p.gov.admit(ctx, t); err != nil {
			return Reply{}, err
		}
		req.Attempt++
		reply, again, err := p.once(ctx, t, req, show)
		if !again {
			return reply, err
		}
		if isCut(err) {
			req.OutputLimit, req.Grown = grown(req.OutputLimit, most), true
		}
	}
}

// isCut reports whether a reply was longer than the output limit.
func isCut(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == Cut
}

// grown is twice an output limit, and no more than the model gives.
func grown(limit, most int) int {
	if limit *= 2; most > 0 {
		limit = min(limit, most)
	}
	return limit
}

// once sends one attempt. What it holds is given back also when inner panics.
func (p governed) once(ctx context.Context, t *turn, req Request, show func(Delta)) (Reply, bool, error) {
	defer p.gov.release(t)
	reply, err := p.inner.Complete(ctx, req, func(d Delta) {
		p.gov.begins(t)
		if show != nil && d.Text != "" {
			show(d)
		}
	})
	return reply, p.gov.judge(t, reply, err), err
}

// admit returns when the request may be sent.
func (g *Governor) admit(ctx context.Context, t *turn) error {
	defer g.leave(t)
	for {
		if err := g.parts.Key.enter(ctx, t); err != nil {
			return err
		}
		wait, changed, err := g.try(t)
		if !t.alone {
			g.parts.Key.leave(t)
		}
		if err != nil || wait == 0 {
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// Dead is why every later request is refused without being sent; nil while none is.
func (g *Governor) Dead() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.dead
}

// forever is the wait for something that has no time.
const forever = 24 * time.Hour

// try admits the request now and returns 0, or says how long to wait.
func (g *Governor) try(t *turn) (time.Duration, <-chan struct{}, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	switch {
	case g.dead != nil:
		return 0, nil, g.dead
	case g.alone, g.probing && !g.outage.IsZero():
		return forever, g.changed, nil
	}
	at := latest(t.after, g.startOf(t), g.allowed(t, now))
	if !g.outage.IsZero() {
		at = latest(at, g.probe)
	}
	t.at = at
	if wait := at.Sub(now); wait > 0 {
		g.waiting[t] = true
		return wait, g.changed, nil
	}
	if g.yields(t) {
		g.waiting[t] = true
		return forever, g.changed, nil
	}
	g.take(t, now)
	return 0, nil, nil
}

// yields reports whether a request that matters more waits for the same thing as this one. What waits for itself alone
// holds nobody up.
func (g *Governor) yields(t *turn) bool {
	for other := range g.waiting {
		if other.priority > t.priority && !other.at.Equal(other.after) {
			return true
		}
	}
	return false
}

// leave lets those go that a request held up.
func (g *Governor) leave(t *turn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.waiting[t] {
		delete(g.waiting, t)
		g.stir()
	}
}

// stir lets all that wait look again. The caller holds mu.
func (g *Governor) stir() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// startOf is when this request may start after the cool-down: later than its end by an amount of its own, so
// that the ants do not come back all at once.
func (g *Governor) startOf(t *turn) time.Time {
	if g.cool.IsZero() || g.cool.Equal(t.cool) {
		return t.start
	}
	spread := min(max(time.Until(g.cool)*3/4, 500*time.Millisecond), 5*time.Second)
	t.cool, t.start = g.cool, g.cool.Add(g.parts.Jitter(spread))
	return t.start
}

// allowed is when what the provider said it has left is enough for the request.
func (g *Governor) allowed(t *turn, now time.Time) time.Time {
	at := now
	for i, need := range [2]int64{1, t.size} {
		if a := g.left[i]; need > a.left {
			at = latest(at, a.until)
		}
	}
	return at
}

func (g *Governor) take(t *turn, now time.Time) {
	if g.begun.IsZero() {
		g.begun = now
	}
	if !g.open {
		g.alone, t.alone = true, true
	}
	if !g.outage.IsZero() {
		g.probing, t.probe = true, true
		g.probe = now.Add(g.parts.Probe)
	}
	g.left[0].left--
	g.left[1].left -= t.size
}

// begins lets the others follow as soon as the reply to the first request begins.
func (g *Governor) begins(t *turn) {
	if !t.alone {
		return
	}
	g.mu.Lock()
	g.heard, g.open = true, true
	g.mu.Unlock()
	g.parts.Key.good.Store(true)
	g.release(t)
}

// release gives back what the request holds and lets the others look again.
func (g *Governor) release(t *turn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if t.alone {
		g.alone, t.alone = false, false
	}
	g.parts.Key.leave(t)
	if t.probe {
		g.probing, t.probe = false, false
	}
	g.stir()
}

func latest(first time.Time, more ...time.Time) time.Time {
	for _, t := range more {
		if t.After(first) {
			first = t
		}
	}
	return first
}

var _ Provider = governed{}
