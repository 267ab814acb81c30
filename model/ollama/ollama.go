// Package ollama speaks Ollama's own chat, which alone lets a client say how large the context is to be. A Client sends
// each request once: whether to send it again is the governor's decision.
package ollama

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"colony/model"
	"colony/model/wire"
	"colony/tools"
)

// Parts is what a Client is made of. Nothing is read from the environment but the proxy to use.
type Parts struct {
	BaseURL   string // with or without /v1
	Key       string
	Window    int                              // tokens of context that are asked for; 0 leaves it to the server
	FirstByte time.Duration                    // from sending to the reply's first byte; above 0
	Idle      time.Duration                    // between two pieces of a reply; above 0
	MaxBytes  int64                            // of one reply; 0 is 32 MiB
	Transport http.RoundTripper                // nil is one that gives up dialling after 4 s
	Blob      func(sha string) ([]byte, error) // the bytes of an image; nil where there are none
}

// Client is a provider. It is safe for concurrent use.
type Client struct {
	parts  wire.Parts
	base   string
	window int
	client *http.Client
	plain  sync.Map // models that are asked without an effort, since they refused one
}

// New checks the parts. It sends nothing.
func New(p Parts) (*Client, error) {
	shared, err := wire.Parts{
		BaseURL: p.BaseURL, Key: p.Key, FirstByte: p.FirstByte, Idle: p.Idle, MaxBytes: p.MaxBytes, Transport: p.Transport, Blob: p.Blob,
	}.Check()
	if err != nil {
		return nil, err
	}
	if p.Window < 0 {
		return nil, fmt.Errorf("set up the model client: the window must not be below 0")
	}
	return &Client{parts: shared, base: strings.TrimSuffix(strings.TrimRight(p.BaseURL, "/"), "/v1"), window: p.Window, client: shared.Client()}, nil
}

// Complete sends the request once and streams the reply. Where the reply is cut, what arrived is returned
// with the error; a call that did not arrive whole is not part of it.
func (c *Client) Complete(ctx context.Context, req model.Request, show func(model.Delta)) (model.Reply, error) {
	names, err := wire.NameTools(req)
	if err != nil {
		return model.Reply{}, err
	}
	body, err := c.asked(req, names)
	if err != nil {
		return model.Reply{}, err
	}
	x := wire.Begin(ctx, c.parts)
	defer x.Stop()
	got := &reply{Heard: x.Hear(show), names: names}
	ended := c.stream(x, body, got)
	if got.Reason == wire.Cut {
		got.calls = slices.DeleteFunc(got.calls, func(c tools.Call) bool { return !json.Valid(c.Args) }) // a half one
	}
	out := got.As(got.calls, nil)
	names.Recover(&out)
	out, err = x.Finish(req, out, got.Heard, ended)
	var e *model.Error
	if errors.As(err, &e) && e.Kind == model.BadRequest && req.Effort != "" && strings.Contains(e.Text, "think") {
		_, known := c.plain.LoadOrStore(req.Model, true)
		e.Again = !known
	}
	return out, err
}

// stream sends the request and reads line by line. Its error is what ended the stream.
func (c *Client) stream(x *wire.Exchange, body []byte, got *reply) error {
	req, err := http.NewRequestWithContext(x.Context, http.MethodPost, c.base+"/api/chat", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if c.parts.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.parts.Key)
	}
	resp, err := x.Round(req, c.client.Do)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	for {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 && got.Reason == "" && got.Failed == nil {
			if bad := got.add(line); bad != nil {
				return bad
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// reply gathers a streamed reply.
type reply struct {
	*wire.Heard
	names *wire.Names
	calls []tools.Call
	ids   wire.IDs
}

// chunk is a line of a reply.
type chunk struct {
	Error   string `json:"error"`
	Message struct {
		Content  string `json:"content"`
		Thinking string `json:"thinking"`
		Calls    []struct {
			ID       string `json:"id"`
			Function struct {
				Name string          `json:"name"`
				Args json.RawMessage `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"message"`
	Done   bool   `json:"done"`
	Reason string `json:"done_reason"`
	Input  int64  `json:"prompt_eval_count"`
	Output int64  `json:"eval_count"`
}

func (r *reply) add(line []byte) error {
	var c chunk
	if err := json.Unmarshal(line, &c); err != nil {
		return fmt.Errorf("a line of the reply is no JSON: %w", err)
	}
	if c.Error != "" {
		r.Failed = wire.Within("", c.Error)
		return nil
	}
	r.Begin()
	r.Say(c.Message.Content)
	r.Think(c.Message.Thinking)
	for _, one := range c.Message.Calls {
		args := string(one.Function.Args)
		var text string
		if json.Unmarshal(one.Function.Args, &text) == nil { // some templates write them as a text
			args = text
		}
		if r.ids == nil {
			r.ids = wire.IDs{}
		}
		r.Bytes += len(one.Function.Name) + len(args)
		r.calls = append(r.calls, tools.Call{ID: r.ids.Give(one.ID, len(r.calls)), Name: r.names.Tool(one.Function.Name), Args: wire.ArgsOf(args)})
	}
	if !c.Done {
		return nil
	}
	r.Usage = wire.UsageWithin(c.Input, 0, 0, c.Output, 0)
	r.Reason = wire.Stopped
	if c.Reason == "length" {
		r.Reason = wire.Cut
	}
	return nil
}

var _ model.Provider = (*Client)(nil)
