package hatch

import (
	"sync"

	"colony/ant"
	"colony/event"
	"colony/model"
	"colony/plan"
)

// windows are what refusals showed of the context of models. It is safe for concurrent use.
type windows struct {
	mu     sync.Mutex // guards tokens
	tokens map[string]int
}

func (w *windows) of(m chosen) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n, ok := w.tokens[m.String()]; ok {
		return n
	}
	return m.window
}

func (w *windows) learn(m chosen, tokens int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tokens == nil {
		w.tokens = map[string]int{}
	}
	w.tokens[m.String()] = tokens
}

// window is how much context the ant's model takes, and who sums up for it: a small model, and where that cannot, its own.
func (l *life) window() ant.Window {
	m := l.model
	w := ant.Window{
		Tokens: func() int { return l.windows.of(m) },
		Learn:  func(n int) { l.windows.learn(m, n) },
		Sum:    func(i int) model.Provider { return nil },
	}
	all := []chosen{m}
	if small, ok := l.small(m); ok && small.String() != m.String() {
		all = []chosen{small, m}
	}
	for _, one := range all {
		w.Summing = append(w.Summing, model.Request{Model: one.name})
	}
	w.Sum = func(i int) model.Provider {
		account := l.account
		account.Provider, account.Model = all[i].provider, all[i].name
		way := l.routed[all[i].String()]
		return resting{way.governor.Around(sending{funded{l.book.Meter(account, way.client), l.Colony}, l.halted}), l.pauser, l.ending}
	}
	return w
}

// urgency is how many tasks, one after the other, wait for the ant's own: what is on the critical path is asked first.
func (l *life) urgency() int {
	tasks := l.parts.Plan.Tasks
	if len(tasks) == 0 {
		tasks = l.planned()
	}
	needed := map[string][]string{}
	for _, t := range tasks {
		for _, need := range t.Needs {
			needed[need] = append(needed[need], t.ID)
		}
	}
	known := map[string]int{}
	var depth func(id string) int
	depth = func(id string) int {
		if n, ok := known[id]; ok {
			return n
		}
		known[id] = 0
		for _, next := range needed[id] {
			known[id] = max(known[id], 1+depth(next))
		}
		return known[id]
	}
	return depth(l.order.Task)
}

// planned are the tasks of the plan that the queen made; none before she did.
func (l *life) planned() []plan.Task {
	var tasks []plan.Task
	for _, made := range l.log.plan() {
		tasks = append(tasks, plan.Task{ID: made.ID, Needs: made.Needs})
	}
	return tasks
}

// plan is the last plan in the log.
func (t *tally) plan() []event.PlanTask {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tasks
}
