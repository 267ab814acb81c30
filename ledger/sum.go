package ledger

import "colony/event"

// Sum is what lines of a bill come to. USD is nil where a price is unknown.
type Sum struct {
	Usage event.Usage    `json:"usage"`
	USD   *event.PicoUSD `json:"usd"`
	Price event.Price    `json:"price"`
}

// adder adds lines. A line that was not billed has no say in the price, unless all are such.
type adder struct {
	usage                        event.Usage
	usd                          event.PicoUSD
	known, free, unknown, silent bool
	estimated                    bool
	lost                         int64
}

func (s *adder) add(l *line) {
	s.usage = s.usage.Add(l.usage)
	s.estimated = s.estimated || l.estimated
	if l.lost {
		s.lost++
	}
	if l.usd != nil {
		s.usd += *l.usd
	}
	switch {
	case l.usage == event.Usage{}:
		s.silent = s.silent || l.usd == nil
	case l.usd == nil:
		s.unknown = true
	case l.price == event.Free:
		s.free = true
	default:
		s.known = true
	}
}

func (s *adder) sum() Sum {
	usd, price := &s.usd, event.Known
	switch {
	case s.unknown || s.silent && !s.known && !s.free:
		usd, price = nil, event.Unknown
	case s.free && !s.known:
		price = event.Free
	}
	return Sum{s.usage, usd, price}
}
