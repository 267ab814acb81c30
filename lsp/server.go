package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/conc"
	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// startLimit is how long a server may take to start, whoever waits for it.
const startLimit = 30 * time.Second

// server is one running server.
type server struct {
	kind   *kind
	conn   jsonrpc2.Conn
	stream *stream
	stop   context.CancelFunc
	ready  chan struct{} // closed when it is initialized, or never will be
	gone   chan struct{} // closed when all of it has ended
	can    abilities     // known once ready
	used   atomic.Int64  // when it was last asked

	mu        sync.Mutex // guards what follows
	begun     bool       // it was initialized
	roots     map[string]*root
	pushed    map[string]push // by file
	working   map[string]bool // by token of its progress
	pulls     string          // the identifier of pulling that it registered
	pullsOn   bool            // it registered pulling
	refreshed int             // how often it said that it would answer otherwise now
	beat      chan struct{}   // closed, and another put there, when something came
	count     int             // of pushes
}

// push is what a server said of a file unasked.
type push struct {
	version  int32
	numbered bool // it said for which version
	at       int  // the how manieth it was
	problems []problem
	more     int // that were not kept
}

func newServer(k *kind, stop context.CancelFunc) *server {
	s := &server{kind: k, stop: stop, ready: make(chan struct{}), gone: make(chan struct{}), roots: map[string]*root{}, pushed: map[string]push{},
		working: map[string]bool{}, beat: make(chan struct{})}
	s.touch()
	return s
}

func (s *server) touch() { s.used.Store(s.kind.all.parts.Now().UnixNano()) }

// live starts the process and returns when it has ended.
func (s *server) live(ctx context.Context, dir string) {
	defer close(s.gone)
	defer s.stop()
	rw, err := s.kind.all.parts.Start(ctx, s.kind.def.Argv, dir)
	if err != nil {
		s.kind.all.parts.Log("language server %s: %v", s.kind.def.Name, err)
		close(s.ready)
		return
	}
	s.stream = newStream(rw)
	s.conn = jsonrpc2.NewConn(s.stream, jsonrpc2.WithCodec(codec{}))
	var work conc.WaitGroup
	defer work.Wait()
	defer s.stream.Close() //nolint:errcheck // what it held of the process is gone either way
	work.Go(s.stream.pump)
	s.conn.Go(ctx, s.handle)
	work.Go(func() {
		defer close(s.ready)
		timed, cancel := context.WithTimeout(ctx, startLimit)
		defer cancel()
		if err := s.initialize(timed, dir); err != nil {
			s.kind.all.parts.Log("language server %s: initialize: %v", s.kind.def.Name, err)
			s.stop()
			return
		}
		s.mu.Lock()
		s.begun = true
		s.mu.Unlock()
	})
	s.outlive(ctx)
	s.wake()
}

// outlive waits until the server has ended, or is to be ended since nobody asks it.
func (s *server) outlive(ctx context.Context) {
	idle := s.kind.all.parts.Idle
	for rest := idle; ; {
		select {
		case <-s.stream.closed:
			return
		case <-s.conn.Done():
			if err := s.conn.Err(); err != nil {
				s.kind.all.parts.Log("language server %s: %v", s.kind.def.Name, err)
			}
			return
		case <-ctx.Done():
			return
		case <-s.kind.all.parts.After(rest):
			if rest = idle - s.kind.all.parts.Now().Sub(time.Unix(0, s.used.Load())); rest <= 0 {
				s.kind.retire(s)
				return
			}
		}
	}
}

// alive reports whether it can be asked.
func (s *server) alive() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.begun {
		return false
	}
	select {
	case <-s.gone:
		return false
	case <-s.stream.closed:
		return false
	case <-s.conn.Done():
		return false
	default:
		return true
	}
}

// notify sends what needs no answer. A server that takes nothing in time is ended: what it missed it would never learn.
func (s *server) notify(ctx context.Context, method string, params any) error {
	if err := s.conn.Notify(ctx, method, params); err != nil {
		s.stop()
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

// ask calls a method and reads of what comes back what fits.
func (s *server) ask(ctx context.Context, method string, params, into any) error {
	s.touch()
	var raw jsonrpc2.RawMessage
	id, err := s.conn.Call(ctx, method, params, &raw)
	if err != nil && ctx.Err() != nil && s.alive() {
		s.conn.Notify(context.WithoutCancel(ctx), "$/cancelRequest", cancelParams{id}) //nolint:errcheck // it may have ended
	}
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	if len(raw) == 0 || string(raw) == "null" || into == nil {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

type cancelParams struct {
	ID jsonrpc2.ID `json:"id"`
}

// codec writes the protocol's types by its rules.
type codec struct{}

func (codec) Marshal(v any) ([]byte, error) {
	switch v := v.(type) {
	case jsonrpc2.RawMessage:
		return v, nil
	case cancelParams, map[string]any, []any, settingsAnswer, initialize:
		return json.Marshal(v)
	}
	return protocol.Marshal(v)
}

func (codec) Unmarshal(data []byte, v any) error {
	if raw, ok := v.(*jsonrpc2.RawMessage); ok {
		*raw = slices.Clone(jsonrpc2.RawMessage(data))
		return nil
	}
	return protocol.Unmarshal(data, v)
}

// wake tells who waits that something came.
func (s *server) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stir()
}

// stir is wake where mu is held.
func (s *server) stir() {
	close(s.beat)
	s.beat = make(chan struct{})
}

// until waits for a condition that is looked at, with mu held, whenever something came.
func (s *server) until(ctx context.Context, done func() bool) error {
	for {
		s.mu.Lock()
		ok, beat := done(), s.beat
		s.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-beat:
		case <-s.stream.closed:
			return errGone
		case <-s.conn.Done():
			return errGone
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// open are the worktrees that it has open.
func (s *server) open() []*root {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.roots))
}

func (s *server) root(dir string) *root {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.roots[dir]
}

var _ jsonrpc2.Codec = codec{}
