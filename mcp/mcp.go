// Package mcp brings the tools of servers that speak the Model Context Protocol: each as a tool of colony's own, which is told
// nothing that its user did not see, and trusted with nothing that its user did not say.
package mcp

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/sourcegraph/conc"

	"colony/tools"
)

// Parts is what a Server is made of. Processes, connections and the time are handed in.
type Parts struct {
	Entry   Entry // with the values of its variables
	Version string
	// Start starts a process that has these variables beside those of every server. Closing the stream ends it.
	Start  func(ctx context.Context, argv, env []string, stderr io.Writer) (io.ReadWriteCloser, error)
	Client *http.Client // decides on every connection
	Root   string       // the one directory that the server is told of; empty for none
	Hosts  []string     // what it may reach
	Asks   bool         // what it asks may reach the person of the call under way
	Pins   *Pins
	Health *Health
	Limits Limits
	Enter  func(context.Context) (leave func(), err error) // a place among the servers that run at once
	Now    func() time.Time
	Told   func(Note) // called from any goroutine
}

// Limits are the longest times: to start and be listed, for one call, and without a call before a server is closed.
type Limits struct{ Start, Call, Idle time.Duration }

// Note is what people should know of a server.
type Note struct{ Code, Text, Next string }

// The codes of notes.
const (
	Down     = "mcp_down"
	Withheld = "mcp_withheld"
	Changed  = "mcp_changed"
	Noise    = "mcp_noise" // for the operator alone
)

// Server is one server and, while it is in use, the session with it. It is started again when it is called after it ended. It
// is safe for concurrent use.
type Server struct {
	parts Parts
	door  chan struct{}  // held by who starts the server
	tend  conc.WaitGroup // of what looks after sessions
	life  context.Context
	end   context.CancelFunc
	lost  Health // how its sessions ended

	mu       sync.Mutex // guards what follows
	session  *session
	offered  map[string]*offer
	watchers map[int]func()
	next     int
	notes    int
}

// New is a server that was not started.
func New(p Parts) (*Server, error) {
	if p.Pins == nil || p.Health == nil || p.Enter == nil || p.Now == nil || p.Told == nil || p.Limits.Start <= 0 || p.Limits.Call <= 0 || p.Limits.Idle <= 0 ||
		p.Entry.Command != "" && p.Start == nil || p.Entry.URL != "" && p.Client == nil {
		return nil, errors.New("mcp: parts are missing")
	}
	s := &Server{parts: p, door: make(chan struct{}, 1), offered: map[string]*offer{}, watchers: map[int]func(){}}
	s.life, s.end = context.WithCancel(context.Background()) // until Close, whoever's call starts it
	return s, nil
}

// Name is the server's.
func (s *Server) Name() string { return s.parts.Entry.Name }

// Open starts the server, where it is not running, and learns its tools.
func (s *Server) Open(ctx context.Context) error {
	_, err := s.live(ctx)
	return err
}

// Close ends the session. The server is not started again.
func (s *Server) Close() {
	s.end()
	s.door <- struct{}{} // whoever starts it sees the end of its life first
	s.retire(nil)
	<-s.door
	s.tend.Wait()
}

// Tools are the server's tools as they are offered now, by name.
func (s *Server) Tools() []tools.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []tools.Tool
	for _, name := range slices.Sorted(maps.Keys(s.offered)) {
		all = append(all, tool{server: s, offer: s.offered[name]})
	}
	return all
}

// Watch has f called whenever the tools are others than before, until stop is called.
func (s *Server) Watch(f func()) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.next
	s.next++
	s.watchers[id] = f
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, id)
	}
}

// Accept takes what the server says of its tools now for what its user has seen, and returns the names of those that were
// others before.
func (s *Server) Accept(names ...string) ([]string, error) {
	pins := map[string]Pin{}
	s.mu.Lock()
	for name, o := range s.offered {
		if o.was != nil && (len(names) == 0 || slices.Contains(names, name)) {
			pins[name] = o.pin
		}
	}
	s.mu.Unlock()
	if len(pins) == 0 {
		return nil, nil
	}
	if err := s.parts.Pins.keep(pins); err != nil {
		return nil, err
	}
	s.mu.Lock()
	for name, pin := range pins {
		o := s.offered[name]
		if o == nil || o.pin.hash() != pin.hash() {
			continue
		}
		seen := *o
		if spec, err := s.specOf(name, pin); err == nil {
			seen.was, seen.spec = nil, spec
			s.offered[name] = &seen
		}
	}
	s.mu.Unlock()
	s.changed()
	return slices.Sorted(maps.Keys(pins)), nil
}

// changed calls who watches.
func (s *Server) changed() {
	s.mu.Lock()
	watchers := slices.Collect(maps.Values(s.watchers))
	s.mu.Unlock()
	for _, f := range watchers {
		f()
	}
}

// Health is how something fared that is done again and again: after a failure nobody does it for a while. All servers of one entry
// share how their starts fared. It is safe for concurrent use.
type Health struct {
	mu     sync.Mutex // guards what follows
	failed int        // in a row
	until  time.Time
	why    error
}

// The waits after failures: each is twice the one before.
const (
	firstWait    = 250 * time.Millisecond
	startWait    = 10 * time.Second // after a start that came to nothing
	longestWait  = time.Minute
	patientUntil = 3 * time.Second // what a call waits for at most
)

// fail counts a failure, after which nobody starts the server for a while.
func (h *Health) fail(now time.Time, first time.Duration, why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	wait := min(first<<min(h.failed, 10), longestWait)
	h.failed++
	h.until, h.why = now.Add(wait), why
}

func (h *Health) well() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failed, h.why, h.until = 0, nil, time.Time{}
}

// rest is how long nobody is to start the server yet, and why.
func (h *Health) rest(now time.Time) (time.Duration, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.until.Sub(now), h.why
}
