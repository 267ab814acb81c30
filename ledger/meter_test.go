package ledger_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"colony/event"
	"colony/ledger"
	"colony/ledger/report"
	"colony/model"
	"colony/tools"
)

// case LG02
func TestUsageIsNotAddedTwice(t *testing.T) {
	b, log := book(t, ledger.Caps{})
	a := opened(b, account("t1-1", "priced"), ledger.Caps{}, ledger.Caps{})
	_, err := b.Meter(a, says(model.Usage{Fresh: 200, Cached: 800, Output: 500, Reasoning: 300})).Complete(t.Context(), ask("1", 1000), nil)
	if err != nil {
		t.Fatal(err)
	}
	bill := fold(t, log)
	usage, usd, price := bill.Total()
	if want := (event.Usage{Requests: 1, Input: 1000, Cached: 800, Output: 500, Reasoning: 300}); usage != want {
		t.Errorf("usage %+v", usage)
	}
	if usd == nil || usd.String() != "0.00456" || price != event.Known {
		t.Errorf("%v %s", usd, price)
	}
}

// case LG01
func TestCutStreamIsEstimated(t *testing.T) {
	b, log := book(t, ledger.Caps{})
	a := opened(b, account("t1-1", "priced"), ledger.Caps{}, ledger.Caps{})
	cut := server(func(context.Context, model.Request) (model.Reply, error) {
		return model.Reply{Message: model.Message{Role: model.Assistant, Text: strings.Repeat("x", 90)}},
			&model.Error{Kind: model.Transport, Sent: true, Text: "unexpected end"}
	})
	if _, err := b.Meter(a, cut).Complete(t.Context(), ask("1", 1000), nil); err == nil {
		t.Fatal("no error")
	}
	bill := fold(t, log)
	table, err := report.Make(&bill, report.Options{By: []string{"ant"}})
	if err != nil {
		t.Fatal(err)
	}
	r := table.Rows[0]
	input := bodies[event.ModelRequested](t, log)[0].ReservedTokens - 1000
	if len(table.Rows) != 1 || !r.Estimated || r.Usage.Requests != 1 || r.Usage.Input != input || r.Usage.Output != 30 || *r.USD == 0 {
		t.Errorf("%+v", table.Rows)
	}
	if got := bodies[event.ModelReplied](t, log); len(got) != 1 || got[0].Outcome != "cut" || !got[0].Estimated {
		t.Errorf("%+v", got)
	}
}

// case LG04
func TestEveryAttemptIsAnEntry(t *testing.T) {
	b, log := book(t, ledger.Caps{})
	a := opened(b, account("t1-1", "priced"), ledger.Caps{}, ledger.Caps{})
	limited := &model.Error{Kind: model.RateLimited, Status: 429, RetryAfter: time.Second, Text: "slow down"}
	for i, s := range []server{fails(limited), fails(limited), says(model.Usage{Fresh: 10, Output: 5})} {
		r := ask("1", 1000)
		r.Attempt = i + 1
		if _, err := b.Meter(a, s).Complete(t.Context(), r, nil); (err == nil) != (i == 2) {
			t.Errorf("attempt %d: %v", r.Attempt, err)
		}
	}
	requested, replied := bodies[event.ModelRequested](t, log), bodies[event.ModelReplied](t, log)
	if len(requested) != 3 || len(replied) != 3 {
		t.Fatalf("%d requested, %d replied", len(requested), len(replied))
	}
	for i, want := range []string{"rate_limited", "rate_limited", "ok"} {
		if r := replied[i]; r.Attempt != i+1 || requested[i].Attempt != i+1 || r.Outcome != want || r.Estimated || (string(r.Content) == "null") != (i < 2) {
			t.Errorf("attempt %d: %+v", i+1, r)
		}
	}
	bill := fold(t, log)
	usage, usd, _ := bill.Total()
	if (usage != event.Usage{Requests: 1, Input: 10, Output: 5}) || *usd != 60_000_000 {
		t.Errorf("%+v %v", usage, usd)
	}
}

