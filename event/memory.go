package event

import (
	"context"
	"iter"
	"sync"
	"time"
)

// Memory is a log that lives as long as its process. It behaves as a Store does.
type Memory struct {
	mu      sync.Mutex // guards what follows
	chain   chain
	records []record
	grown   chan struct{} // closed and replaced by each append
}

// NewMemory is an empty log of a run.
func NewMemory(run string, now func() time.Time) *Memory {
	return &Memory{chain: chain{run: run, now: now}, grown: make(chan struct{})}
}

// Append adds the events together.
func (m *Memory) Append(ctx context.Context, events ...Event) (Seq, error) {
	ds, err := drafts(events)
	if err != nil {
		return 0, err
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	next, added := m.chain, make([]record, 0, len(ds))
	for _, d := range ds {
		r, err := next.add(d)
		if err != nil {
			return 0, err
		}
		added = append(added, r)
	}
	m.chain, m.records = next, append(m.records, added...)
	close(m.grown)
	m.grown = make(chan struct{})
	return m.chain.seq, nil
}

// Note adds the events at once.
func (m *Memory) Note(events ...Event) error {
	_, err := m.Append(context.Background(), events...)
	return err
}

// Read yields what follows after, to the end as it is now.
func (m *Memory) Read(ctx context.Context, after Seq) iter.Seq2[Event, error] {
	return read(ctx, m, after)
}

// Follow goes on with what is appended later, until ctx is done.
func (m *Memory) Follow(ctx context.Context, after Seq) iter.Seq2[Event, error] {
	return follow(ctx, m, after)
}

func (m *Memory) name() string { return "in memory" }

func (m *Memory) end(context.Context) (Seq, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.chain.seq, nil
}

func (m *Memory) fetch(_ context.Context, from Seq) ([]record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if int(from) > len(m.records) {
		return nil, nil
	}
	return m.records[from-1 : min(len(m.records), int(from)-1+pageSize)], nil
}

// watch returns a wait for the next growth after the moment of the call.
func (m *Memory) watch(context.Context) (func(context.Context) error, func(), error) {
	m.mu.Lock()
	grown := m.grown
	m.mu.Unlock()
	wait := func(ctx context.Context) error {
		select {
		case <-grown:
		case <-ctx.Done():
			return ctx.Err()
		}
		m.mu.Lock()
		grown = m.grown
		m.mu.Unlock()
		return nil
	}
	return wait, func() {}, nil
}

var _ Log = (*Memory)(nil)
