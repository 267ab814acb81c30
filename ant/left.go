package ant

import (
	"encoding/json"
	"slices"
	"strings"

	"colony/event"
	"colony/tools"
)

// What a crash can leave open is folded too: calls that began, questions without an answer, and background commands.

func (m *Memory) started(s event.ToolStarted) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.begun[s.Call] = s
}

func (m *Memory) opened(a event.AskOpened) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asks = slices.DeleteFunc(m.asks, func(b event.AskOpened) bool { return b.Ask == a.Ask })
	m.asks = append(m.asks, a)
}

func (m *Memory) answered(ask string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asks = slices.DeleteFunc(m.asks, func(b event.AskOpened) bool { return b.Ask == ask })
}

// ended forgets the background commands: none outlives its ant.
func (m *Memory) ended() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.jobs = nil
}

// note follows the background commands. The caller holds mu.
func (m *Memory) note(d event.ToolDone) {
	var args struct {
		Command, Job string
		Background   bool
	}
	begun, ok := m.begun[d.Call]
	if !ok || begun.Tool != "sh" || json.Unmarshal(begun.Args, &args) != nil {
		return
	}
	if args.Background && d.Fault == "" {
		m.jobs = append(m.jobs, args.Command)
	}
}

// Asks are the questions without an answer, oldest first.
func (m *Memory) Asks() []event.AskOpened {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.asks)
}

// Ended is the ending that the last batch of calls declared; false where it declared none, or the ant was told something since.
func (m *Memory) Ended() (Ending, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.open {
		if d, ok := m.results[c.ID]; ok && d.Ends && d.Fault == "" {
			return endingOfCall(c), true
		}
	}
	return Ending{}, false
}

// waits reports whether an open call stands at a question that nobody answered: of its effect nothing has happened.
func (m *Memory) waits(c tools.Call) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, begun := m.begun[c.ID]
	return slices.ContainsFunc(m.asks, func(a event.AskOpened) bool {
		return slices.Contains(strings.Split(a.Call, ", "), c.ID) && !begun || a.Call == "" && c.Name == "ask" && asksFor(c, a.Text)
	})
}

func asksFor(c tools.Call, text string) bool {
	var args struct{ Question string }
	return json.Unmarshal(c.Args, &args) == nil && args.Question == text
}