func TestOutcomes(t *testing.T) {
	for _, c := range []struct {
		name    string
		err     error
		outcome string
		billed  bool
	}{
		{"rate limited", &model.Error{Kind: model.RateLimited, Status: 429}, "rate_limited", false},
		{"overloaded", &model.Error{Kind: model.Overloaded, Status: 529}, "overloaded", false},
		{"quota", &model.Error{Kind: model.Quota, Status: 429}, "quota", false},
		{"wrong key", &model.Error{Kind: model.Auth, Status: 401}, "auth", false},
		{"unverified", &model.Error{Kind: model.Unverified, Status: 403}, "auth", false},
		{"bad request", &model.Error{Kind: model.BadRequest, Status: 400}, "refused", false},
		{"too long", &model.Error{Kind: model.ContextTooLong, Status: 400}, "refused", false},
		{"no model", &model.Error{Kind: model.NoModel, Status: 404}, "refused", false},
		{"never sent", &model.Error{Kind: model.Transport}, "transport", false},
		{"sent, no answer", &model.Error{Kind: model.Transport, Sent: true}, "transport", true},
		{"sent, refused", &model.Error{Kind: model.Transport, Sent: true, Status: 500}, "transport", false},
		{"aborted before", &model.Error{Kind: model.Aborted}, "aborted", false},
		{"aborted after", &model.Error{Kind: model.Aborted, Sent: true}, "aborted", true},
		{"overloaded in its middle", &model.Error{Kind: model.Overloaded, Sent: true}, "overloaded", true},
		{"more than was wanted", &model.Error{Kind: model.BadRequest, Sent: true}, "refused", true},
		{"cancelled", context.Canceled, "aborted", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, log := book(t, ledger.Caps{})
			a := opened(b, account("t1-1", "priced"), ledger.Caps{}, ledger.Caps{})
			if _, err := b.Meter(a, fails(c.err)).Complete(t.Context(), ask("1", 1000), nil); !errors.Is(err, c.err) {
				t.Errorf("error %v", err)
			}
			r := bodies[event.ModelReplied](t, log)[0]
			if r.Outcome != c.outcome || r.Estimated != c.billed || (r.Usage.Input > 0) != c.billed || (*r.USD > 0) != c.billed {
				t.Errorf("%+v", r)
			}
		})
	}
}

// A provider that sends no usage, or a false one, is not believed.
func TestUsageThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		name      string
		reply     model.Reply
		estimated bool
	}{
		{"none", model.Reply{}, true},
		{"a guess of the adapter", model.Reply{Usage: model.Usage{Fresh: 1}, Estimated: true}, true},
		{"negative", model.Reply{Usage: model.Usage{Fresh: -5, Output: 7, Reasoning: 9}}, false},
		{"absurd", model.Reply{Usage: model.Usage{Fresh: 1 << 62, Cached: 1 << 62, CacheWrite: 1 << 62, Output: 1 << 62}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, log := book(t, ledger.Caps{Tokens: n(1 << 60)})
			a := opened(b, account("t1-1", "priced"), ledger.Caps{}, ledger.Caps{})
			s := server(func(context.Context, model.Request) (model.Reply, error) { return c.reply, nil })
			if _, err := b.Meter(a, s).Complete(t.Context(), ask("1", 1000), nil); err != nil {
				t.Fatal(err)
			}
			r := bodies[event.ModelReplied](t, log)[0]
			u := r.Usage
			if r.Estimated != c.estimated || *r.USD <= 0 || u.Input < 0 || u.Reasoning > u.Output || u.Requests != 1 {
				t.Errorf("%+v", r)
			}
		})
	}
}

// What the ant holds is what the log holds, byte for byte, also where arguments are no JSON.
func TestHeldIsRecorded(t *testing.T) {
	b, log := book(t, ledger.Caps{})
	a := opened(b, account("t1-1", "priced"), ledger.Caps{}, ledger.Caps{})
	said := model.Message{Role: model.Assistant, Text: "a <b>\xff", Calls: []tools.Call{
		{ID: "1", Name: "sh", Args: json.RawMessage(`{ "command": "a && b" }`)}, {ID: "2", Name: "read", Args: json.RawMessage(`{"path"`)}, {ID: "3", Name: "x"},
	}, Opaque: json.RawMessage(`{"k": 1}`)}
	s := server(func(context.Context, model.Request) (model.Reply, error) {
		return model.Reply{Message: said, Usage: model.Usage{Fresh: 1}}, nil
	})
	held, err := b.Meter(a, s).Complete(t.Context(), ask("1", 1000), nil)
	if err != nil {
		t.Fatal(err)
	}
	var rebuilt model.Message
	if err := json.Unmarshal(bodies[event.ModelReplied](t, log)[0].Content, &rebuilt); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(held.Message, rebuilt) {
		t.Errorf("held %+v, rebuilt %+v", held.Message, rebuilt)
	}
	if got := string(held.Message.Calls[0].Args); got != `{ "command": "a && b" }` {
		t.Errorf("arguments %s", got)
	}
}

