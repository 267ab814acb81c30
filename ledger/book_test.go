package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"colony/event"
	"colony/ledger"
	"colony/model"
)

// contract 56, 57: each cap of each scope stops the request that does not fit, before it is sent.
func TestCaps(t *testing.T) {
	none := ledger.Caps{}
	for _, c := range []struct {
		name           string
		run, task, ant ledger.Caps
		scope, kind    string // of the refusal; empty where it is sent
		limit          int    // as sent, of 5000
	}{
		{"no cap", none, none, none, "", "", 5000},
		{"run tokens", ledger.Caps{Tokens: n(500)}, none, none, "run", "tokens", 0},
		{"task tokens", none, ledger.Caps{Tokens: n(500)}, none, "task", "tokens", 0},
		{"ant tokens", none, none, ledger.Caps{Tokens: n(500)}, "ant", "tokens", 0},
		{"tokens that clamp", ledger.Caps{Tokens: n(9000)}, ledger.Caps{Tokens: n(1000)}, ledger.Caps{Tokens: n(8000)}, "", "", -1000},
		{"run usd", ledger.Caps{PicoUSD: n(2_000_000_000)}, none, none, "run", "usd", 0},
		{"task usd", none, ledger.Caps{PicoUSD: n(2_000_000_000)}, none, "task", "usd", 0},
		{"ant usd", none, none, ledger.Caps{PicoUSD: n(1)}, "ant", "usd", 0},
		{"usd that clamp", ledger.Caps{PicoUSD: n(10_000_000_000)}, none, none, "", "", 1100},
		{"the tightest of all", ledger.Caps{PicoUSD: n(1e13)}, ledger.Caps{Tokens: n(100)}, ledger.Caps{Turns: n(3)}, "task", "tokens", 0},
		{"no turns", none, none, ledger.Caps{Turns: n(0)}, "ant", "turns", 0},
		{"no turns of the run", ledger.Caps{Turns: n(0)}, none, none, "run", "turns", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, log := book(t, c.run)
			a := opened(b, account("t1-1", "priced"), c.task, c.ant)
			sent := 0
			s := server(func(_ context.Context, r model.Request) (model.Reply, error) {
				sent = r.OutputLimit
				return model.Reply{Usage: model.Usage{Fresh: 1}}, nil
			})
			_, err := b.Meter(a, s).Complete(t.Context(), ask("1", 5000), nil)
			if c.scope != "" {
				capOf(t, err, c.scope, c.kind)
				if sent != 0 || len(of(t, log)) != 0 {
					t.Errorf("sent with %d, %d events", sent, len(of(t, log)))
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			r := bodies[event.ModelRequested](t, log)[0]
			input := r.ReservedTokens - int64(sent)
			switch {
			case c.limit == 5000 && sent != 5000:
				t.Errorf("sent with %d", sent)
			case c.limit < 0 && r.ReservedTokens != int64(-c.limit):
				t.Errorf("%d tokens reserved under a cap of %d", r.ReservedTokens, -c.limit)
			case c.limit == 1100:
				// Cache writes are the dearest input: 2.5 dollars a million.
				left := 10_000_000_000 - 2_500_000*input
				if int64(sent) != left/8_000_000 || *r.ReservedUSD > 10_000_000_000 {
					t.Errorf("sent with %d where %d picodollars were left, %s reserved", sent, left, *r.ReservedUSD)
				}
			}
		})
	}
}

// Under 256 tokens of output nothing is sent, unless less was asked for.
func TestLeastOutput(t *testing.T) {
	b, log := book(t, ledger.Caps{})
	a := opened(b, account("t1-1", "priced"), ledger.Caps{}, ledger.Caps{})
	if _, err := b.Meter(a, says(model.Usage{Fresh: 1})).Complete(t.Context(), ask("probe", 300), nil); err != nil {
		t.Fatal(err)
	}
	input := bodies[event.ModelRequested](t, log)[0].ReservedTokens - 300
	for _, c := range []struct {
		left, asked int64
		sent        bool
	}{{256, 300, true}, {255, 300, false}, {100, 100, true}, {99, 100, false}} {
		b, _ := book(t, ledger.Caps{})
		a := opened(b, account("t1-1", "priced"), ledger.Caps{}, ledger.Caps{Tokens: n(input + c.left)})
		_, err := b.Meter(a, says(model.Usage{Fresh: 1})).Complete(t.Context(), ask("1", int(c.asked)), nil)
		if (err == nil) != c.sent {
			t.Errorf("%d left, %d asked: %v", c.left, c.asked, err)
		}
	}
}

// contract 59
func TestUnpriced(t *testing.T) {
	usd, tokens := ledger.Caps{PicoUSD: n(int64(event.Dollar))}, ledger.Caps{Tokens: n(100_000)}
	both := ledger.Caps{PicoUSD: usd.PicoUSD, Tokens: tokens.Tokens}
	for _, c := range []struct {
		name           string
		run, task, ant ledger.Caps
		refused        string
	}{
		{"no usd cap", ledger.Caps{}, ledger.Caps{}, ledger.Caps{}, ""},
		{"a usd cap alone", usd, ledger.Caps{}, ledger.Caps{}, "run"},
		{"a usd cap of the task alone", ledger.Caps{}, usd, ledger.Caps{}, "task"},
		{"a usd cap of the ant alone", ledger.Caps{}, ledger.Caps{}, usd, "ant"},
		{"held by its own token cap", both, ledger.Caps{}, ledger.Caps{}, ""},
		{"held by a wider token cap", tokens, usd, usd, ""},
		{"not held by a narrower one", usd, tokens, both, "run"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, log := book(t, c.run)
			a := opened(b, account("t1-1", "mystery"), c.task, c.ant)
			_, err := b.Meter(a, says(model.Usage{Fresh: 10, Output: 10})).Complete(t.Context(), ask("1", 1000), nil)
			if c.refused != "" {
				capOf(t, err, c.refused, "usd")
				if len(of(t, log)) != 0 {
					t.Error("it was recorded")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if r := bodies[event.ModelRequested](t, log)[0]; r.ReservedUSD != nil {
				t.Errorf("reserved %s", r.ReservedUSD)
			}
			if r := bodies[event.ModelReplied](t, log)[0]; r.USD != nil || r.Price != event.Unknown {
				t.Errorf("charged %v, %s", r.USD, r.Price)
			}
		})
	}
	b, log := book(t, usd)
	a := opened(b, account("t1-1", "free"), ledger.Caps{}, ledger.Caps{})
	if _, err := b.Meter(a, says(model.Usage{Fresh: 10})).Complete(t.Context(), ask("1", 1000), nil); err != nil {
		t.Fatal(err)
	}
	if r := bodies[event.ModelReplied](t, log)[0]; r.USD == nil || *r.USD != 0 || r.Price != event.Free {
		t.Errorf("a free model was charged %v, %s", r.USD, r.Price)
	}
}

func TestTurnsAndCalls(t *testing.T) {
	b, _ := book(t, ledger.Caps{Calls: n(5)})
	a := opened(b, account("t1-1", "free"), ledger.Caps{}, ledger.Caps{Turns: n(2), Calls: n(3)})
	sibling := opened(b, account("t1-2", "free"), ledger.Caps{}, ledger.Caps{})
	limited := fails(&model.Error{Kind: model.RateLimited, Status: 429})
	for i, s := range []server{says(model.Usage{Fresh: 1}), limited, says(model.Usage{Fresh: 1}), forbidden(t)} {
		_, err := b.Meter(a, s).Complete(t.Context(), ask(fmt.Sprint(i), 1000), nil)
		if i == 3 {
			capOf(t, err, "ant", "turns")
		}
	}
	if err := b.Calls(a, 2); err != nil {
		t.Error(err)
	}
	capOf(t, b.Calls(a, 2), "ant", "calls")
	if err := b.Calls(a, 1); err != nil { // the two that did not fit were not counted
		t.Error(err)
	}
	capOf(t, b.Calls(sibling, 3), "run", "calls")
	if err := b.Calls(sibling, 2); err != nil {
		t.Error(err)
	}
	// An ant that is hatched again keeps what it used, and may get other caps.
	b.OpenAnt(a, ledger.Caps{Turns: n(2)})
	_, err := b.Meter(a, forbidden(t)).Complete(t.Context(), ask("5", 1000), nil)
	capOf(t, err, "ant", "turns")
	b.OpenAnt(a, ledger.Caps{Turns: n(3)})
	b.OpenTask("t1", ledger.Caps{Tokens: n(1)})
	_, err = b.Meter(a, forbidden(t)).Complete(t.Context(), ask("6", 1000), nil)
	capOf(t, err, "task", "tokens")
}

// An account without a task is held by the caps of the run and the ant.
func TestNoTask(t *testing.T) {
	b, _ := book(t, ledger.Caps{Tokens: n(2000)})
	a := ledger.Account{Run: "r", Ant: "queen", Provider: "p", Model: "free"}
	b.OpenAnt(a, ledger.Caps{})
	if _, err := b.Meter(a, says(model.Usage{Fresh: 1900})).Complete(t.Context(), ask("1", 1000), nil); err != nil {
		t.Error(err)
	}
	_, err := b.Meter(a, forbidden(t)).Complete(t.Context(), ask("2", 1000), nil)
	capOf(t, err, "run", "tokens")
}

// What does not fit only because of what is in flight waits, and is sent or refused when that has settled.
func TestWaitsForOthers(t *testing.T) {
	for _, c := range []struct {
		name  string
		spent int64 // what the first comes to
		fits  bool
	}{{"and is sent", 500, true}, {"and is refused", 2950, false}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, log := book(t, ledger.Caps{Tokens: n(3000)})
				first := opened(b, account("t1-1", "free"), ledger.Caps{}, ledger.Caps{})
				second := opened(b, account("t2-1", "free"), ledger.Caps{}, ledger.Caps{})
				answer, sent := make(chan bool), false
				holds := server(func(context.Context, model.Request) (model.Reply, error) {
					<-answer
					return model.Reply{Usage: model.Usage{Fresh: c.spent}}, nil
				})
				var group sync.WaitGroup
				group.Go(func() {
					if _, err := b.Meter(first, holds).Complete(t.Context(), ask("1", 5000), nil); err != nil {
						t.Error(err)
					}
				})
				synctest.Wait()
				var err error
				group.Go(func() {
					next := server(func(context.Context, model.Request) (model.Reply, error) {
						sent = true
						return model.Reply{Usage: model.Usage{Fresh: 1}}, nil
					})
					_, err = b.Meter(second, next).Complete(t.Context(), ask("2", 5000), nil)
				})
				synctest.Wait()
				if len(of(t, log)) != 1 || sent {
					t.Error("the second did not wait")
				}
				impatient, cancel := context.WithCancel(t.Context())
				group.Go(func() {
					if _, err := b.Meter(second, forbidden(t)).Complete(impatient, ask("3", 5000), nil); !errors.Is(err, context.Canceled) {
						t.Errorf("a wait that was cancelled: %v", err)
					}
				})
				synctest.Wait()
				cancel()
				close(answer)
				group.Wait()
				if sent != c.fits || (err == nil) != c.fits {
					t.Errorf("sent %v, %v", sent, err)
				}
				if !c.fits {
					capOf(t, err, "run", "tokens")
				}
			})
		})
	}
}

