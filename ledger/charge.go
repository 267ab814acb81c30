package ledger

import (
	"errors"

	"colony/event"
	"colony/model"
)

// mostTokens is the largest count of tokens of one kind that is believed of one reply.
const mostTokens = 1 << 28

// charge is what an attempt came to.
type charge struct {
	outcome   string
	usage     model.Usage
	requests  int64 // 1 where the attempt is billed
	usd       *event.PicoUSD
	estimated bool
}

// worst is a charge of all that was set aside.
func (h *hold) worst() charge {
	usd := event.PicoUSD(h.usd)
	return charge{usage: model.Usage{Fresh: h.input, Output: h.output}, requests: 1, usd: &usd, estimated: true}
}

// charge reads what came of an attempt: the usage as the provider counted it, or an estimate where the
// provider may bill what it did not tell.
func (h *hold) charge(reply model.Reply, err error) charge {
	c := charge{outcome: outcome(reply, err)}
	if told := believed(reply.Usage); told.Total() > 0 && !reply.Estimated {
		c.usage = told
	} else if mayBill(err) {
		c.usage, c.estimated = model.Usage{Fresh: h.input, Output: outputTokens(reply.Message)}, true
	}
	if c.usage.Total() > 0 {
		c.requests = 1
	}
	c.usd = h.rate.usd(c.usage)
	return c
}

// believed is a usage in which no count is negative, absurd or at odds with another.
func believed(u model.Usage) model.Usage {
	for _, n := range []*int64{&u.Fresh, &u.Cached, &u.CacheWrite, &u.Output, &u.Reasoning} {
		*n = min(max(*n, 0), mostTokens)
	}
	u.Reasoning = min(u.Reasoning, u.Output)
	u.CacheWriteLong = min(max(u.CacheWriteLong, 0), u.CacheWrite)
	return u
}

// outputTokens estimates a message that was received without its usage.
func outputTokens(m model.Message) int64 {
	n := len(m.Text)
	for _, c := range m.Calls {
		n += len(c.Name) + len(c.Args)
	}
	return int64(n+2) / 3
}

// mayBill reports whether a provider may bill an attempt that ended so: it answered, or the request may have
// reached it and it did not refuse.
func mayBill(err error) bool {
	var e *model.Error
	if err == nil || !errors.As(err, &e) { // of another error nothing is known
		return true
	}
	return e.Sent && e.Status < 400
}

// outcome is the word for what came of an attempt.
func outcome(reply model.Reply, err error) string {
	if err == nil {
		return "ok"
	}
	var e *model.Error
	if !errors.As(err, &e) {
		return "aborted"
	}
	switch e.Kind {
	case model.RateLimited, model.Overloaded, model.Quota, model.Auth, model.Aborted:
		return string(e.Kind)
	case model.Unverified:
		return "auth"
	case model.Cut:
		return "cut"
	case model.Transport:
		if reply.Message.Text != "" || len(reply.Message.Calls) > 0 {
			return "cut"
		}
		return "transport"
	}
	return "refused"
}
