package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"colony/tools"
)

// call is a call under way in a session.
type call struct {
	*session
	env   *tools.Env
	token string
	clock *clock
	gone  <-chan struct{} // closed when nobody waits for the call
}

// clock ends a context when the time of a call is over. While a person is asked it stands still.
type clock struct {
	mu    sync.Mutex // guards what follows
	timer *time.Timer
	began time.Time
	left  time.Duration
	held  int
}

func newClock(limit time.Duration, late func()) *clock {
	return &clock{timer: time.AfterFunc(limit, late), began: time.Now(), left: limit}
}

// hold stops the clock until the function it returns is called.
func (c *clock) hold() func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held++; c.held == 1 && c.timer.Stop() {
		c.left -= time.Since(c.began)
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.held--; c.held == 0 {
			c.began = time.Now()
			c.timer.Reset(max(c.left, time.Millisecond))
		}
	}
}

// errSlow is why a call ends whose time is over.
var errSlow = errors.New("the time of the call is over")

// run lets a call do its work in the session, and says what it came to. A call that its server did not live through is
// repeated, once, where that changes nothing more.
func (s *Server) run(ctx context.Context, env *tools.Env, repeat bool, do func(context.Context, *call) (tools.Result, error)) (tools.Result, error) {
	limit := s.parts.Entry.Timeout
	if limit == 0 {
		limit = s.parts.Limits.Call
	}
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	clock := newClock(limit, func() { cancel(errSlow) })
	defer clock.timer.Stop()
	for {
		n, err := s.live(limited)
		if err == nil {
			var r tools.Result
			if r, err = n.carry(limited, env, clock, do); err == nil {
				return r, nil
			}
		}
		said := answeredWith(err)
		switch {
		case ctx.Err() != nil:
			return tools.Refuse(tools.Cancelled, "the call was stopped and may not have had its effect; the server "+s.Name()+" was told"), nil
		case errors.Is(context.Cause(limited), errSlow):
			if n != nil {
				s.tend.Go(func() { s.probe(n) })
			}
			return tools.Refuse(tools.Timeout, fmt.Sprintf("the server %s did not answer within %s; whether the call had its effect is not known", s.Name(), limit)), nil
		case n == nil:
			return tools.Refuse(tools.Transient, fmt.Sprintf("the server %s cannot be reached, and the call did not happen: %s", s.Name(), Visible(err.Error()))), nil
		case said != nil:
			return refused(s.Name(), said), nil
		}
		s.lose(n, fmt.Errorf("it was lost during a call: %w", err))
		if !repeat {
			return tools.Refuse(tools.Transient, fmt.Sprintf("the server %s was lost during the call (%s). Whether the call had its effect is not known, and it was not repeated", s.Name(), clip(Visible(err.Error()), 300))), nil
		}
		repeat = false
	}
}

// The codes of errors that no server answers with, but that stand for a connection that ended or would not carry a message.
const (
	clientCloses = -32003
	serverCloses = -32004
	notCarried   = -32005
)

// answeredWith is the error that a server answered with; nil where none did.
func answeredWith(err error) *jsonrpc.Error {
	var said *jsonrpc.Error
	if !errors.As(err, &said) || said.Code == clientCloses || said.Code == serverCloses || said.Code == notCarried {
		return nil
	}
	return said
}

// carry does the work of a call while the session knows of it.
func (n *session) carry(ctx context.Context, env *tools.Env, clock *clock, do func(context.Context, *call) (tools.Result, error)) (tools.Result, error) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	n.mu.Lock()
	n.count++
	c := &call{session: n, env: env, token: strconv.Itoa(n.count), clock: clock, gone: ctx.Done()}
	n.calls[c.token] = c
	n.mu.Unlock()
	defer func() {
		n.mu.Lock()
		delete(n.calls, c.token)
		n.mu.Unlock()
		select {
		case n.used <- struct{}{}:
		default:
		}
	}()
	r, err := do(ctx, c)
	if err == nil {
		n.server.lost.well()
	}
	return r, err
}

// probeLimit is how long a server may take to say that it is there.
const probeLimit = 5 * time.Second

// probe asks a server that did not answer a call whether it is there, and gives it up where it is not.
func (s *Server) probe(n *session) {
	ctx, cancel := context.WithTimeout(s.life, probeLimit)
	defer cancel()
	if err := n.client.Ping(ctx, nil); err != nil && answeredWith(err) == nil && s.life.Err() == nil {
		s.lose(n, errors.New("it does not answer"))
	}
}

// refused is an error that the server itself answers with.
func refused(server string, e *jsonrpc.Error) tools.Result {
	fault := tools.Internal
	switch e.Code {
	case jsonrpc.CodeInvalidParams:
		fault = tools.Validation
	case jsonrpc.CodeMethodNotFound, -32002:
		fault = tools.Missing
	}
	return tools.Refuse(fault, framed(server, "an error", clip(Visible(e.Message), 4<<10)))
}

// tool calls a tool of the server.
func (c *call) tool(ctx context.Context, name string, args json.RawMessage) (tools.Result, error) {
	p := &sdk.CallToolParams{Name: name, Arguments: args}
	p.SetProgressToken(c.token)
	r, err := c.client.CallTool(ctx, p)
	if err != nil {
		return tools.Result{}, err
	}
	return c.result(name, r)
}

// progress shows how far a call is to who looks on.
func (n *session) progress(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
	token, ok := r.Params.ProgressToken.(string)
	n.mu.Lock()
	c := n.calls[token]
	n.mu.Unlock()
	if !ok || c == nil || c.env.Progress == nil {
		return
	}
	far := strconv.FormatFloat(r.Params.Progress, 'g', 6, 64)
	if r.Params.Total > 0 {
		far += " of " + strconv.FormatFloat(r.Params.Total, 'g', 6, 64)
	}
	c.env.Progress(fmt.Sprintf("%s: %s %s", n.server.Name(), far, clip(Visible(r.Params.Message), 200)))
}

// underWay is one of the calls under way; nil where there is none.
func (n *session) underWay() *call {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.calls {
		return c
	}
	return nil
}
