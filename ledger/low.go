package ledger

import (
	"fmt"
	"time"

	"colony/event"
)

// Little is a cap of which under a fifth is left.
type Little struct {
	Scope, Cap string // as in model.CapError
	Left       string // how much, with its unit
}

// Low are the caps of an account of which under a fifth is left, the widest scope first.
func (b *Book) Low(a Account) ([]Little, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	purses, _, err := b.purses(a)
	if err != nil {
		return nil, err
	}
	var low []Little
	for _, p := range purses {
		low = append(low, p.low(b.parts.Now())...)
	}
	return low, nil
}

func (p *purse) low(now time.Time) (low []Little) {
	count := func(limit *int64, used int64, kind string, unit func(int64) string) {
		if limit != nil && (*limit-used)*5 < *limit {
			low = append(low, Little{p.scope, kind, unit(max(*limit-used, 0))})
		}
	}
	plain := func(word string) func(int64) string {
		return func(n int64) string { return fmt.Sprintf("%d %s", n, word) }
	}
	count(p.caps.PicoUSD, p.used.usd, "usd", func(n int64) string { return event.PicoUSD(n).String() + " dollars" })
	count(p.caps.Tokens, p.used.tokens, "tokens", plain("tokens"))
	count(p.caps.Turns, p.used.turns, "turns", plain("turns"))
	count(p.caps.Calls, p.used.calls, "calls", plain("calls"))
	if w := p.caps.Wall; w != nil {
		if left := p.since.Add(*w).Sub(now); left*5 < *w {
			low = append(low, Little{p.scope, "wall", max(left, 0).Round(time.Second).String()})
		}
	}
	return low
}
