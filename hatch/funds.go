package hatch

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"colony/event"
	"colony/ledger"
	"colony/model"
	"colony/tools"
)

// funds is the question whether the run may use more than its cap. Ants that reach the cap wait for one answer.
type funds struct {
	turn    chan struct{} // held by the ant that asks
	refused bool
}

func newFunds() *funds { return &funds{turn: make(chan struct{}, 1)} }

// funded is a provider that asks the person for more where a request does not fit under the run's money or tokens.
type funded struct {
	model.Provider
	colony *Colony
}

// Complete sends the request again where the person raised the cap.
func (f funded) Complete(ctx context.Context, req model.Request, show func(model.Delta)) (model.Reply, error) {
	for {
		before := f.colony.book.Caps()
		reply, err := f.Provider.Complete(ctx, req, show)
		var full *model.CapError
		if !errors.As(err, &full) || full.Scope != "run" || full.Cap != "usd" && full.Cap != "tokens" || !f.colony.asksForMore() {
			return reply, err
		}
		if more, askErr := f.colony.more(ctx, full, before); !more || askErr != nil {
			return reply, errors.Join(askErr, err)
		}
	}
}

// asksForMore reports whether somebody may answer.
func (c *Colony) asksForMore() bool {
	return c.parts.OnAsk == "wait" || !c.parts.Headless && c.parts.OnAsk == ""
}

// more reports whether the cap is higher than it was, once the person was asked.
func (c *Colony) more(ctx context.Context, full *model.CapError, before ledger.Caps) (bool, error) {
	select {
	case c.funds.turn <- struct{}{}:
		defer func() { <-c.funds.turn }()
	case <-ctx.Done():
		return false, nil
	}
	now := c.book.Caps()
	limit := capOf(full.Cap, now)
	if *limit > *capOf(full.Cap, before) {
		return true, nil
	}
	most := c.ceiling(full.Cap)
	for range 3 { // a person may mistype
		if c.funds.refused || *limit >= most {
			break
		}
		to, err := c.askForMore(ctx, full, *limit)
		if err != nil || to == 0 {
			c.funds.refused = err == nil
			return false, err
		}
		if to = min(to, most); to <= *limit {
			continue // not more than it has: asked again
		}
		*limit = to
		c.book.Raise(now.PicoUSD, now.Tokens)
		return true, c.record("", event.Granted{Rule: raiseRule(full.Cap) + " " + shownCap(full.Cap, to), Scope: "run"})
	}
	return false, nil
}

// ceiling is how far the organisation lets a cap be raised.
func (c *Colony) ceiling(kind string) int64 {
	if text, bound := c.parts.Settings.Bound(raiseRule(kind)); bound {
		if n, err := parseCap(kind, text); err == nil {
			return n
		}
	}
	return math.MaxInt64
}

// capOf is the cap of a kind among caps.
func capOf(kind string, caps ledger.Caps) *int64 {
	if kind == "usd" {
		return caps.PicoUSD
	}
	return caps.Tokens
}

// raiseRule is the setting that a raised cap stands for.
func raiseRule(kind string) string {
	if kind == "usd" {
		return "run.budget"
	}
	return "run.max_tokens"
}

func shownCap(kind string, n int64) string {
	if kind == "usd" {
		return event.PicoUSD(n).String()
	}
	return strconv.FormatInt(n, 10)
}

// askForMore is the cap that the person sets; 0 where it stays.
func (c *Colony) askForMore(ctx context.Context, full *model.CapError, was int64) (int64, error) {
	id, err := c.budgetAsk(ctx)
	if err != nil {
		return 0, err
	}
	limit := c.patience()
	double := shownCap(full.Cap, 2*was)
	q := tools.Question{Kind: "budget", Choices: []string{"no", double},
		Text: fmt.Sprintf("The run's cap is reached: %s. Type a higher one for %s, or no to end the run here; it can be resumed.", full.Text, raiseRule(full.Cap))}
	opened := event.AskOpened{Ask: id, Kind: q.Kind, Text: q.Text, Choices: q.Choices, Default: "no", Deadline: c.parts.Now().Add(limit)}
	record := func(b event.Body) error { return c.record("", b) }
	answer, by, err := c.answered(ctx, opened, q, limit, record)
	if err != nil {
		return 0, err
	}
	to, text := was, strings.ToLower(strings.TrimSpace(answer.Text))
	switch {
	case by.Via == "deadline", answer.Headless, text == "no", text == "n", text == "deny":
		to = 0
	case answer.Allow:
		to = 2 * was
	default:
		if n, err := parseCap(full.Cap, text); err == nil {
			to = n
		}
	}
	word := "no"
	if to > 0 {
		word = shownCap(full.Cap, to)
	}
	return to, record(event.AskAnswered{Ask: id, Answer: word, By: by})
}

// budgetAsk is the id of the question that is open, or of the next one.
func (c *Colony) budgetAsk(ctx context.Context) (string, error) {
	n := 1
	for e, err := range c.log.Read(ctx, 0) {
		if err != nil {
			return "", err
		}
		if a, ok := e.Body.(event.AskAnswered); ok && strings.HasPrefix(a.Ask, "budget.") {
			n++
		}
	}
	return fmt.Sprintf("budget.%d", n), nil
}

func parseCap(kind, text string) (int64, error) {
	if kind != "usd" {
		return strconv.ParseInt(text, 10, 64)
	}
	n, err := dollars("run.budget", strings.TrimPrefix(text, "$"))
	if err != nil || n == nil {
		return 0, errors.New("no amount")
	}
	return *n, nil
}

// raised are the caps on money and tokens that a person set since the run's last process began; nil where there are none.
func (p Past) raised(ctx context.Context) (caps ledger.Caps, err error) {
	for e, err := range p.Events(ctx) {
		if err != nil {
			return caps, err
		}
		switch b := e.Body.(type) {
		case event.RunResumed: // it holds what was in force
			caps = ledger.Caps{}
		case event.Granted:
			key, value, _ := strings.Cut(b.Rule, " ")
			for kind, into := range map[string]**int64{"usd": &caps.PicoUSD, "tokens": &caps.Tokens} {
				if n, err := parseCap(kind, value); err == nil && b.Scope == "run" && key == raiseRule(kind) {
					*into = &n
				}
			}
		}
	}
	return caps, nil
}