// A request is recorded before it is sent, with what was reserved, and its reply after.
func TestRecordedBeforeSent(t *testing.T) {
	b, log := book(t, ledger.Caps{})
	a := opened(b, account("t1-1", "priced"), ledger.Caps{}, ledger.Caps{})
	s := server(func(_ context.Context, r model.Request) (model.Reply, error) {
		got := bodies[event.ModelRequested](t, log)
		if len(got) != 1 || got[0].Request != "q" || got[0].OutputLimit != 1000 || got[0].Provider != "p" || got[0].Model != "priced" || *got[0].ReservedUSD == 0 {
			t.Errorf("when it is sent the log says %+v", got)
		}
		if len(bodies[event.ModelReplied](t, log)) != 0 {
			t.Error("a reply before the request")
		}
		return model.Reply{Finish: model.FinishStop, FirstByte: 3 * time.Millisecond, Elapsed: 7 * time.Millisecond, Usage: model.Usage{Fresh: 5, Output: 1}}, nil
	})
	if _, err := b.Meter(a, s).Complete(t.Context(), ask("q", 1000), nil); err != nil {
		t.Fatal(err)
	}
	r := bodies[event.ModelReplied](t, log)[0]
	if r.Finish != "stop" || r.RateDate != "2026-10-01" || r.FirstByteMs != 3 || r.Ms < 7 || r.Price != event.Known {
		t.Errorf("%+v", r)
	}
	for _, e := range of(t, log) {
		if e.Run != "r" || e.Task != "t1" || e.Ant != "t1-1" {
			t.Errorf("%+v", e)
		}
	}
}

