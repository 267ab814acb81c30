package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"colony/event"
	"colony/ledger"
	"colony/ledger/report"
	"colony/model"
)

// counter is a server that counts as a provider does, and fails as it is told to.
type counter struct {
	mu       sync.Mutex
	usage    map[string]event.Usage // of replies it completed, by ant
	usd      map[string]event.PicoUSD
	requests int
}

// Reply kinds that a plan of faults is made of.
const (
	ok = iota
	rateLimited
	overloaded
	reset
)

func (c *counter) serve(ant string, s step) server {
	u := s.usage
	return func(_ context.Context, r model.Request) (model.Reply, error) {
		time.Sleep(s.takes) // in the time of the bubble: requests overlap as drawn
		c.mu.Lock()
		defer c.mu.Unlock()
		c.requests++
		switch s.kind {
		case rateLimited:
			return model.Reply{}, &model.Error{Kind: model.RateLimited, Status: 429}
		case overloaded:
			return model.Reply{}, &model.Error{Kind: model.Overloaded, Status: 503}
		case reset:
			return model.Reply{}, &model.Error{Kind: model.Transport}
		}
		u.Output = min(u.Output, int64(r.OutputLimit))
		u.Reasoning = min(u.Reasoning, u.Output)
		c.usage[ant] = c.usage[ant].Add(event.Usage{
			Requests: 1, Input: u.Input(), Cached: u.Cached, CacheWrite: u.CacheWrite, Output: u.Output, Reasoning: u.Reasoning,
		})
		c.usd[ant] += cost(u)
		return model.Reply{Message: model.Message{Role: model.Assistant, Text: "x"}, Usage: u}, nil
	}
}

// step is one request of an ant: how it ends, how long it takes and what it comes to.
type step struct {
	kind  int
	takes time.Duration
	usage model.Usage
}

// drawSteps draws requests whose input is at most so many tokens of each kind.
func drawSteps(t *rapid.T, input int64) []step {
	tokens := rapid.Int64Range(0, input)
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		return step{
			rapid.SampledFrom([]int{ok, ok, ok, rateLimited, overloaded, reset}).Draw(t, "kind"),
			time.Duration(rapid.IntRange(1, 9).Draw(t, "seconds")) * time.Second,
			model.Usage{
				Fresh: 1 + tokens.Draw(t, "fresh"), Cached: tokens.Draw(t, "cached"), CacheWrite: tokens.Draw(t, "write"),
				Output: rapid.Int64Range(300, 3000).Draw(t, "output"), Reasoning: tokens.Draw(t, "reasoning"),
			},
		}
	}), 2, 10).Draw(t, "steps")
}

// run lets ants work side by side under caps by scope until their steps or a cap end, in a time that is not
// real, and returns the log of it.
func run(t *testing.T, c *counter, caps map[string]ledger.Caps, ants map[string][]step) *event.Memory {
	var log *event.Memory
	synctest.Test(t, func(t *testing.T) {
		var b *ledger.Book
		b, log = book(t, caps["run"])
		var group sync.WaitGroup
		for ant, steps := range ants {
			a := account(ant, "priced")
			opened(b, a, caps[a.Task], caps[a.Ant])
			group.Go(func() {
				for i, s := range steps {
					r := ask(fmt.Sprint(i/2), 3000) // every second step is another attempt
					r.Attempt = i%2 + 1
					_, err := b.Meter(a, c.serve(ant, s)).Complete(t.Context(), r, nil)
					var full *model.CapError
					var failed *model.Error
					if errors.As(err, &full) {
						return
					}
					if err != nil && !errors.As(err, &failed) {
						t.Errorf("%s: %v", ant, err)
					}
				}
			})
		}
		group.Wait()
	})
	return log
}

// Law 6 but for what a crash lost: the bill by any key adds up to the run and to what the provider counted,
// whatever failed, and is the same however often it is made.
func TestBillIsWhatTheProviderCounted(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		c := &counter{usage: map[string]event.Usage{}, usd: map[string]event.PicoUSD{}}
		ants := map[string][]step{}
		for i := range rapid.IntRange(1, 5).Draw(t, "ants") {
			ants[fmt.Sprintf("t%d-%d", i%3, i)] = drawSteps(t, 5000)
		}
		log := run(outer, c, nil, ants)
		bill, err := ledger.Fold(log.Read(t.Context(), 0))
		if err != nil {
			t.Fatal(err)
		}
		attempts := 0
		for e := range log.Read(t.Context(), 0) {
			if _, sent := e.Body.(event.ModelReplied); sent {
				attempts++
			}
			bill.Add(e) // again: nothing counts twice
		}
		if attempts != c.requests {
			t.Errorf("%d attempts in the log, %d at the server", attempts, c.requests)
		}
		for _, key := range report.Keys() {
			addsUp(t, &bill, c, key)
		}
	})
}

