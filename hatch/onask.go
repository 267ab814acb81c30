package hatch

import (
	"context"
	"fmt"
	"strings"
	"time"

	"colony/event"
	"colony/tools"
)

// What becomes of a question.
const (
	askDeny = "deny" // nobody is asked: it is a no
	askWait = "wait" // a person may answer until the deadline, from any terminal
	askStop = "stop" // the run ends, to be resumed after the answer
)

// onAsk is what becomes of questions, and how long they wait.
type onAsk struct {
	how   string
	limit time.Duration
}

// readOnAsk reads deny, wait, wait:D or stop. Where nothing was typed, questions wait for the limit of the settings if a
// person is there.
func readOnAsk(typed string, headless bool, limit time.Duration) (onAsk, error) {
	how, wait, bounded := strings.Cut(typed, ":")
	if typed == "" && headless {
		how = askDeny
	} else if typed == "" {
		how = askWait
	}
	d, err := limit, error(nil)
	if bounded {
		d, err = time.ParseDuration(wait)
	}
	if err != nil || d <= 0 || bounded && how != askWait || how != askDeny && how != askWait && how != askStop {
		return onAsk{}, &Problem{Exit: 2, Code: "usage", Message: fmt.Sprintf("--on-ask %s: take deny, wait, wait:DURATION such as wait:30m, or stop", typed), Next: "colony run --help"}
	}
	return onAsk{how, d}, nil
}

// chooseAnswers reads what becomes of questions.
func (c *Colony) chooseAnswers(context.Context) (err error) {
	c.onAsk, err = readOnAsk(c.parts.OnAsk, c.parts.Headless, time.Duration(c.settings.limits.Ask))
	return err
}

// askedStop is why a run was stopped by a question.
type askedStop struct{ ask string }

func (s *askedStop) Error() string { return "the question " + s.ask + " waits for an answer" }

// ExitCode is that of a run that an ask kept from landing.
func (s *askedStop) ExitCode() int { return 5 }

// putOff ends the run for a question, which stays open.
func (l *life) putOff(ctx context.Context, id string) (tools.Answer, error) {
	why := &askedStop{id}
	if err := l.record("", event.RunPaused{Why: why.Error() + ": colony answer " + id + " allow|deny, then colony resume " + l.run, Asks: []string{id}}); err != nil {
		return tools.Answer{}, err
	}
	l.denied.Store(true)
	l.crew.stop(why)
	l.cut(why)
	<-ctx.Done()
	return tools.Answer{}, ctx.Err()
}
