package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// session is one connection to a server.
type session struct {
	server *Server
	client *sdk.ClientSession
	line   line // what carries it
	stderr *tail
	leave  func()
	stale  chan struct{} // its tools may be others than were listed
	used   chan struct{} // a call ended
	over   chan struct{} // closed when the connection is

	mu    sync.Mutex // guards what follows
	calls map[string]*call
	count int
}

// line is how a server is spoken to. Closing it ends the connection, whatever waits for it.
type line interface {
	sdk.Transport
	Close() error
}

// live is the session, started where there is none. A server that failed just now is waited for a little, and no longer.
func (s *Server) live(ctx context.Context) (*session, error) {
	if now := s.now(); now != nil {
		return now, nil
	}
	select {
	case s.door <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-s.door }()
	if now := s.now(); now != nil {
		return now, nil
	}
	if s.life.Err() != nil {
		return nil, errors.New("it was closed")
	}
	rest, why := s.parts.Health.rest(s.parts.Now())
	if own, lost := s.lost.rest(s.parts.Now()); own > rest {
		rest, why = own, lost
	}
	if rest > patientUntil {
		return nil, fmt.Errorf("it is not started again for %s: %w", rest.Round(time.Second), why)
	}
	if rest > 0 {
		select {
		case <-time.After(rest):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	started, err := s.start(ctx)
	switch {
	case err == nil:
		s.parts.Health.well()
	case ctx.Err() == nil:
		s.parts.Health.fail(s.parts.Now(), startWait, err)
	}
	return started, err
}

func (s *Server) now() *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.session
}

// errLate is why a start is given up.
var errLate = errors.New("it did not answer in time")

// start starts the server and learns its tools, within the limit of a start. The caller holds the door.
func (s *Server) start(ctx context.Context) (*session, error) {
	leave, err := s.parts.Enter(ctx)
	if err != nil {
		return nil, err
	}
	timed, cancel := context.WithTimeoutCause(ctx, s.parts.Limits.Start, fmt.Errorf("%w, within %s", errLate, s.parts.Limits.Start))
	defer cancel()
	n := &session{
		server: s, leave: leave, stale: make(chan struct{}, 1), used: make(chan struct{}, 1), over: make(chan struct{}),
		calls: map[string]*call{}, stderr: &tail{},
	}
	if err := n.connect(timed); err != nil {
		n.close()
		leave()
		if timed.Err() != nil && ctx.Err() == nil {
			err = context.Cause(timed)
		}
		if said := n.stderr.last(); said != "" {
			err = fmt.Errorf("%w; the last that it wrote to stderr: %s", err, said)
		}
		return nil, err
	}
	s.mu.Lock()
	s.session = n
	s.mu.Unlock()
	s.tend.Go(n.watchOver)
	s.changed()
	return n, nil
}

// connect makes the connection, and lists what there is. A server that is there and does not list is asked once more.
func (n *session) connect(ctx context.Context) error {
	var err error
	if n.line, err = n.open(ctx); err != nil {
		return err
	}
	// A server that is silent is ended with the start, whatever waits for it.
	defer context.AfterFunc(ctx, n.cut)()
	client := sdk.NewClient(&sdk.Implementation{Name: "colony", Version: n.server.parts.Version}, n.options())
	n.showRoot(client)
	if n.client, err = client.Connect(ctx, n.line, nil); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	n.server.tend.Go(func() {
		_ = n.client.Wait() // how it ended is seen by who called
		close(n.over)
	})
	if err = n.server.list(ctx, n); err != nil && ctx.Err() == nil {
		err = n.server.list(ctx, n)
	}
	return err
}

func (n *session) open(ctx context.Context) (line, error) {
	e := n.server.parts.Entry
	if e.URL != "" {
		to, err := reach(e, n.server.parts.Client)
		if err != nil {
			return nil, err
		}
		return to, nil
	}
	var env []string
	for _, name := range slices.Sorted(maps.Keys(e.Env)) {
		env = append(env, name+"="+e.Env[name])
	}
	stream, err := n.server.parts.Start(ctx, append([]string{e.Command}, e.Args...), env, n.stderr)
	if err != nil {
		return nil, err
	}
	return newWire(stream, func(line string) { n.server.tell(Noise, "wrote what is no message: "+line, "nothing") }), nil
}

func (n *session) options() *sdk.ClientOptions {
	o := &sdk.ClientOptions{
		Logger:                      slog.New(slog.DiscardHandler),
		Capabilities:                &sdk.ClientCapabilities{},
		ToolListChangedHandler:      func(context.Context, *sdk.ToolListChangedRequest) { n.listAgain() },
		ProgressNotificationHandler: n.progress,
	}
	if n.server.parts.Asks {
		o.ElicitationHandler = n.elicit
	}
	n.older(o)
	return o
}

// listAgain has the tools listed, soon and once.
func (n *session) listAgain() {
	select {
	case n.stale <- struct{}{}:
	default:
	}
}

// relist is how long the tools are not listed again after they were.
const relist = time.Second

// watchOver lists the tools again when they changed, and ends the session when nobody used it for long, or the server ended.
func (n *session) watchOver() {
	s := n.server
	idle := time.NewTimer(s.parts.Limits.Idle)
	defer idle.Stop()
	for {
		select {
		case <-n.over:
			s.lose(n, n.died())
			return
		case <-s.life.Done():
			return
		case <-n.used:
			idle.Reset(s.parts.Limits.Idle)
		case <-idle.C:
			if n.busy() {
				idle.Reset(s.parts.Limits.Idle)
				continue
			}
			s.door <- struct{}{} // nobody starts it meanwhile
			s.retire(n)
			<-s.door
			return
		case <-n.stale:
			n.refresh()
		}
	}
}

// refresh lists the tools again, and then not for a while.
func (n *session) refresh() {
	s := n.server
	ctx, cancel := context.WithTimeout(s.life, s.parts.Limits.Start)
	defer cancel()
	if err := s.list(ctx, n); err != nil {
		s.tell(Down, "said that its tools changed, and did not list them: "+err.Error(), "its tools stay as they were")
	} else {
		s.changed()
	}
	select {
	case <-time.After(relist):
	case <-n.over:
	case <-s.life.Done():
	}
}

// died is why a connection ended by itself.
func (n *session) died() error {
	if said := n.stderr.last(); said != "" {
		return fmt.Errorf("it ended; the last that it wrote to stderr: %s", said)
	}
	return errors.New("it ended")
}

// lose gives a session up that failed, so that the next call starts the server again after a while.
func (s *Server) lose(n *session, why error) {
	if s.retire(n) {
		s.lost.fail(s.parts.Now(), firstWait, why)
		s.tell(Down, "failed: "+why.Error(), "it is started again when it is called")
	}
}

// retire ends a session, or the one that there is, and says whether it did.
func (s *Server) retire(n *session) bool {
	s.mu.Lock()
	if n == nil {
		n = s.session
	}
	mine := n != nil && s.session == n
	if mine {
		s.session = nil
	}
	s.mu.Unlock()
	if !mine {
		return false
	}
	n.close()
	n.leave()
	return true
}

// cut ends the connection, and the process at its end.
func (n *session) cut() {
	if n.line != nil {
		_ = n.line.Close() // how it ended does not matter any more
	}
}

func (n *session) close() {
	n.cut()
	if n.client != nil {
		_ = n.client.Close()
	}
}

func (n *session) busy() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.calls) > 0
}

// mostNotes is how much is said of one server.
const mostNotes = 50

// tell tells people of the server, up to a bound.
func (s *Server) tell(code, text, next string) {
	s.mu.Lock()
	if code != Noise {
		s.notes++
	}
	more := s.notes <= mostNotes
	s.mu.Unlock()
	if more {
		s.parts.Told(Note{code, "The MCP server " + s.parts.Entry.Name + " " + Visible(text), next})
	}
}

// tail keeps the end of what a server writes to stderr.
type tail struct {
	mu   sync.Mutex // guards text
	text []byte
}

const tailSize = 2 << 10

// Write takes all, and keeps the end.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p[max(0, len(p)-tailSize):]...)
	t.text = t.text[max(0, len(t.text)-tailSize):]
	return len(p), nil
}

// last is the last lines, in one.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	words := strings.Fields(Visible(string(t.text)))
	text := strings.Join(words, " ")
	if len(text) > 300 {
		text = "…" + strings.ToValidUTF8(text[len(text)-300:], "")
	}
	return text
}

var _ io.Writer = (*tail)(nil)
