// Package ledger is money and tokens: what is set aside before a model request, what it really cost, and
// bills as a fold over the log. A Book holds the caps of a run; its Meter is a layer round a provider.
package ledger

import (
	"slices"
	"time"

	"colony/event"
	"colony/model"
)

// Caps bound a run, a task or an ant. A nil field does not bound.
type Caps struct {
	PicoUSD, Tokens, Turns, Calls *int64
	Wall                          *time.Duration
}

// Account is who spends. An empty Task is work that belongs to no task.
type Account struct {
	Run, Task, Ant, Card, Provider, Model string
	Parent                                string // the ant whose helper it is, under whose caps it is too; empty for none
}

// Rate is what a model costs, as it is in force now. The zero Rate is an unknown price.
type Rate struct {
	State event.Price
	Date  string // since when the rate holds
	Text  string // the rate in words, as it is recorded with each charge
	// Services are those beside the standard one that have a price too; what was served otherwise has none.
	Services []string
	// Cost is the price of a usage. It grows with every kind of token. It is called only where State is
	// event.Known.
	Cost func(model.Usage) event.PicoUSD
}

// known reports whether a usage has a price.
func (r Rate) known() bool { return r.State == event.Known && r.Cost != nil }

// price is the state as it is recorded: what is not known or free is unknown.
func (r Rate) price() event.Price {
	if r.known() || r.State == event.Free {
		return r.State
	}
	return event.Unknown
}

// of is the price state of a usage.
func (r Rate) of(u model.Usage) event.Price {
	if r.known() && u.Service != "" && !slices.Contains(r.Services, u.Service) {
		return event.Unknown
	}
	return r.price()
}

// usd is the cost of a usage: nil where the price is unknown, 0 where it is free.
func (r Rate) usd(u model.Usage) *event.PicoUSD {
	var amount event.PicoUSD
	switch r.of(u) {
	case event.Unknown:
		return nil
	case event.Known:
		amount = r.Cost(u)
	}
	return &amount
}

// most is the highest cost that input and output may come to, whatever of the input is cached or written
// to a cache, and of the output is reasoning. Service is that of the last reply.
func (r Rate) most(service string, input, output int64) int64 {
	if !r.known() {
		return 0
	}
	most := int64(0)
	for _, thought := range []int64{0, output} {
		fresh := r.Cost(model.Usage{Fresh: input, Output: output, Reasoning: thought, Service: service})
		written := r.Cost(model.Usage{CacheWrite: input, Output: output, Reasoning: thought, Service: service})
		most = max(most, int64(fresh), int64(written))
	}
	return most
}
