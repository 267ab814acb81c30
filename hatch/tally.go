package hatch

import (
	"context"
	"sync"

	"colony/event"
	"colony/ledger"
)

// tally is a log that keeps the bill of what it appended.
type tally struct {
	event.Log
	mu   sync.Mutex // guards what follows
	bill ledger.Bill

	tasks []event.PlanTask // of the last plan
}

func newTally(log event.Log) *tally { return &tally{Log: log} }

// Append adds the events and bills them.
func (t *tally) Append(ctx context.Context, events ...event.Event) (event.Seq, error) {
	seq, err := t.Log.Append(ctx, events...)
	if err != nil {
		return seq, err
	}
	t.add(events)
	return seq, nil
}

// Note notes the events and bills them.
func (t *tally) Note(events ...event.Event) error {
	if err := t.Log.Note(events...); err != nil {
		return err
	}
	t.add(events)
	return nil
}

func (t *tally) add(events []event.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range events {
		t.bill.Add(e)
		switch b := e.Body.(type) {
		case event.PlanMade:
			t.tasks = b.Tasks
		case event.PlanChanged:
			t.tasks = b.Tasks
		}
	}
}

// of is what a task has cost so far; the empty name is the run.
func (t *tally) of(task string) (event.Usage, *event.PicoUSD, event.Price) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if task == "" {
		return t.bill.Total()
	}
	return t.bill.Task(task)
}
