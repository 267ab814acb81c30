package hatch

import (
	"context"
	"errors"
	"fmt"

	"colony/event"
	"colony/model"
)

// chained is an ant's provider: the model of its card, and in its place those of the chain, one after the other, when it
// cannot serve. It is for one request at a time.
type chained struct {
	links []link
	at    int
	say   func(failed, next chosen, why *model.Error) error
}

// link is one model of a chain, governed and metered.
type link struct {
	model.Provider
	model chosen
	last  *int // the attempt that was sent last
}

// counting notes the number of each attempt.
type counting struct {
	model.Provider
	last *int
}

func (c counting) Complete(ctx context.Context, req model.Request, show func(model.Delta)) (model.Reply, error) {
	*c.last = req.Attempt
	return c.Provider.Complete(ctx, req, show)
}

func (c *chained) Complete(ctx context.Context, req model.Request, show func(model.Delta)) (model.Reply, error) {
	for {
		l := c.links[c.at]
		req.Model = l.model.name
		*l.last = req.Attempt
		reply, err := l.Complete(ctx, req, show)
		var why *model.Error
		if !errors.As(err, &why) || c.at+1 == len(c.links) || ctx.Err() != nil || !unable(why) {
			return reply, err
		}
		req.Attempt = *l.last
		if err := c.say(l.model, c.links[c.at+1].model, why); err != nil {
			return reply, err
		}
		c.at++
	}
}

// unable reports whether another model may do what this one could not.
func unable(e *model.Error) bool {
	switch e.Kind {
	case model.BadRequest, model.ContextTooLong, model.Aborted, model.Cut:
		return false
	}
	return true
}

// way is the provider of the ant.
func (l *life) way() model.Provider {
	c := &chained{say: func(failed, next chosen, why *model.Error) error {
		return l.append(event.Warned{
			Code: "failover", Text: fmt.Sprintf("%s goes on with %s: %s", l.order.Ant, next, l.advise(failed, why)),
			Next: "nothing, if the other model is to do the work; the chain stands in the settings, under models",
		})
	}}
	for _, m := range append([]chosen{l.model}, l.model.next...) {
		account := l.account
		account.Provider, account.Model = m.provider, m.name
		way, last := l.routed[m.String()], new(int)
		asked := model.Provider(counting{sending{funded{l.book.Meter(account, way.client), l.Colony}, l.halted}, last})
		if m.rate.State != event.Free {
			asked = l.warmth.around(m.String()+" "+l.card.Name, asked)
		}
		c.links = append(c.links, link{way.governor.Around(asked), m, last})
	}
	l.chain = c
	return c
}
