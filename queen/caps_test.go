package queen_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"colony/event"
	"colony/ledger"
	"colony/model"
	"colony/queen"

	"pgregory.net/rapid"
)

// purse is the real book of a run in memory: ants ask a model that answers at once and counts honestly.
type purse struct {
	w    *world
	book *ledger.Book
	most int64 // tokens of the run
}

func newPurse(rt *rapid.T, w *world) *purse {
	p := &purse{w: w, most: rapid.Int64Range(2000, 60_000).Draw(rt, "tokens")}
	book, err := ledger.NewBook(ledger.Parts{Log: w.log, Run: ledger.Caps{Tokens: &p.most}, Now: time.Now,
		Rate: func(string, string) ledger.Rate { return ledger.Rate{State: event.Free} }})
	if err != nil {
		rt.Fatal(err)
	}
	p.book = book
	return p
}

// Complete answers with fewer tokens than any estimate.
func (*purse) Complete(_ context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
	runtime.Gosched()
	return model.Reply{Message: model.Message{Role: model.Assistant, Text: "x"}, Usage: model.Usage{Fresh: 5, Output: int64(min(r.OutputLimit, 500))}}, nil
}

// spend makes the requests of an attempt. The outcome is nil where the caps admit them all.
func (p *purse) spend(ctx context.Context, o queen.Order, requests uint32) (*queen.Outcome, error) {
	a := ledger.Account{Run: "r1", Task: o.Task, Ant: o.Ant, Card: o.Card, Provider: "p", Model: "m"}
	p.book.OpenTask(o.Task, ledger.Caps{})
	p.book.OpenAnt(a, o.Caps)
	for i := range requests {
		_, err := p.book.Meter(a, p).Complete(ctx, model.Request{ID: fmt.Sprintf("%s.%d.%d", o.Ant, o.Attempt, i), Attempt: 1, Model: "m",
			OutputLimit: 1000, Messages: []model.Message{{Role: model.User, Text: strings.Repeat("x", 60)}}}, func(model.Delta) {})
		var full *model.CapError
		if errors.As(err, &full) {
			return &queen.Outcome{Reason: queen.Tokens, Scope: full.Scope, Detail: full.Error()}, nil
		}
		if err != nil {
			return &queen.Outcome{}, err
		}
	}
	return nil, nil
}

// holds is law 7: what is charged and in flight never passes the cap of the run, and the bill is what was answered.
func (p *purse) holds(rt *rapid.T) {
	flight, charged := map[string]int64{}, int64(0)
	for _, e := range p.w.events(rt) {
		switch body := e.Body.(type) {
		case event.ModelRequested:
			flight[body.Request] = body.ReservedTokens
			sum := charged
			for _, f := range flight {
				sum += f
			}
			if sum > p.most {
				rt.Errorf("event %d: %d of %d tokens are charged and in flight", e.Seq, sum, p.most)
			}
		case event.ModelReplied:
			delete(flight, body.Request)
			charged += body.Usage.Input + body.Usage.Output
		case event.RunFinished:
			if got := body.Usage.Input + body.Usage.Output; got != charged {
				rt.Errorf("the bill says %d tokens, the replies %d", got, charged)
			}
		}
	}
	if len(flight) > 0 {
		rt.Errorf("never settled: %v", flight)
	}
}
