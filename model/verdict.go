package model

import (
	"errors"
	"time"
)

// notice is a wait that all ants share and that somebody should know of.
type notice struct {
	why   string
	until time.Time
}

// judge learns from what came of an attempt and reports whether to send the request again.
func (g *Governor) judge(t *turn, reply Reply, err error) bool {
	again, n := g.learn(t, reply, err)
	g.parts.Key.share(g)
	if n.why != "" {
		g.parts.Throttled(n.why, n.until)
	}
	return again
}

func (g *Governor) learn(t *turn, reply Reply, err error) (bool, notice) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	var e *Error
	if err == nil {
		g.answered(now, reply.Limits)
		return false, notice{}
	}
	if !errors.As(err, &e) {
		return false, notice{}
	}
	g.heard = g.heard || e.Status != 0 || reply.FirstByte > 0
	if e.Again {
		g.answered(now, e.Limits)
		return g.counted(t, notice{})
	}
	switch e.Kind {
	case Cut:
		g.answered(now, e.Limits)
		return g.counted(t, notice{})
	case RateLimited:
		g.outage = time.Time{}
		return g.counted(t, g.slowDown(e, now))
	case Overloaded:
		return g.waitOut(e, now)
	case Transport:
		return g.lost(t, e, now)
	case Aborted:
		return false, notice{}
	}
	if e.Fatal() {
		g.dead = e
	} else {
		g.answered(now, e.Limits)
	}
	return false, notice{}
}

// answered is an answer that lets other requests go.
func (g *Governor) answered(now time.Time, l Limits) {
	g.heard, g.open, g.fails, g.outage, g.silent = true, true, 0, time.Time{}, time.Time{}
	g.note(now, l)
}

func (g *Governor) note(now time.Time, l Limits) {
	for i, limit := range [2]Limit{l.Requests, l.Tokens} {
		if limit.Known {
			g.left[i] = allowance{limit.Left, now.Add(min(limit.Reset, g.parts.MaxWait))}
		}
	}
}

// counted reports whether the request has attempts left.
func (g *Governor) counted(t *turn, n notice) (bool, notice) {
	t.tries++
	return t.tries < g.parts.Attempts, n
}

// slowDown makes all ants wait as long as the provider asked, or longer each time where it did not say.
func (g *Governor) slowDown(e *Error, now time.Time) notice {
	g.note(now, e.Limits)
	wait := min(e.RetryAfter, g.parts.MaxWait)
	if wait <= 0 && now.Before(g.cool) {
		return notice{}
	}
	if wait <= 0 {
		wait = backoff(time.Second, g.fails)
		g.fails++
	}
	return g.coolUntil(now, now.Add(wait), string(e.Kind))
}

func (g *Governor) coolUntil(now, until time.Time, why string) notice {
	told := g.cool
	if !until.After(told) {
		return notice{}
	}
	g.cool = until
	if told.After(now) && until.Sub(told) < time.Second {
		return notice{}
	}
	return notice{why, until}
}

// waitOut opens the circuit: one request at a time tries whether the provider is back. Such attempts do not
// count, but the outage has an end.
func (g *Governor) waitOut(e *Error, now time.Time) (bool, notice) {
	began := g.outage.IsZero()
	if began {
		g.outage = now
	}
	g.probe = latest(g.probe, now.Add(g.parts.Probe), now.Add(min(e.RetryAfter, g.parts.MaxWait)))
	if now.Sub(g.outage) >= g.parts.Outage {
		g.dead = e
		return false, notice{}
	}
	if began {
		return true, notice{string(e.Kind), g.probe}
	}
	return true, notice{}
}

// silence is how long an endpoint that takes requests and drops them all is taken to be there.
const silence = 3 * time.Second

// lost is a request that got no answer, or a broken one.
func (g *Governor) lost(t *turn, e *Error, now time.Time) (bool, notice) {
	if !g.heard {
		return g.knock(e, now), notice{}
	}
	switch {
	case !e.Dropped:
		g.silent = time.Time{}
	case g.silent.IsZero():
		g.silent = now
	}
	if e.Status == 0 && !e.Sent {
		return g.waitOut(e, now)
	}
	if !g.silent.IsZero() && now.Sub(g.silent) >= silence {
		t.after = now.Add(2 * g.parts.Probe) // it may be the request that is not answered: another is tried before it
		return g.waitOut(e, now)
	}
	g.outage = time.Time{}
	wait := max(backoff(250*time.Millisecond, t.tries), min(e.RetryAfter, g.parts.MaxWait))
	t.after = now.Add(wait + g.parts.Jitter(wait))
	return g.counted(t, notice{})
}

// knock tries an endpoint that never answered a few times more, and then gives it up for all. The wait that
// follows is at most twice as long as it is here.
func (g *Governor) knock(e *Error, now time.Time) bool {
	wait := backoff(500*time.Millisecond, g.fails)
	g.fails++
	if now.Add(2*wait).Sub(g.begun) > g.parts.FirstWait {
		g.dead = e
		return false
	}
	g.cool = latest(g.cool, now.Add(wait))
	return true
}

// backoff doubles with each failure, up to half a minute.
func backoff(first time.Duration, fails int) time.Duration {
	return min(first<<min(fails, 8), 30*time.Second)
}