func addsUp(t *rapid.T, bill *ledger.Bill, c *counter, key string) {
	table, err := report.Make(bill, report.Options{By: []string{key}})
	if err != nil {
		t.Fatal(err)
	}
	var sum, counted event.Usage
	var usd, countedUSD event.PicoUSD
	for _, r := range table.Rows {
		sum, usd = sum.Add(r.Usage), usd+*r.USD
		if key == "ant" && (r.Usage != c.usage[r.Key] || *r.USD != c.usd[r.Key] || r.Estimated) {
			t.Errorf("%+v where the server counted %+v, %s", r, c.usage[r.Key], c.usd[r.Key])
		}
	}
	for ant := range c.usage {
		counted, countedUSD = counted.Add(c.usage[ant]), countedUSD+c.usd[ant]
	}
	if sum != table.Total.Usage || sum != counted || usd != *table.Total.USD || usd != countedUSD {
		t.Errorf("by %s: rows %+v %s, total %+v, the server counted %+v %s", key, sum, usd, table.Total, counted, countedUSD)
	}
	again, err := report.Make(bill, report.Options{By: []string{key}})
	if err != nil || !reflect.DeepEqual(table, again) {
		t.Errorf("by %s again: %+v, %v", key, again, err)
	}
}

// Law 7: when a request is sent its reservation fits beside all that was charged and is in flight, under the
// cap of the run, of its task and of its ant; charges pass a cap by no more than they passed their estimates.
func TestNoRequestPassesACap(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		caps := rapid.Custom(func(t *rapid.T) ledger.Caps {
			return ledger.Caps{Tokens: n(rapid.Int64Range(3000, 30_000).Draw(t, "tokens")), PicoUSD: n(rapid.Int64Range(20_000_000_000, 200_000_000_000).Draw(t, "usd"))}
		})
		all := map[string]ledger.Caps{"run": caps.Draw(t, "run")}
		honest := rapid.Bool().Draw(t, "honest")
		ants := map[string][]step{}
		for i := range rapid.IntRange(1, 4).Draw(t, "ants") {
			a := account(fmt.Sprintf("t%d-%d", i%2, i), "priced")
			all[a.Task], all[a.Ant] = caps.Draw(t, a.Task), caps.Draw(t, a.Ant)
			ants[a.Ant] = drawSteps(t, 3000)
			for j := range ants[a.Ant] {
				if honest { // under the estimate, and the same always, so that the estimate stays
					ants[a.Ant][j].usage = model.Usage{Fresh: 100, Output: ants[a.Ant][j].usage.Output}
				}
			}
		}
		log := run(outer, &counter{usage: map[string]event.Usage{}, usd: map[string]event.PicoUSD{}}, all, ants)
		for scope, c := range all {
			w := newWatch(scope, c)
			for e := range log.Read(t.Context(), 0) {
				w.see(t, e, honest)
			}
			w.end(t)
		}
	})
}

// watch adds up what one scope has charged and in flight.
type watch struct {
	scope                   string
	caps                    ledger.Caps
	flight                  map[string]event.ModelRequested
	tokens, usd             int64 // charged
	excessTokens, excessUSD int64 // of charges over their estimates
}

func newWatch(scope string, c ledger.Caps) *watch {
	return &watch{scope: scope, caps: c, flight: map[string]event.ModelRequested{}}
}

func (w *watch) see(t *rapid.T, e event.Event, honest bool) {
	if !slices.Contains([]string{"run", e.Task, e.Ant}, w.scope) {
		return
	}
	switch body := e.Body.(type) {
	case event.ModelRequested:
		w.flight[fmt.Sprint(e.Ant, body.Request, body.Attempt)] = body
		tokens, usd := w.tokens, w.usd
		for _, f := range w.flight {
			tokens, usd = tokens+f.ReservedTokens, usd+int64(*f.ReservedUSD)
		}
		if honest && (tokens > *w.caps.Tokens || usd > *w.caps.PicoUSD) {
			t.Errorf("%s: event %d: %d of %d tokens, %d of %d picodollars", w.scope, e.Seq, tokens, *w.caps.Tokens, usd, *w.caps.PicoUSD)
		}
	case event.ModelReplied:
		key := fmt.Sprint(e.Ant, body.Request, body.Attempt)
		f, tokens := w.flight[key], body.Usage.Input+body.Usage.Output
		delete(w.flight, key)
		w.tokens, w.usd = w.tokens+tokens, w.usd+int64(*body.USD)
		w.excessTokens += max(tokens-f.ReservedTokens, 0)
		w.excessUSD += max(int64(*body.USD-*f.ReservedUSD), 0)
	}
}

func (w *watch) end(t *rapid.T) {
	if w.tokens-w.excessTokens > *w.caps.Tokens || w.usd-w.excessUSD > *w.caps.PicoUSD {
		t.Errorf("%s: %d of %d tokens (%d over estimates), %d of %d picodollars (%d)", w.scope,
			w.tokens, *w.caps.Tokens, w.excessTokens, w.usd, *w.caps.PicoUSD, w.excessUSD)
	}
	if len(w.flight) > 0 {
		t.Errorf("%s: %d requests never settled", w.scope, len(w.flight))
	}
}