// case LG05, contract 57
func TestBudgetOverEightAnts(t *testing.T) {
	const budget = 10_000
	b, log := book(t, ledger.Caps{Tokens: n(budget)})
	var group sync.WaitGroup
	for i := range 8 {
		a := opened(b, account(fmt.Sprintf("t%d-1", i), "free"), ledger.Caps{}, ledger.Caps{})
		group.Go(func() {
			for turn := 0; ; turn++ {
				_, err := b.Meter(a, says(model.Usage{Fresh: 150, Output: 200})).Complete(t.Context(), ask(fmt.Sprint(turn), 1000), nil)
				var full *model.CapError
				if errors.As(err, &full) {
					return
				}
				if err != nil || turn > 100 {
					t.Errorf("turn %d: %v", turn, err)
					return
				}
			}
		})
	}
	group.Wait()
	bill := fold(t, log)
	usage, _, _ := bill.Total()
	if total := usage.Input + usage.Output; total > budget || total < budget-1000 {
		t.Errorf("%d of %d tokens were spent", total, budget)
	}
	if usage.Requests*350 != usage.Input+usage.Output {
		t.Errorf("%+v", usage)
	}
	prefixesFit(t, log, budget)
}

// prefixesFit checks law 7 where no charge passes its estimate: whenever a request is sent, what was charged
// and what is in flight fit under the cap together.
func prefixesFit(t interface{ Errorf(string, ...any) }, log event.Log, budget int64) {
	type key struct {
		ant, request string
		attempt      int
	}
	flight, charged := map[key]int64{}, int64(0)
	for e, err := range log.Read(context.Background(), 0) {
		if err != nil {
			t.Errorf("read: %v", err)
		}
		switch body := e.Body.(type) {
		case event.ModelRequested:
			flight[key{e.Ant, body.Request, body.Attempt}] = body.ReservedTokens
			sum := charged
			for _, held := range flight {
				sum += held
			}
			if sum > budget {
				t.Errorf("at event %d %d of %d tokens are spent or in flight", e.Seq, sum, budget)
			}
		case event.ModelReplied:
			delete(flight, key{e.Ant, body.Request, body.Attempt})
			charged += body.Usage.Input + body.Usage.Output
		}
	}
}

// The default budget admits the first request of a card with the default output limit. contract 77
func TestFirstRequestIsAdmitted(t *testing.T) {
	b, log := book(t, ledger.Caps{PicoUSD: n(10 * int64(event.Dollar))})
	wall := 30 * time.Minute
	a := opened(b, account("t1-1", "priced"), ledger.Caps{}, ledger.Caps{PicoUSD: n(2 * int64(event.Dollar)), Tokens: n(2_000_000), Turns: n(80), Calls: n(600), Wall: &wall})
	if _, err := b.Meter(a, says(model.Usage{Fresh: 1})).Complete(t.Context(), ask("1", 16_384), nil); err != nil {
		t.Fatal(err)
	}
	if r := bodies[event.ModelRequested](t, log)[0]; r.OutputLimit != 16_384 {
		t.Errorf("the output limit is %d", r.OutputLimit)
	}
}