// The log of a run that is cancelled still holds what came of the request that was cut.
func TestCancelIsRecorded(t *testing.T) {
	b, log := book(t, ledger.Caps{})
	a := opened(b, account("t1-1", "priced"), ledger.Caps{}, ledger.Caps{})
	ctx, cancel := context.WithCancel(t.Context())
	s := server(func(ctx context.Context, _ model.Request) (model.Reply, error) {
		cancel()
		<-ctx.Done()
		return model.Reply{}, ctx.Err()
	})
	if _, err := b.Meter(a, s).Complete(ctx, ask("1", 1000), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if r := bodies[event.ModelReplied](t, log); len(r) != 1 || r[0].Outcome != "aborted" || !r[0].Estimated {
		t.Errorf("%+v", r)
	}
	if _, err := b.Meter(a, forbidden(t)).Complete(ctx, ask("2", 1000), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestMeterRefuses(t *testing.T) {
	b, log := book(t, ledger.Caps{})
	a := opened(b, account("t1-1", "priced"), ledger.Caps{}, ledger.Caps{})
	if _, err := b.Meter(a, says(model.Usage{Fresh: 1})).Complete(t.Context(), ask("1", 1000), nil); err != nil {
		t.Fatal(err)
	}
	noTask := a
	noTask.Task = "t9"
	for name, c := range map[string]struct {
		a ledger.Account
		r model.Request
	}{
		"no id":             {a, ask("", 1000)},
		"no output limit":   {a, ask("2", 0)},
		"an attempt again":  {a, ask("1", 1000)},
		"an ant unknown":    {account("t1-9", "priced"), ask("2", 1000)},
		"a task not opened": {noTask, ask("2", 1000)},
	} {
		if _, err := b.Meter(c.a, forbidden(t)).Complete(t.Context(), c.r, nil); err == nil {
			t.Errorf("%s: no error", name)
		}
		var c2 *model.CapError
		if _, err := b.Meter(c.a, forbidden(t)).Complete(t.Context(), c.r, nil); errors.As(err, &c2) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if all := of(t, log); len(all) != 2 {
		t.Errorf("%d events", len(all))
	}
	if b.Calls(account("t1-9", "priced"), 1) == nil {
		t.Error("calls of an ant unknown")
	}
	if ctx, cancel := b.Context(t.Context(), account("t1-9", "priced")); ctx.Err() == nil {
		cancel()
		t.Error("time for an ant unknown")
	}
	if _, err := ledger.NewBook(ledger.Parts{}); err == nil {
		t.Error("a book of nothing")
	}
}

// A log that cannot be written stops the request before it is sent, and its reply from being used.
func TestNoLogNoRequest(t *testing.T) {
	log, err := event.Open(t.Context(), t.TempDir(), event.Parts{Run: "r", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	b, err := ledger.NewBook(ledger.Parts{Log: log, Rate: rates, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	a := opened(b, account("t1-1", "priced"), ledger.Caps{}, ledger.Caps{})
	closing := server(func(context.Context, model.Request) (model.Reply, error) {
		return model.Reply{Usage: model.Usage{Fresh: 1}}, log.Close()
	})
	if _, err := b.Meter(a, closing).Complete(t.Context(), ask("1", 1000), nil); !errors.Is(err, event.ErrClosed) {
		t.Errorf("the reply: %v", err)
	}
	if _, err := b.Meter(a, forbidden(t)).Complete(t.Context(), ask("2", 1000), nil); !errors.Is(err, event.ErrClosed) {
		t.Errorf("the request: %v", err)
	}
}

// What a provider that panics had reserved counts as spent and holds up nobody.
func TestPanicSettles(t *testing.T) {
	b, _ := book(t, ledger.Caps{Tokens: n(2600)})
	a := opened(b, account("t1-1", "priced"), ledger.Caps{}, ledger.Caps{})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		bad := server(func(context.Context, model.Request) (model.Reply, error) { panic("broken") })
		b.Meter(a, bad).Complete(t.Context(), ask("1", 2000), nil)
	}()
	_, err := b.Meter(a, forbidden(t)).Complete(t.Context(), ask("2", 2000), nil)
	capOf(t, err, "run", "tokens")
}

// The estimate is a third of the bytes until a reply tells the ant's own ratio.
func TestEstimateIsCorrected(t *testing.T) {
	b, log := book(t, ledger.Caps{})
	first := opened(b, account("t1-1", "priced"), ledger.Caps{}, ledger.Caps{})
	second := opened(b, account("t1-2", "priced"), ledger.Caps{}, ledger.Caps{})
	for i, a := range []ledger.Account{first, first, second} {
		if _, err := b.Meter(a, says(model.Usage{Fresh: 100, Cached: 23, Output: 1})).Complete(t.Context(), ask(fmt.Sprint(i), 1000), nil); err != nil {
			t.Fatal(err)
		}
	}
	r := bodies[event.ModelRequested](t, log)
	sent, err := json.Marshal(ask("", 0).Messages)
	if err != nil {
		t.Fatal(err)
	}
	guess := r[0].ReservedTokens - 1000
	if guess < int64(len(sent)+2)/3 || guess > int64(len(sent)) {
		t.Errorf("%d tokens guessed of %d bytes", guess, len(sent))
	}
	if got := r[1].ReservedTokens - 1000; got != 123 {
		t.Errorf("%d tokens after a reply that counted 123", got)
	}
	if r[2].ReservedTokens != r[0].ReservedTokens {
		t.Errorf("another ant's first guess is %d", r[2].ReservedTokens-1000)
	}
}

// contract 56
func TestWall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		minute, hour := time.Minute, time.Hour
		b, log := book(t, ledger.Caps{Wall: &hour})
		slow := opened(b, account("t1-1", "priced"), ledger.Caps{}, ledger.Caps{Wall: &minute})
		sibling := opened(b, account("t1-2", "priced"), ledger.Caps{}, ledger.Caps{})
		hangs := server(func(ctx context.Context, _ model.Request) (model.Reply, error) {
			<-ctx.Done()
			return model.Reply{}, &model.Error{Kind: model.Aborted, Sent: true, Err: ctx.Err()}
		})
		ctx, cancel := b.Context(t.Context(), slow)
		defer cancel()
		_, err := b.Meter(slow, hangs).Complete(ctx, ask("1", 1000), nil)
		capOf(t, err, "ant", "wall")
		<-ctx.Done()
		capOf(t, context.Cause(ctx), "ant", "wall")
		if r := bodies[event.ModelReplied](t, log); len(r) != 1 || r[0].Outcome != "aborted" || !r[0].Estimated {
			t.Errorf("%+v", r)
		}
		_, err = b.Meter(slow, forbidden(t)).Complete(t.Context(), ask("2", 1000), nil)
		capOf(t, err, "ant", "wall")
		if _, err := b.Meter(sibling, says(model.Usage{Fresh: 1})).Complete(t.Context(), ask("3", 1000), nil); err != nil {
			t.Errorf("the sibling: %v", err)
		}
		time.Sleep(time.Hour)
		_, err = b.Meter(sibling, forbidden(t)).Complete(t.Context(), ask("4", 1000), nil)
		capOf(t, err, "run", "wall")
	})
}

// A wall cap counts by the book's clock, also where it stands still for a while.
func TestWallOfAClockThatStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		minute := time.Minute
		var stood atomic.Int64
		b, err := ledger.NewBook(ledger.Parts{Log: event.NewMemory("r", time.Now), Rate: rates, Now: func() time.Time {
			return time.Now().Add(-time.Duration(stood.Load()))
		}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := b.Context(t.Context(), opened(b, account("t1-1", "priced"), ledger.Caps{}, ledger.Caps{Wall: &minute}))
		defer cancel()
		stood.Store(int64(time.Hour))
		time.Sleep(time.Hour + minute/2)
		if ctx.Err() != nil {
			t.Error("it ended while the clock stood")
		}
		time.Sleep(minute)
		capOf(t, context.Cause(ctx), "ant", "wall")
	})
}
