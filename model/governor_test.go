package model_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"colony/model"
)

// outside is the world beyond the governor: it answers the nth attempt and notes when it came.
type outside struct {
	mu     sync.Mutex
	sent   []time.Time
	flying int
	peak   int
	answer func(n int, since time.Duration) (model.Reply, error)
	begun  time.Time
	takes  time.Duration
	begins time.Duration // when the first piece comes; 0 is never
}

func (o *outside) Complete(ctx context.Context, req model.Request, show func(model.Delta)) (model.Reply, error) {
	o.mu.Lock()
	o.sent = append(o.sent, time.Now())
	n, since := len(o.sent), time.Since(o.begun)
	o.flying++
	o.peak = max(o.peak, o.flying)
	o.mu.Unlock()
	defer func() { o.mu.Lock(); o.flying--; o.mu.Unlock() }()
	if o.begins > 0 {
		time.Sleep(o.begins)
		show(model.Delta{})
	}
	if o.takes > 0 {
		select {
		case <-ctx.Done():
			return model.Reply{}, &model.Error{Kind: model.Aborted, Err: ctx.Err()}
		case <-time.After(o.takes):
		}
	}
	reply, err := o.answer(n, since)
	reply.Usage.Fresh = int64(req.Attempt)
	return reply, err
}

func (o *outside) offsets() []time.Duration {
	var all []time.Duration
	for _, at := range o.sent {
		all = append(all, at.Sub(o.begun))
	}
	return all
}

func govern(t *testing.T, o *outside, change func(*model.GovernorParts)) model.Provider {
	t.Helper()
	o.begun = time.Now()
	parts := model.GovernorParts{Throttled: func(string, time.Time) {}}
	if change != nil {
		change(&parts)
	}
	g, err := model.NewGovernor(parts)
	if err != nil {
		t.Fatal(err)
	}
	return g.Around(o)
}

// swarm sends n requests at once and returns their errors.
func swarm(p model.Provider, n int) []error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { _, errs[i] = p.Complete(context.Background(), model.Request{}, nil) })
	}
	all.Wait()
	return errs
}

func count(errs []error) (bad int) {
	for _, err := range errs {
		if err != nil {
			bad++
		}
	}
	return bad
}

func fails(kind model.Kind, change func(*model.Error)) error {
	e := &model.Error{Kind: kind, Text: "x"}
	if change != nil {
		change(e)
	}
	return e
}

// contract 58: a 429 cools every ant; none asks earlier, the retries are spread, the attempts bounded.
func TestGovernorCoolsTheSwarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ants, wait = 32, 7 * time.Second
		o := &outside{takes: 10 * time.Millisecond}
		o.answer = func(n int, _ time.Duration) (model.Reply, error) {
			if n > 1 && n <= 1+ants {
				return model.Reply{}, fails(model.RateLimited, func(e *model.Error) { e.Status, e.RetryAfter = 429, wait })
			}
			return model.Reply{}, nil
		}
		p := govern(t, o, nil)
		if bad := count(swarm(p, 1)) + count(swarm(p, ants)); bad != 0 {
			t.Fatalf("%d requests were lost", bad)
		}
		retries := o.sent[1+ants:]
		if len(retries) != ants {
			t.Fatalf("%d retries of %d ants", len(retries), ants)
		}
		refused := o.sent[1].Add(o.takes)
		first, last := slices.MinFunc(retries, time.Time.Compare), slices.MaxFunc(retries, time.Time.Compare)
		if first.Sub(refused) <= wait {
			t.Errorf("the first retry came after %v", first.Sub(refused))
		}
		if last.Sub(first) < 3*time.Second {
			t.Errorf("the retries are spread over %v only", last.Sub(first))
		}
	})
}

