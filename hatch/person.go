package hatch

import (
	"context"
	"fmt"
	"slices"
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

// asked is who answers the questions of this run.
func (p Parts) asked() Person {
	switch {
	case p.OnAsk == "deny":
		return Nobody
	case p.OnAsk == "stop", p.OnAsk == "wait" && p.Headless:
		return waits
	}
	return p.Person
}

// waits is a person who is not there: an answer can come by way of the desk.
func waits(ctx context.Context, _ tools.Question) (tools.Answer, error) {
	<-ctx.Done()
	return tools.Answer{}, ctx.Err()
}

// askStop is why a run ends at its first question.
type askStop struct{ ask string }

func (s *askStop) Error() string { return "stopped at the question " + s.ask }

// ExitCode is that of a run that waits for an answer.
func (s *askStop) ExitCode() int { return 5 }

// ask puts an ant's question to the person and keeps both in the log. Without an answer in time the answer is no.
func (l *life) ask(ctx context.Context, q tools.Question) (tools.Answer, error) {
	q.Text += changes(q)
	id := l.askID(q)
	limit := l.patience()
	opened := event.AskOpened{
		Ask: id, Kind: q.Kind, Text: q.Text, Call: q.Call, Digest: q.Digest, Choices: q.Choices, Default: "deny", Grant: q.Grant, Files: q.Files,
		Deadline: l.parts.Now().Add(limit),
	}
	stops := l.parts.OnAsk == "stop" && !l.crew.early(id)
	answer, by, err := l.answered(ctx, opened, q, limit, func(b event.Body) error {
		err := l.append(b)
		if err == nil && stops {
			l.crew.halt(&askStop{id})
			l.cut(&askStop{id}) // it waits for nothing else
		}
		return err
	})
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

// patience is how long a question waits for its answer.
func (c *Colony) patience() time.Duration {
	if c.parts.AskWait > 0 {
		return c.parts.AskWait
	}
	return time.Duration(c.settings.limits.Ask)
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

// askID is the id of a question: that which it had in an earlier process, where it is open from there and about the same
// call on the same files.
func (l *life) askID(q tools.Question) string {
	l.ears.Lock()
	defer l.ears.Unlock()
	for i, a := range l.waiting {
		if a.Kind == q.Kind && a.Text == q.Text && a.Digest == q.Digest && a.Files == q.Files {
			l.waiting = slices.Delete(slices.Clone(l.waiting), i, i+1)
			return a.Ask
		}
	}
	return fmt.Sprintf("%s.%d", l.order.Ant, l.asked.Add(1))
}

// answered records a question once it can be answered, and returns the first answer: from the person at the screen, or from
// another process by way of the desk. The limit is time that the machine was awake: after a sleep the question is recorded
// again, with its deadline as much later.
func (c *Colony) answered(ctx context.Context, opened event.AskOpened, q tools.Question, limit time.Duration, record func(event.Body) error) (tools.Answer, event.By, error) {
	timed, stop := context.WithTimeout(ctx, limit)
	defer stop()
	ask, closed := c.crew.open(opened.Ask)
	defer closed()
	if err := record(opened); err != nil {
		return tools.Answer{}, event.By{}, err
	}
	select {
	case r := <-ask.answers: // it came before the question was open again
		return r.answer, r.by, nil
	default:
	}
	type heard struct {
		answer tools.Answer
		err    error
	}
	screen := make(chan heard, 1)
	var asking conc.WaitGroup
	defer asking.Wait()
	defer stop()
	asking.Go(func() {
		answer, err := c.parts.Person(timed, q)
		screen <- heard{answer, err}
	})
	for {
		select {
		case r := <-ask.answers:
			return r.answer, r.by, nil
		case slept := <-ask.slept:
			opened.Deadline = opened.Deadline.Add(slept)
			if err := record(opened); err != nil {
				return tools.Answer{}, event.By{}, err
			}
		case h := <-screen:
			if h.err != nil && ctx.Err() == nil && timed.Err() != nil {
				return tools.Answer{Text: fmt.Sprintf("nobody answered within %s", limit)}, event.By{Via: "deadline"}, nil
			}
			return h.answer, c.by(h.answer), h.err
		}
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
