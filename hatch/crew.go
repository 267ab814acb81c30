package hatch

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"colony/event"
	"colony/tools"
)

// crew is the ants at work and the questions that are open, for wishes that come to the desk. It is safe for concurrent
// use.
type crew struct {
	mu     sync.Mutex // guards what follows
	lives  map[string]*life
	asks   map[string]chan reply
	asked  map[string]int         // questions of each ant so far, in the whole run
	left   map[string]event.Event // questions that were open when an earlier process ended, by ask
	given  map[earlyKey]reply     // answers to them
	halted context.CancelCauseFunc
}

// earlyKey is what an answer that came before its question is for: exactly what was shown.
type earlyKey struct{ task, grant string }

// reply is an answer and who gave it.
type reply struct {
	answer tools.Answer
	by     event.By
}

func newCrew() *crew {
	return &crew{lives: map[string]*life{}, asks: map[string]chan reply{}, asked: map[string]int{}, left: map[string]event.Event{},
		given: map[earlyKey]reply{}, halted: func(error) {}}
}

// recall takes an event of the run's past into account.
func (w *crew) recall(e event.Event) {
	switch b := e.Body.(type) {
	case event.AskOpened:
		w.asked[e.Ant]++
		w.left[b.Ask] = e
	case event.AskAnswered:
		delete(w.left, b.Ask)
	}
}

// number is an id for the next question of an ant, which no other question of the run has.
func (w *crew) number(ant string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked[ant]++
	return fmt.Sprintf("%s.%d", ant, w.asked[ant])
}

// early is the answer that was given to such a question before it was opened again, once.
func (w *crew) early(task, grant string) (reply, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := earlyKey{task, grant}
	r, ok := w.given[key]
	delete(w.given, key)
	return r, ok && grant != ""
}

// late keeps the answer to a question that an earlier process left open; false where there is none.
func (w *crew) late(wish event.Wish) (event.AskAnswered, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e, ok := w.left[wish.Ask]
	if !ok {
		return event.AskAnswered{}, false
	}
	delete(w.left, wish.Ask)
	w.given[earlyKey{e.Task, e.Body.(event.AskOpened).Grant}] = reply{said(wish.Text), wish.By}
	return event.AskAnswered{Ask: wish.Ask, Answer: wish.Text, By: wish.By, Late: true}, true
}

// forget gives up the questions that an earlier process left open, and names them.
func (w *crew) forget() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	asks := slices.Sorted(maps.Keys(w.left))
	clear(w.left)
	return asks
}

// stop ends the run for a cause.
func (w *crew) stop(cause error) {
	w.mu.Lock()
	halt := w.halted
	w.mu.Unlock()
	halt(cause)
}

// heed lets stop end what the function ends.
func (w *crew) heed(halt context.CancelCauseFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.halted = halt
}

// said is an answer as it was typed elsewhere.
func said(text string) tools.Answer {
	return tools.Answer{Text: text, Allow: text == "allow" || text == tools.ForRun, ForRun: text == tools.ForRun}
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

// open is where the answer to a question comes to, until close.
func (w *crew) open(ask string) (answers <-chan reply, close func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := make(chan reply, 1)
	w.asks[ask] = c
	return c, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.asks, ask)
	}
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
	c, ok := w.asks[wish.Ask]
	if !ok {
		return false
	}
	select {
	case c <- reply{said(wish.Text), wish.By}:
		return true
	default:
		return false
	}
}