// contract 58: a 429 without end is given up after the attempts allowed, and says when it waits.
func TestGovernorBoundsAttempts(t *testing.T) {
	cases := []struct {
		name    string
		err     error
		longest time.Duration
	}{
		{"no wait named", fails(model.RateLimited, nil), time.Minute},
		{"a thousand million seconds", fails(model.RateLimited, func(e *model.Error) { e.RetryAfter = 1e9 * time.Second }), 5*5*time.Minute + time.Minute},
		{"server error", fails(model.Transport, func(e *model.Error) { e.Status = 500 }), time.Minute},
		{"cut streams", fails(model.Transport, func(e *model.Error) { e.Sent = true }), time.Minute},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &outside{}
				o.answer = func(n int, _ time.Duration) (model.Reply, error) {
					if n == 1 {
						return model.Reply{}, nil
					}
					return model.Reply{}, c.err
				}
				p := govern(t, o, nil)
				swarm(p, 1)
				if errs := swarm(p, 1); !errors.Is(errs[0], c.err) {
					t.Fatalf("got %v", errs[0])
				}
				if len(o.sent) != 1+6 {
					t.Errorf("sent %d times", len(o.sent)-1)
				}
				if took := time.Since(o.begun); took > c.longest {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

func TestGovernorCountsAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &outside{answer: func(n int, _ time.Duration) (model.Reply, error) {
			if n < 3 {
				return model.Reply{}, fails(model.RateLimited, nil)
			}
			return model.Reply{}, nil
		}}
		var told []string
		p := govern(t, o, func(parts *model.GovernorParts) {
			parts.Throttled = func(why string, until time.Time) {
				if !until.After(time.Now()) {
					t.Errorf("told of a wait that is over")
				}
				told = append(told, why)
			}
		})
		reply, err := p.Complete(context.Background(), model.Request{}, nil)
		if err != nil || reply.Usage.Fresh != 3 {
			t.Fatalf("attempt %d, %v", reply.Usage.Fresh, err)
		}
		if !slices.Equal(told, []string{"rate_limited", "rate_limited"}) {
			t.Errorf("told %q", told)
		}
	})
}

// contract 76: the first request goes alone; where it fails for good, nothing else is sent.
func TestGovernorSendsTheFirstAlone(t *testing.T) {
	for _, kind := range []model.Kind{model.Auth, model.Quota, model.NoModel, model.Unverified} {
		t.Run(string(kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				want := fails(kind, func(e *model.Error) { e.Status = 401 })
				o := &outside{takes: time.Second, answer: func(int, time.Duration) (model.Reply, error) { return model.Reply{}, want }}
				p := govern(t, o, nil)
				for _, err := range append(swarm(p, 8), swarm(p, 1)...) {
					if !errors.Is(err, want) {
						t.Errorf("got %v", err)
					}
				}
				if len(o.sent) != 1 || time.Since(o.begun) > 2*time.Second {
					t.Errorf("%d requests in %v", len(o.sent), time.Since(o.begun))
				}
			})
		})
	}
	for name, first := range map[string]error{"answered": nil, "refused": fails(model.BadRequest, nil), "stopped": &model.Error{Kind: model.Aborted}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &outside{takes: time.Second}
				o.answer = func(n int, _ time.Duration) (model.Reply, error) {
					if n == 1 {
						return model.Reply{}, first
					}
					return model.Reply{}, nil
				}
				p := govern(t, o, nil)
				errs := swarm(p, 8)
				if bad := count(errs); bad > 1 || (bad == 0) != (first == nil) {
					t.Fatalf("lost %d", bad)
				}
				early := slices.DeleteFunc(o.offsets(), func(d time.Duration) bool { return d >= time.Second })
				if len(early) != 1 {
					t.Errorf("%d requests before the first answer", len(early))
				}
				if name != "stopped" && o.peak != 7 {
					t.Errorf("then %d at once", o.peak)
				}
			})
		})
	}
}

// The others need not wait for the end of the first reply: its beginning is an answer.
func TestGovernorFollowsTheFirstByte(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &outside{begins: time.Second, takes: time.Minute, answer: func(int, time.Duration) (model.Reply, error) { return model.Reply{}, nil }}
		p := govern(t, o, nil)
		swarm(p, 8)
		if took := time.Since(o.begun); o.peak != 8 || took != time.Minute+2*time.Second || o.offsets()[1] != time.Second {
			t.Errorf("%d at once, all done after %v", o.peak, took)
		}
	})
}

