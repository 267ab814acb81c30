package ledger_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"colony/event"
	"colony/ledger"
	"colony/model"
)

// server is a provider of the outside world, as a function.
type server func(context.Context, model.Request) (model.Reply, error)

func (s server) Complete(ctx context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
	return s(ctx, r)
}

// says is a server that always answers with this usage.
func says(u model.Usage) server {
	return func(context.Context, model.Request) (model.Reply, error) {
		return model.Reply{Message: model.Message{Role: model.Assistant, Text: "hello"}, Finish: model.FinishStop, Usage: u}, nil
	}
}

func fails(err error) server {
	return func(context.Context, model.Request) (model.Reply, error) { return model.Reply{}, err }
}

// forbidden is a server that nothing may reach.
func forbidden(t *testing.T) server {
	return func(context.Context, model.Request) (model.Reply, error) {
		t.Error("a request was sent")
		return model.Reply{}, nil
	}
}

// Prices: one that is known (2 dollars a million tokens in, 8 out, a tenth cached), one free, one unknown.
func rates(_, name string) ledger.Rate {
	switch name {
	case "priced":
		return ledger.Rate{State: event.Known, Date: "2026-10-01", Cost: cost}
	case "free":
		return ledger.Rate{State: event.Free}
	}
	return ledger.Rate{}
}

func cost(u model.Usage) event.PicoUSD {
	return event.PicoUSD(2_000_000*u.Fresh + 200_000*u.Cached + 2_500_000*u.CacheWrite + 8_000_000*u.Output)
}

func book(t testing.TB, run ledger.Caps) (*ledger.Book, *event.Memory) {
	t.Helper()
	log := event.NewMemory("r", time.Now)
	b, err := ledger.NewBook(ledger.Parts{Log: log, Run: run, Rate: rates, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return b, log
}

// account is an ant's, named after its task and its own number: t1-1.
func account(ant, name string) ledger.Account {
	task, _, _ := strings.Cut(ant, "-")
	return ledger.Account{Run: "r", Task: task, Ant: ant, Card: "worker", Provider: "p", Model: name}
}

func opened(b *ledger.Book, a ledger.Account, task, ant ledger.Caps) ledger.Account {
	b.OpenTask(a.Task, task)
	b.OpenAnt(a, ant)
	return a
}

// ask is a request whose input is about 300 tokens before it was measured.
func ask(id string, limit int) model.Request {
	return model.Request{ID: id, Attempt: 1, Model: "m", OutputLimit: limit, Messages: []model.Message{
		{Role: model.System, Text: "be brief"}, {Role: model.User, Text: strings.Repeat("word ", 110)},
	}}
}

func n(v int64) *int64 { return &v }

func of(t testing.TB, log event.Log) []event.Event {
	t.Helper()
	var all []event.Event
	for e, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

func bodies[T event.Body](t testing.TB, log event.Log) (all []T) {
	t.Helper()
	for _, e := range of(t, log) {
		if b, ok := e.Body.(T); ok {
			all = append(all, b)
		}
	}
	return all
}

func fold(t testing.TB, log event.Log) ledger.Bill {
	t.Helper()
	b, err := ledger.Fold(log.Read(t.Context(), 0))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func capOf(t testing.TB, err error, scope, kind string) {
	t.Helper()
	var c *model.CapError
	if !errors.As(err, &c) || c.Scope != scope || c.Cap != kind || c.Text == "" {
		t.Errorf("%v is no %s cap of the %s", err, kind, scope)
	}
}
