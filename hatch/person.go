package hatch

import (
	"context"
	"fmt"
	"strings"
	"time"

	"colony/event"
	"colony/tools"
	"colony/view"

	"github.com/sourcegraph/conc"
)

// Person answers questions, or says that nobody is there. It is called for one question at a time by each ant.
type Person func(context.Context, tools.Question) (tools.Answer, error)

// Nobody is the person of a run without a screen.
func Nobody(context.Context, tools.Question) (tools.Answer, error) {
	return tools.Answer{Headless: true, Text: "nobody can answer: decide, and state the assumption in done"}, nil
}

// ask puts an ant's question to the person and keeps both in the log. Without an answer in time the answer is no.
func (l *life) ask(ctx context.Context, q tools.Question) (tools.Answer, error) {
	id := l.crew.number(l.order.Ant)
	opened := event.AskOpened{
		Ask: id, Kind: q.Kind, Text: q.Text + changes(q), Call: q.Call, Digest: q.Digest, Choices: q.Choices, Default: "deny", Grant: q.Grant,
		Deadline: l.parts.Now().Add(l.onAsk.limit),
	}
	q.Text = opened.Text
	if err := l.append(opened); err != nil {
		return tools.Answer{}, err
	}
	answer, by, err := l.reply(ctx, id, q)
	if err != nil {
		return tools.Answer{}, err
	}
	if q.Kind == "permission" && !answer.Allow {
		l.denied.Store(true)
	}
	if err := l.append(event.AskAnswered{Ask: id, Answer: answerWord(q, answer), By: by}); err != nil || !answer.ForRun || q.Grant == "" {
		return answer, err
	}
	return answer, l.append(event.Granted{Rule: q.Grant, Scope: l.order.Ant + " for this run"})
}

// reply is the answer to an open question as --on-ask wants it: one that was given while nobody carried the run out comes
// first.
func (l *life) reply(ctx context.Context, id string, q tools.Question) (tools.Answer, event.By, error) {
	if r, ok := l.crew.early(l.order.Task, q.Grant); ok {
		return r.answer, r.by, nil
	}
	switch l.onAsk.how {
	case askDeny:
		answer, err := Nobody(ctx, q)
		return answer, event.By{Via: "headless"}, err
	case askStop:
		answer, err := l.putOff(ctx, id)
		return answer, event.By{}, err
	}
	return l.answered(ctx, id, q, l.onAsk.limit)
}

// changes is what a call would change, as lines under its question.
func changes(q tools.Question) string {
	var b strings.Builder
	for _, v := range q.Views {
		if diff, ok := v.(view.Diff); ok {
			b.WriteString("\n" + strings.TrimRight(view.Text(diff.Unified), "\n"))
		}
	}
	return b.String()
}

// answered is the first answer: from the person at the screen, or from another process by way of the desk.
func (c *Colony) answered(ctx context.Context, id string, q tools.Question, limit time.Duration) (tools.Answer, event.By, error) {
	timed, stop := context.WithTimeout(ctx, limit)
	defer stop()
	desk, closed := c.crew.open(id)
	defer closed()
	type heard struct {
		answer tools.Answer
		err    error
	}
	screen := make(chan heard, 1)
	var asking conc.WaitGroup
	defer asking.Wait()
	defer stop()
	asking.Go(func() {
		if c.parts.Headless { // only from another terminal
			<-timed.Done()
			screen <- heard{err: timed.Err()}
			return
		}
		answer, err := c.parts.Person(timed, q)
		screen <- heard{answer, err}
	})
	select {
	case r := <-desk:
		return r.answer, r.by, nil
	case h := <-screen:
		if h.err != nil && ctx.Err() == nil && timed.Err() != nil {
			return tools.Answer{Text: fmt.Sprintf("nobody answered within %s", limit)}, event.By{Via: "deadline"}, nil
		}
		return h.answer, c.by(h.answer), h.err
	}
}

func answerWord(q tools.Question, a tools.Answer) string {
	switch {
	case q.Kind != "permission":
		return a.Text
	case a.ForRun && q.Grant != "":
		return tools.ForRun
	case a.Allow:
		return "allow"
	}
	return "deny"
}

func (c *Colony) by(a tools.Answer) event.By {
	if a.Headless {
		return event.By{Via: "headless"}
	}
	return event.By{User: c.parts.Getenv("USER"), Via: "terminal"}
}

// allowRed asks whether a gate that is red on the base may advise until it first passes.
func (c *Colony) allowRed(ctx context.Context) func(gate string, exit int) bool {
	return func(gate string, exit int) bool {
		if c.parts.AllowRed || c.parts.Headless {
			return c.parts.AllowRed
		}
		answer, err := c.parts.Person(ctx, tools.Question{
			Kind: "permission", Choices: []string{"allow", "deny"},
			Text: fmt.Sprintf("The gate %q ends with %d on the base already. Go on, and let it bind from the first tree on which it passes?", gate, exit),
		})
		return err == nil && answer.Allow
	}
}
