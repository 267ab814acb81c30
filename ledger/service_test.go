package ledger_test

import (
	"context"
	"testing"
	"time"

	"colony/event"
	"colony/ledger"
	"colony/model"
)

// A reply is charged by the service that it came by. One without a price is unknown on the bill, never the standard price, and
// counts under a cap at what was set aside; the next request of that model is reserved at the price of the last one's service.
func TestServicesHaveTheirPrice(t *testing.T) {
	rate := ledger.Rate{State: event.Known, Text: "2/0.2/2.5/8 priority=200%", Services: []string{"priority"}, Cost: func(u model.Usage) event.PicoUSD {
		if u.Service == "priority" {
			return 2 * cost(u)
		}
		return cost(u)
	}}
	log := event.NewMemory("r", time.Now)
	b, err := ledger.NewBook(ledger.Parts{Log: log, Run: ledger.Caps{PicoUSD: n(1e12)}, Rate: func(_, _ string) ledger.Rate { return rate }, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	a := opened(b, account("t1-1", "priced"), ledger.Caps{}, ledger.Caps{})
	by := func(service string) server {
		return func(context.Context, model.Request) (model.Reply, error) {
			return model.Reply{Usage: model.Usage{Fresh: 300, Output: 100, Service: service}}, nil
		}
	}
	for i, service := range []string{"", "priority", "priority", "scale"} {
		if _, err := b.Meter(a, by(service)).Complete(t.Context(), ask(string(rune('a'+i)), 1000), nil); err != nil {
			t.Fatal(err)
		}
	}
	asked, replied := bodies[event.ModelRequested](t, log), bodies[event.ModelReplied](t, log)
	if *asked[2].ReservedUSD != 2**asked[1].ReservedUSD {
		t.Errorf("%s was reserved after a priority reply, %s before", asked[2].ReservedUSD, asked[1].ReservedUSD)
	}
	standard := cost(model.Usage{Fresh: 300, Output: 100})
	if *replied[0].USD != standard || *replied[1].USD != 2*standard || replied[1].Service != "priority" || replied[1].Rate != rate.Text {
		t.Errorf("%+v", replied)
	}
	if last := replied[3]; last.USD != nil || last.Price != event.Unknown {
		t.Errorf("a service without a price: %+v", last)
	}
	if _, usd, price := billOf(of(t, log)...).Total(); usd != nil || price != event.Unknown {
		t.Errorf("the bill says %v, %s", usd, price)
	}
}
