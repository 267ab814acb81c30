package ledger

import (
	"colony/event"
	"colony/model"
)

// usageOf is a recorded usage as a price takes it.
func usageOf(m event.ModelReplied) model.Usage {
	u := m.Usage
	return model.Usage{
		Fresh: u.Input - u.Cached - u.CacheWrite, Cached: u.Cached, CacheWrite: u.CacheWrite, CacheWriteLong: u.CacheWriteLong,
		Output: u.Output, Reasoning: u.Reasoning, Service: m.Service,
	}
}

// inputUSD is what of a charge is for input: as its rate says, else in proportion to the tokens.
func (r *Run) inputUSD(m event.ModelReplied) event.PicoUSD {
	if m.USD == nil {
		return 0
	}
	if m.Rate != r.rateText {
		r.rateText = m.Rate
		r.rate, _ = model.ParsePrice(m.Rate) // one that cannot be read is not known
	}
	u := usageOf(m)
	u.Output, u.Reasoning = 0, 0
	if pico, ok := r.rate.Cost(u); ok {
		return min(event.PicoUSD(pico), *m.USD)
	}
	return event.PicoUSD(part(int64(*m.USD), m.Usage.Input, m.Usage.Input+m.Usage.Output))
}

// Priced reports whether a charge is what its rate says of its usage. It is false for known where the log holds no rate,
// as those of earlier versions do.
func Priced(m event.ModelReplied) (right, known bool) {
	if m.Price != event.Known || m.Rate == "" || m.USD == nil {
		return m.Price == event.Known || m.USD == nil || *m.USD == 0, m.Price != event.Known
	}
	p, err := model.ParsePrice(m.Rate)
	if err != nil {
		return false, true
	}
	pico, ok := p.Cost(usageOf(m))
	return ok && event.PicoUSD(pico) == *m.USD, true
}
