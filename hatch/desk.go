package hatch

import (
	"context"
	"fmt"
	"time"

	"colony/event"
)

// deskEvery is how often the owner looks at the run's desk.
const deskEvery = 100 * time.Millisecond

// stopWish is why a run or an ant was stopped by a wish.
type stopWish struct{ by event.By }

func (s *stopWish) Error() string { return "stopped by " + s.by.User + " from " + s.by.Via }

// ExitCode is that of an interrupt.
func (s *stopWish) ExitCode() int { return 130 }

// tend carries out what is left on the desk until ctx is done.
func (c *Colony) tend(ctx context.Context, stop context.CancelCauseFunc) error {
	tick := time.NewTicker(deskEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := event.Take(c.parts.runDir(c.run), func(w event.Wish) error { return c.grant(w, stop) }); err != nil {
			return err
		}
	}
}

// catchUp carries out what was left between two processes, and closes the questions that nobody answered meanwhile: they
// are asked anew.
func (c *Colony) catchUp(stop context.CancelCauseFunc) error {
	if err := event.Take(c.parts.runDir(c.run), func(w event.Wish) error { return c.grant(w, stop) }); err != nil {
		return err
	}
	for _, ask := range c.crew.forget() {
		if err := c.record("", event.AskAnswered{Ask: ask, Answer: "", By: event.By{Via: "resume"}, Late: true}); err != nil {
			return err
		}
	}
	return nil
}

// grant carries out one wish, after it became an event.
func (c *Colony) grant(w event.Wish, stop context.CancelCauseFunc) error {
	l, known := c.crew.find(w.Ant)
	if w.Ant != "" && !known {
		return c.record("", event.Warned{Code: "no_ant", Text: "a wish came for " + w.Ant + ", which is not at work", Next: "colony status @"})
	}
	switch w.Kind {
	case "stop":
		if err := c.record(w.Ant, event.Cancelled{By: w.By, What: cancelledWhat(w.Ant)}); err != nil {
			return err
		}
		if known {
			stop = l.cut
		}
		stop(&stopWish{w.By})
	case "steer":
		if err := c.record(w.Ant, event.Steered{By: w.By, Text: w.Text}); err != nil || !known {
			return err
		}
		l.hear(w.Text)
	case "answer":
		if late, ok := c.crew.late(w); ok {
			return c.record("", late)
		}
		if !c.crew.answer(w) {
			return c.record("", event.Warned{Code: "no_ask", Text: "an answer came for " + w.Ask + ", which is not open", Next: "colony inbox"})
		}
	}
	return nil
}

func cancelledWhat(ant string) string {
	if ant == "" {
		return "run"
	}
	return "ant " + ant
}

func (c *Colony) record(ant string, body event.Body) error {
	_, err := c.log.Append(context.Background(), event.Event{Run: c.run, Ant: ant, Body: body})
	if err != nil {
		return fmt.Errorf("append %s: %w", body.Type(), err)
	}
	return nil
}

// hear keeps a text for the ant's next tool boundary.
func (l *life) hear(text string) {
	l.ears.Lock()
	defer l.ears.Unlock()
	l.heard = append(l.heard, text)
}

// take gives the texts that came since the last time.
func (l *life) take() []string {
	l.ears.Lock()
	defer l.ears.Unlock()
	heard := l.heard
	l.heard = nil
	return heard
}
