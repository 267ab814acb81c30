package ledger

import (
	"context"
	"fmt"
	"slices"

	"colony/model"
)

// comfort is the output for which a request rather waits for others to settle than to be cut short.
const comfort = 4096

// hold is a reservation under every cap of an account, until it is settled.
type hold struct {
	book    *Book
	account Account
	purses  []*purse
	ant     *antPurse
	rate    Rate
	amounts
	bytes         int64 // of the request
	input, output int64 // tokens
}

// reserve sets aside what a request may cost at most. Where it would fit if what is in flight cost nothing,
// it waits for others to settle.
func (b *Book) reserve(ctx context.Context, a Account, req model.Request) (*hold, error) {
	for {
		h, settled, err := b.tryReserve(a, req)
		if h != nil || err != nil {
			return h, err
		}
		select {
		case <-settled:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// tryReserve returns a hold, an error, or a channel that is closed when it is time to try again.
func (b *Book) tryReserve(a Account, req model.Request) (*hold, <-chan struct{}, error) {
	rate := b.parts.Rate(a.Provider, a.Model)
	size := requestBytes(req)
	b.mu.Lock()
	defer b.mu.Unlock()
	purses, ant, err := b.purses(a)
	if err != nil {
		return nil, nil, err
	}
	key := attempt{a.Run, a.Ant, req.ID, req.Attempt}
	if b.made[key] {
		return nil, nil, fmt.Errorf("book: attempt %d of request %s was made before", req.Attempt, req.ID)
	}
	for _, p := range purses {
		if e := p.overdue(b.parts.Now()); e != nil {
			return nil, nil, e
		}
	}
	if e := unpriced(purses, a, rate); e != nil {
		return nil, nil, e
	}
	w := want{rate: rate, service: b.serviceOf(a, rate), input: ant.estimate(size), output: int64(req.OutputLimit)}
	later, why := room(purses, w, true)
	if later < w.least() {
		return nil, nil, why
	}
	output, _ := room(purses, w, false)
	if output < max(w.least(), min(later, comfort)) {
		return nil, b.settled, nil
	}
	b.made[key] = true
	h := &hold{book: b, account: a, purses: purses, ant: ant, rate: rate, bytes: size, input: w.input, output: output}
	h.amounts = amounts{usd: rate.most(w.service, w.input, output), tokens: add(w.input, output), turns: 1}
	for _, p := range purses {
		p.held = p.held.plus(h.amounts)
	}
	return h, nil, nil
}

// settle puts what a request cost in the place of what was set aside for it.
func (h *hold) settle(c charge) {
	b := h.book
	b.mu.Lock()
	defer b.mu.Unlock()
	spent := amounts{tokens: c.usage.Total(), turns: c.requests}
	switch {
	case c.usd != nil:
		spent.usd = int64(*c.usd)
	case h.rate.known(): // served in a way that has no price: what was set aside for it
		spent.usd = h.usd
	}
	if c.usage.Total() > 0 {
		b.served[h.account.Provider+"/"+h.account.Model] = c.usage.Service
	}
	for _, p := range h.purses {
		p.held = p.held.minus(h.amounts)
		p.used = p.used.plus(spent)
	}
	if input := c.usage.Input(); input > 0 && !c.estimated {
		h.ant.bytes, h.ant.tokens = h.bytes, input
	}
	close(b.settled)
	b.settled = make(chan struct{})
}

// serviceOf is the service by which a model's last reply came, where that has a price. The caller holds mu.
func (b *Book) serviceOf(a Account, r Rate) string {
	if last := b.served[a.Provider+"/"+a.Model]; slices.Contains(r.Services, last) {
		return last
	}
	return ""
}
