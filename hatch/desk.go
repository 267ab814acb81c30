package hatch

import (
	"context"
	"fmt"
	"sync"
	"time"

	"colony/event"
	"colony/tools"
)

// mostAgain is how many tasks can wait to begin again.
const mostAgain = 64

// deskEvery is how often the owner looks at the run's desk.
const deskEvery = 100 * time.Millisecond

// crew is the ants at work and the questions that are open, for wishes that come to the desk. It is safe for concurrent
// use.
type crew struct {
	mu    sync.Mutex // guards what follows
	lives map[string]*life
	asks  map[string]opening
	stop  context.CancelCauseFunc // stops the run; nil before it runs
	ahead map[string]*event.Wish  // answers to questions of an earlier process that are not open again yet; nil until one comes
}

// reply is an answer and who gave it.
type reply struct {
	answer tools.Answer
	by     event.By
}

func newCrew() *crew {
	return &crew{lives: map[string]*life{}, asks: map[string]opening{}, ahead: map[string]*event.Wish{}}
}

// opening is a question that is open: where its answer comes to, and word that the machine slept.
type opening struct {
	answers chan reply
	slept   chan time.Duration
}

// begin says how the run is stopped.
func (w *crew) begin(stop context.CancelCauseFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stop = stop
}

// halt stops the run.
func (w *crew) halt(why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stop != nil {
		w.stop(why)
	}
}

// early reports whether the answer to a question came before the question was open again.
func (w *crew) early(ask string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ahead[ask] != nil
}

// expect lets answers to a question wait until it is open again.
func (w *crew) expect(ask string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ahead[ask] = nil
}

func (w *crew) enter(l *life) (leave func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lives[l.order.Ant] = l
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.lives, l.order.Ant)
	}
}

// living is the ant of this name that is at work; nil where there is none.
func (w *crew) living(ant string) *life {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lives[ant]
}

// open opens a question, until close.
func (w *crew) open(ask string) (o opening, close func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	o = opening{make(chan reply, 1), make(chan time.Duration, 8)}
	w.asks[ask] = o
	if early := w.ahead[ask]; early != nil {
		o.answers <- replyOf(*early)
	}
	delete(w.ahead, ask)
	return o, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.asks, ask)
	}
}

// awoke tells those who asked that the machine slept.
func (w *crew) awoke(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range w.asks {
		select {
		case o.slept <- d:
		default: // it has not taken the last eight
		}
	}
}

// stopWish is why a run or an ant was stopped by a wish.
type stopWish struct{ by event.By }

func (s *stopWish) Error() string { return "stopped by " + s.by.User + " from " + s.by.Via }

// ExitCode is that of an interrupt.
func (s *stopWish) ExitCode() int { return 130 }

// tend carries out what is left on the desk until ctx is done.
func (c *Colony) tend(ctx context.Context, stop context.CancelCauseFunc) error {
	tick := time.NewTicker(deskEvery)
	defer tick.Stop()
	machine := sleeper{slept: c.parts.Slept, known: c.parts.Slept()}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if d := machine.look(); d > 0 {
			if err := c.awoke(d); err != nil {
				return err
			}
		}
		if err := c.clear(stop); err != nil {
			return err
		}
	}
}

// clear carries out what is on the desk now.
func (c *Colony) clear(stop context.CancelCauseFunc) error {
	return event.Take(c.parts.runDir(c.run), func(w event.Wish) error { return c.grant(w, stop) })
}

// grant carries out one wish, after it became an event.
func (c *Colony) grant(w event.Wish, stop context.CancelCauseFunc) error {
	w.Text = c.redact(w.Text)
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
	case "pause":
		if c.pauser.pause() {
			return c.record("", event.RunPaused{Why: "paused by " + w.By.User + ": colony resume " + c.run + " lets it go on", By: &w.By})
		}
	case "resume":
		if c.pauser.goOn() {
			return c.record("", event.Steered{By: w.By, Text: event.GoOn})
		}
	case "retry":
		if err := c.record("", event.Steered{By: w.By, Text: "retry " + w.Task}); err != nil {
			return err
		}
		select {
		case c.retry <- w.Task:
		default:
			return c.record("", event.Warned{Code: "no_retry", Text: "too many tasks are to begin again at once, so " + w.Task + " is not", Next: "colony retry " + w.Task})
		}
	case "answer":
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

func (w *crew) find(ant string) (*life, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l, ok := w.lives[ant]
	return l, ok
}

// answer hands an answer to whoever asked; false where the question is not open.
func (w *crew) answer(wish event.Wish) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	o, ok := w.asks[wish.Ask]
	if !ok {
		early, expected := w.ahead[wish.Ask]
		if expected && early == nil {
			w.ahead[wish.Ask] = &wish
		}
		return expected && early == nil
	}
	select {
	case o.answers <- replyOf(wish):
		return true
	default:
		return false
	}
}

func replyOf(wish event.Wish) reply {
	forRun := wish.Text == tools.ForRun
	return reply{tools.Answer{Text: wish.Text, Allow: forRun || wish.Text == "allow", ForRun: forRun}, wish.By}
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