// An endpoint that never answered is given up within five seconds, for all.
func TestGovernorGivesUpOnSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := fails(model.Transport, nil)
		o := &outside{answer: func(int, time.Duration) (model.Reply, error) { return model.Reply{}, gone }}
		p := govern(t, o, nil)
		for _, err := range swarm(p, 8) {
			if !errors.Is(err, gone) {
				t.Errorf("got %v", err)
			}
		}
		if took := time.Since(o.begun); took > 5*time.Second || len(o.sent) < 2 || len(o.sent) > 6 {
			t.Errorf("%d requests in %v", len(o.sent), took)
		}
	})
}

// AV04: while a provider is overloaded or gone, one request in two seconds tries it; no turn is lost.
func TestGovernorProbesAnOutage(t *testing.T) {
	for name, down := range map[string]error{
		"overloaded": fails(model.Overloaded, func(e *model.Error) { e.Status = 529 }),
		"gone":       fails(model.Transport, nil),
		"dropped":    fails(model.Transport, func(e *model.Error) { e.Sent, e.Dropped = true, true }), // each request is taken and the connection closed
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const ants, outage = 8, time.Minute
				o := &outside{takes: 50 * time.Millisecond}
				o.answer = func(n int, since time.Duration) (model.Reply, error) {
					if n > 1 && since < outage {
						return model.Reply{}, down
					}
					return model.Reply{}, nil
				}
				p := govern(t, o, nil)
				if bad := count(swarm(p, 1)) + count(swarm(p, ants)); bad != 0 {
					t.Fatalf("%d turns were lost", bad)
				}
				var probes []time.Duration
				for _, at := range o.offsets()[1+ants:] {
					if at > 5*time.Second && at < outage { // by then it is known
						probes = append(probes, at)
					}
				}
				for i := 1; i < len(probes); i++ {
					if gap := probes[i] - probes[i-1]; gap < 2*time.Second {
						t.Errorf("two probes within %v", gap)
					}
				}
				if len(probes) < 20 {
					t.Errorf("%d probes in a minute", len(probes))
				}
				if took := time.Since(o.begun); took > outage+5*time.Second {
					t.Errorf("all done after %v", took)
				}
			})
		})
	}
}

func TestGovernorEndsAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &outside{answer: func(int, time.Duration) (model.Reply, error) {
			return model.Reply{}, fails(model.Overloaded, func(e *model.Error) { e.Status = 503 })
		}}
		p := govern(t, o, nil)
		if bad := count(swarm(p, 4)); bad != 4 {
			t.Errorf("%d of 4 gave up", bad)
		}
		if took := time.Since(o.begun); took < 10*time.Minute || took > 11*time.Minute {
			t.Errorf("gave up after %v", took)
		}
	})
}

// What the provider says it has left holds requests back before it has to refuse them.
func TestGovernorKeepsToTheLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &outside{}
		o.answer = func(n int, _ time.Duration) (model.Reply, error) {
			reply := model.Reply{}
			if n == 1 {
				reply.Limits.Requests = model.Limit{Known: true, Left: 2, Reset: 30 * time.Second}
			}
			return reply, nil
		}
		p := govern(t, o, nil)
		swarm(p, 1)
		swarm(p, 4)
		early := slices.DeleteFunc(o.offsets(), func(d time.Duration) bool { return d >= 30*time.Second })
		if len(early) != 3 || len(o.sent) != 5 {
			t.Errorf("%d of %d before the reset", len(early), len(o.sent))
		}
	})
}

func TestGovernorWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &outside{answer: func(int, time.Duration) (model.Reply, error) {
			return model.Reply{}, fails(model.RateLimited, func(e *model.Error) { e.RetryAfter = time.Minute })
		}}
		p := govern(t, o, nil)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, err := p.Complete(ctx, model.Request{}, nil)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(o.begun) != time.Second {
			t.Errorf("%v after %v", err, time.Since(o.begun))
		}
	})
}

// A request that panics does not hold up the others.
func TestGovernorOutlivesAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &outside{answer: func(n int, _ time.Duration) (model.Reply, error) {
			if n == 1 {
				panic("x")
			}
			return model.Reply{}, nil
		}}
		p := govern(t, o, nil)
		func() {
			defer func() { _ = recover() }()
			swarmOne(p)
		}()
		if err := swarmOne(p); err != nil {
			t.Error(err)
		}
	})
}

func swarmOne(p model.Provider) error {
	_, err := p.Complete(context.Background(), model.Request{}, nil)
	return err
}
