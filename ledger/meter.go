package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"colony/event"
	"colony/failpoint"
	"colony/model"
)

// meter records and charges the attempts of one ant.
type meter struct {
	book    *Book
	account Account
	next    model.Provider
}

// Complete reserves, sends and charges one attempt. The reply's message is the one that the log holds, so
// what is rebuilt from the log equals what is held.
func (m *meter) Complete(ctx context.Context, req model.Request, show func(model.Delta)) (model.Reply, error) {
	if req.ID == "" || req.OutputLimit <= 0 {
		return model.Reply{}, errors.New("meter: a request needs an id and an output limit")
	}
	req.Attempt = max(req.Attempt, 1)
	ctx, cancel := m.book.Context(ctx, m.account)
	defer cancel()
	h, err := m.book.reserve(ctx, m.account, req)
	if err != nil {
		return model.Reply{}, err
	}
	c := h.worst()
	defer func() { h.settle(c) }() // also where next panics: then as the worst
	req.OutputLimit = int(h.output)
	if err := m.requested(ctx, req, h); err != nil {
		c = charge{}
		return model.Reply{}, err
	}
	if err := failpoint.Hit("ledger.request.before"); err != nil {
		return model.Reply{}, err
	}
	start := m.book.parts.Now()
	reply, err := m.next.Complete(ctx, req, show)
	c = h.charge(reply, err)
	if err := failpoint.Hit("ledger.request.after"); err != nil {
		return model.Reply{}, err
	}
	reply.Elapsed = max(reply.Elapsed, m.book.parts.Now().Sub(start))
	if logErr := m.replied(req, h, &reply, c); logErr != nil {
		return model.Reply{}, logErr
	}
	return reply, m.cause(ctx, err)
}

// cause puts the wall cap that cut a request in the place of the error it led to.
func (m *meter) cause(ctx context.Context, err error) error {
	var wall *model.CapError
	if err != nil && errors.As(context.Cause(ctx), &wall) {
		return wall
	}
	return err
}

// requested records the reservation. Nothing is sent before it is durable.
func (m *meter) requested(ctx context.Context, req model.Request, h *hold) error {
	body := event.ModelRequested{
		Request: req.ID, Attempt: req.Attempt, Provider: m.account.Provider, Model: m.account.Model,
		ReservedTokens: h.tokens, OutputLimit: req.OutputLimit,
	}
	if h.rate.price() != event.Unknown {
		usd := event.PicoUSD(h.usd)
		body.ReservedUSD = &usd
	}
	return m.append(ctx, body)
}

// replied notes the reply and its charge in one event: it is durable before the next request of anybody is sent. The message of the reply
// becomes the one that is recorded.
func (m *meter) replied(req model.Request, h *hold, reply *model.Reply, c charge) error {
	content, err := record(&reply.Message)
	if err != nil {
		return err
	}
	u := c.usage
	return m.book.parts.Log.Note(m.event(event.ModelReplied{
		Request: req.ID, Attempt: req.Attempt, Outcome: c.outcome, Finish: string(reply.Finish), Content: content,
		Usage: event.Usage{
			Requests: c.requests, Input: u.Input(), Cached: u.Cached, CacheWrite: u.CacheWrite,
			CacheWriteLong: u.CacheWriteLong, Output: u.Output, Reasoning: u.Reasoning,
		},
		USD: c.usd, Price: h.rate.of(u), RateDate: h.rate.Date, Rate: h.rate.Text, Service: u.Service, Estimated: c.estimated, CacheMiss: reply.Miss.Reason, CacheMissed: reply.Miss.Tokens,
		FirstByteMs: reply.FirstByte.Milliseconds(), Ms: reply.Elapsed.Milliseconds(),
	}))
}

func (m *meter) append(ctx context.Context, b event.Body) error {
	_, err := m.book.parts.Log.Append(ctx, m.event(b))
	return err
}

func (m *meter) event(b event.Body) event.Event {
	return event.Event{Run: m.account.Run, Task: m.account.Task, Ant: m.account.Ant, Body: b}
}

// record is a message as JSON, and makes the message what reading that gives. An empty message is null.
func record(m *model.Message) (json.RawMessage, error) {
	if m.Text == "" && len(m.Calls) == 0 && len(m.Opaque) == 0 {
		return nil, nil
	}
	content, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("record reply: %w", err)
	}
	*m = model.Message{}
	if err := json.Unmarshal(content, m); err != nil {
		return nil, fmt.Errorf("record reply: %w", err)
	}
	return content, nil
}

var _ model.Provider = (*meter)(nil)
