package ant

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"colony/event"
	"colony/model"
	"colony/tools"
)

// Memory is all that an ant holds between two steps: its conversation, where it stands, what it has seen and
// which deferred tools it loaded. It is a fold over the ant's events and safe for concurrent use.
type Memory struct {
	mu       sync.Mutex
	messages []model.Message // without the results of the last reply
	open     []tools.Call    // calls of the last reply
	results  map[string]event.ToolDone
	spelt    bool // they stood in its text
	loaded   []string
	seen     []tools.Seen
	cwd      string
	turns    int
	asked    int                          // requests, also those without a reply
	begun    map[string]event.ToolStarted // of the calls of the last reply
	asks     []event.AskOpened            // without an answer
	jobs     []string                     // commands that began in the background
}

// NewMemory is the memory of an ant that has just hatched and stands in root.
func NewMemory(root string) *Memory {
	return &Memory{cwd: root, results: map[string]event.ToolDone{}, begun: map[string]event.ToolStarted{}}
}

// Apply folds an event of this ant into the memory. Events that do not matter to it are passed over.
func (m *Memory) Apply(e event.Event) error {
	switch body := e.Body.(type) {
	case event.AntTold:
		m.told(body)
	case event.ToolStarted:
		m.started(body)
	case event.ToolDone:
		m.done(body)
	case event.AskOpened:
		m.opened(body)
	case event.AskAnswered:
		m.answered(body.Ask)
	case event.AntEnded:
		m.ended()
	case event.AntCompacted:
		m.compacted(body)
	case event.ModelRequested:
		if body.Attempt == 1 {
			m.ask()
		}
	case event.ModelReplied:
		if body.Outcome != "ok" || strings.HasSuffix(body.Request, summaryMark) {
			return nil
		}
		message := model.Message{Role: model.Assistant} // of an empty reply the log holds no more
		if err := json.Unmarshal(body.Content, &message); err != nil {
			return fmt.Errorf("reply of %s: %w", body.Request, err)
		}
		m.replied(message)
	}
	return nil
}

// Messages is the conversation without its system prompt: every result that has come stands in call order.
func (m *Memory) Messages() []model.Message {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append(append([]model.Message{}, m.messages...), m.answers()...)
}

// Open is the calls of the last reply that have no result yet.
func (m *Memory) Open() []tools.Call {
	m.mu.Lock()
	defer m.mu.Unlock()
	var open []tools.Call
	for _, c := range m.open {
		if _, ok := m.results[c.ID]; !ok {
			open = append(open, c)
		}
	}
	return open
}

// Answered reports whether a call of the last reply has its result.
func (m *Memory) Answered(call string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.results[call]
	return ok
}

// Cwd is the directory where the next call starts.
func (m *Memory) Cwd() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cwd
}

// Seen is what the ant has read and written, in order.
func (m *Memory) Seen() []tools.Seen {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]tools.Seen{}, m.seen...)
}

// Loaded is the deferred tools that the ant opened, in the order of its calls.
func (m *Memory) Loaded() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	loaded := append([]string{}, m.loaded...)
	for _, c := range m.open {
		loaded = append(loaded, m.results[c.ID].Loaded...)
	}
	return loaded
}

// Turns is the number of replies so far.
func (m *Memory) Turns() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.turns
}

// ask counts a request and returns its number, from 1.
func (m *Memory) ask() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	return m.asked
}

// Move puts the ant into another worktree: it stands at its root and has read nothing there.
func (m *Memory) Move(root string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cwd, m.seen = root, nil
}

func (m *Memory) told(t event.AntTold) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.close()
	m.messages = append(m.messages, model.Message{Role: model.User, Text: t.Text})
}

func (m *Memory) replied(message model.Message) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.close()
	m.turns++
	m.messages = append(m.messages, message)
	m.open = message.Calls
	m.spelt = message.Recovered
}

// Spelt reports whether the calls of the last reply stood in its text.
func (m *Memory) Spelt() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.spelt
}

func (m *Memory) done(d event.ToolDone) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.results[d.Call] = d
	m.note(d)
	for _, s := range d.Seen {
		m.seen = append(m.seen, tools.Seen(s))
	}
	if d.Cwd != "" {
		m.cwd = d.Cwd
	}
}

// close moves the answers of the last reply into the conversation.
func (m *Memory) close() {
	m.messages = append(m.messages, m.answers()...)
	for _, c := range m.open {
		m.loaded = append(m.loaded, m.results[c.ID].Loaded...)
	}
	m.open, m.results, m.begun = nil, map[string]event.ToolDone{}, map[string]event.ToolStarted{}
}

func (m *Memory) answers() []model.Message {
	var out []model.Message
	for _, c := range m.open {
		if d, ok := m.results[c.ID]; ok {
			out = append(out, answer(d))
		}
	}
	return out
}

func answer(d event.ToolDone) model.Message {
	message := model.Message{Role: model.Tool, CallID: d.Call, Text: d.Text, IsError: d.Fault != ""}
	for _, i := range d.Images {
		message.Images = append(message.Images, tools.BlobRef(i))
	}
	return message
}
