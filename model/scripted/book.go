package scripted

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"colony/model"
)

// Counts is what the server saw, so that a bill can be compared with it.
type Counts struct {
	Rows []Count `json:"rows"` // by model, card and task
	Peak int     `json:"peak"` // requests in flight at once
}

// Count is one task's share. Usage is that of whole replies; Broken counts those that were cut, stalled,
// never begun, or left by their reader.
type Count struct {
	Model      string `json:"model"`
	Card       string `json:"card"`
	Task       string `json:"task"`
	Requests   int64  `json:"requests"`
	Replies    int64  `json:"replies"`
	Refused    int64  `json:"refused"`
	Broken     int64  `json:"broken"`
	Input      int64  `json:"input_tokens"`
	Cached     int64  `json:"cached_input_tokens"`
	CacheWrite int64  `json:"cache_write_tokens"`
	Output     int64  `json:"output_tokens"`
	Reasoning  int64  `json:"reasoning_tokens"`
}

// Received is a request as it came.
type Received struct {
	Model, Card, Task string
	Turn              int // of the script, from 0
	Attempt           int // at this turn, from 0
	At                time.Time
	Body              []byte
}

type key struct{ model, card, task string }

type outcome int

const (
	broken outcome = iota
	refused
	whole
)

// visit is one request while it is answered.
type visit struct {
	key     key
	place   place
	body    []byte
	outcome outcome
	usage   model.Usage
	left    bool
}

// spot is a turn of a task at which attempts are counted.
type spot struct {
	key        key
	turn       int
	look, redo int
}

// book keeps the counts. It is safe for concurrent use.
type book struct {
	mu       sync.Mutex // guards what follows
	rows     map[key]*Count
	attempts map[spot]int
	flying   int
	peak     int
	received []Received
}

// arrive notes a request and returns how many came before it at the same turn.
func (b *book) arrive(v *visit, record bool) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rows == nil {
		b.rows, b.attempts = map[key]*Count{}, map[spot]int{}
	}
	if b.rows[v.key] == nil {
		b.rows[v.key] = &Count{Model: v.key.model, Card: v.key.card, Task: v.key.task}
	}
	b.rows[v.key].Requests++
	b.flying++
	b.peak = max(b.peak, b.flying)
	at := spot{v.key, v.place.turn, len(v.place.look), len(v.place.redo)}
	attempt := b.attempts[at]
	b.attempts[at]++
	if record {
		b.received = append(b.received, Received{v.key.model, v.key.card, v.key.task, v.place.turn, attempt, time.Now(), v.body})
	}
	return attempt
}

// leave notes what came of a request, once.
func (b *book) leave(v *visit) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if v.left {
		return
	}
	v.left = true
	b.flying--
	row := b.rows[v.key]
	switch v.outcome {
	case broken:
		row.Broken++
	case refused:
		row.Refused++
	case whole:
		row.Replies++
		row.Input += v.usage.Input()
		row.Cached += v.usage.Cached
		row.CacheWrite += v.usage.CacheWrite
		row.Output += v.usage.Output
		row.Reasoning += v.usage.Reasoning
	}
}

// Counts is what the server saw so far. Requests that name no scenario or no turn, and those that a strict
// provider refuses, are not counted.
func (s *Server) Counts() Counts {
	b := &s.book
	b.mu.Lock()
	defer b.mu.Unlock()
	c := Counts{Rows: []Count{}, Peak: b.peak}
	for _, row := range b.rows {
		c.Rows = append(c.Rows, *row)
	}
	slices.SortFunc(c.Rows, func(x, y Count) int {
		return cmp.Or(cmp.Compare(x.Model, y.Model), cmp.Compare(x.Card, y.Card), cmp.Compare(x.Task, y.Task))
	})
	return c
}

// Received is the requests so far, in the order in which they came; none where Parts.Record is off.
func (s *Server) Received() []Received {
	s.book.mu.Lock()
	defer s.book.mu.Unlock()
	return slices.Clone(s.book.received)
}
