// Package openai speaks Chat Completions, as most servers do, and Responses, as OpenAI itself prefers. A Client
// sends each request once: whether to send it again is the governor's decision.
package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"

	"colony/model"
	"colony/model/wire"
)

// Wire is the format in which a server is spoken to.
type Wire string

// The wires. The empty one is chosen by address: Responses for OpenAI's own endpoint, Chat for every other.
const (
	Chat      Wire = "chat"
	Responses Wire = "responses"
)

// Parts is what a Client is made of. Nothing is read from the environment but the proxy to use.
type Parts struct {
	BaseURL   string                           // up to and with /v1
	Wire      Wire                             // empty is by address
	Key       string                           // empty where the server wants none
	FirstByte time.Duration                    // from sending to the reply's first byte; above 0
	Idle      time.Duration                    // between two pieces of a reply; above 0
	MaxBytes  int64                            // of one reply; 0 is 32 MiB
	Transport http.RoundTripper                // nil is one that gives up dialling after 4 s
	Blob      func(sha string) ([]byte, error) // the bytes of an image; nil where there are none
}

// Client is a provider. It is safe for concurrent use.
type Client struct {
	parts     wire.Parts
	wire      Wire
	official  bool // the base URL is OpenAI's own
	chat      sdk.ChatCompletionService
	responses responses.ResponseService
	mu        sync.Mutex        // guards learned
	learned   map[string]quirks // by model
}

// New checks the parts. It sends nothing.
func New(p Parts) (*Client, error) {
	shared, err := wire.Parts{
		BaseURL: p.BaseURL, Key: p.Key, FirstByte: p.FirstByte, Idle: p.Idle, MaxBytes: p.MaxBytes, Transport: p.Transport, Blob: p.Blob,
	}.Check()
	if err != nil {
		return nil, err
	}
	if p.Wire != "" && p.Wire != Chat && p.Wire != Responses {
		return nil, fmt.Errorf("set up the model client: the wire %q is not chat or responses", p.Wire)
	}
	base, err := url.Parse(p.BaseURL)
	if err != nil {
		return nil, err
	}
	c := &Client{parts: shared, wire: p.Wire, official: official(base.Hostname()), learned: map[string]quirks{}}
	if c.wire == "" {
		c.wire = Chat
		if c.official {
			c.wire = Responses
		}
	}
	c.chat = sdk.NewChatCompletionService(c.options()...)
	c.responses = responses.NewResponseService(c.options()...)
	return c, nil
}

// official reports whether a host is OpenAI's own endpoint, of whatever region.
func official(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "api.openai.com" || strings.HasSuffix(host, ".api.openai.com")
}

func (c *Client) options() []option.RequestOption {
	options := []option.RequestOption{
		option.WithBaseURL(strings.TrimRight(c.parts.BaseURL, "/") + "/"),
		option.WithHTTPClient(c.parts.Client()),
		option.WithMaxRetries(0),
	}
	if c.parts.Key != "" {
		options = append(options, option.WithAPIKey(c.parts.Key))
	}
	return options
}

// Complete sends the request once and streams the reply. Where the reply is cut, what arrived is returned
// with the error; a call that did not arrive whole is not part of it.
func (c *Client) Complete(ctx context.Context, req model.Request, show func(model.Delta)) (model.Reply, error) {
	names, err := wire.NameTools(req)
	if err != nil {
		return model.Reply{}, err
	}
	known, limits := c.of(req.Model), c.parts
	if known.flat {
		limits.FirstByte = max(limits.FirstByte, wholeReply)
	}
	x := wire.Begin(ctx, limits)
	defer x.Stop()
	got := x.Hear(show)
	if known.noEffort {
		req.Effort = ""
	}
	talk, err := c.open(x.Context, req, names, got, known, x.Round)
	if err != nil {
		return model.Reply{}, err
	}
	out, err := talk()
	if got.Reason == "" {
		got.Failed = cmp.Or(got.Failed, toldWithin(err))
	}
	if !c.official {
		names.Recover(&out)
	}
	out, err = x.Finish(req, out, got, err)
	return out, c.learn(req.Model, known, err)
}

// toldWithin is what broke a stream, where the server that began the reply reports it there; nil where it does not.
func toldWithin(err error) *model.Error {
	var said *ssestream.StreamError
	if !errors.As(err, &said) {
		return nil
	}
	var event struct {
		Error json.RawMessage `json:"error"`
	}
	_ = json.Unmarshal(said.Event.Data, &event) // what is no JSON has no fields
	message, code := wire.Reason(event.Error)
	return wire.Within(code, wire.FirstOf(message, said.Message))
}

// open prepares the exchange in the client's wire. What it returns carries it out, and returns what arrived with the
// error that ended the stream.
func (c *Client) open(ctx context.Context, req model.Request, names *wire.Names, got *wire.Heard, known quirks, round option.Middleware) (func() (model.Reply, error), error) {
	spoken := c.wire == Responses && !known.chat
	opt := option.WithMiddleware(capture(known.flat, spoken), round)
	if spoken {
		body, err := c.asked(req, names, known)
		if err != nil {
			return nil, err
		}
		r := &response{Heard: got, model: req.Model, named: c.compares(req.Model, known)}
		return func() (model.Reply, error) {
			send := option.WithRequestBody("application/json", body)
			err := each(c.responses.NewStreaming(ctx, responses.ResponseNewParams{}, send, opt), r.add)
			return r.finish(names), err
		}, nil
	}
	params, err := c.params(req, names, known)
	if err != nil {
		return nil, err
	}
	r := &reply{Heard: got}
	return func() (model.Reply, error) {
		err := each(c.chat.NewStreaming(ctx, params, opt), r.add)
		return r.finish(names), err
	}, nil
}

// each hands on what streams in, until the stream ends.
func each[T any](stream *ssestream.Stream[T], add func(T)) error {
	defer stream.Close()
	for stream.Next() {
		add(stream.Current())
	}
	return stream.Err()
}

var _ model.Provider = (*Client)(nil)
