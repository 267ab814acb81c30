// Package anthropic speaks Messages, over the official client. A Client sends each request once: whether to send it
// again is the governor's decision.
package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"colony/model"
	"colony/model/wire"
)

// Messages is the name of the wire, in the settings and in what is carried back.
const Messages = "messages"

// Parts is what a Client is made of. Nothing is read from the environment but the proxy to use.
type Parts struct {
	BaseURL   string // with or without /v1
	Key       string
	FirstByte time.Duration                    // from sending to the reply's first byte; above 0
	Idle      time.Duration                    // between two pieces of a reply; above 0
	MaxBytes  int64                            // of one reply; 0 is 32 MiB
	Transport http.RoundTripper                // nil is one that gives up dialling after 4 s
	Blob      func(sha string) ([]byte, error) // the bytes of an image; nil where there are none
}

// Client is a provider. It is safe for concurrent use.
type Client struct {
	parts    wire.Parts
	official bool // the base URL is Anthropic's own
	messages sdk.MessageService
	plain    sync.Map // models that are asked without an effort, since they refused one
}

// New checks the parts. It sends nothing.
func New(p Parts) (*Client, error) {
	shared, err := wire.Parts{
		BaseURL: p.BaseURL, Key: p.Key, FirstByte: p.FirstByte, Idle: p.Idle, MaxBytes: p.MaxBytes, Transport: p.Transport, Blob: p.Blob,
	}.Check()
	if err != nil {
		return nil, err
	}
	base, err := url.Parse(p.BaseURL)
	if err != nil {
		return nil, err
	}
	c := &Client{parts: shared, official: strings.EqualFold(base.Hostname(), "api.anthropic.com")}
	c.messages = sdk.NewMessageService(c.options()...)
	return c, nil
}

func (c *Client) options() []option.RequestOption {
	options := []option.RequestOption{
		option.WithBaseURL(strings.TrimSuffix(strings.TrimRight(c.parts.BaseURL, "/"), "/v1") + "/"),
		option.WithHTTPClient(c.parts.Client()),
		option.WithMaxRetries(0),
		option.WithoutOpenTelemetry(),
	}
	if c.parts.Key != "" {
		options = append(options, option.WithAPIKey(c.parts.Key), option.WithHeader("X-Api-Key", c.parts.Key))
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
	body, err := c.asked(req, names)
	if err != nil {
		return model.Reply{}, err
	}
	x := wire.Begin(ctx, c.parts)
	defer x.Stop()
	got := &reply{Heard: x.Hear(show), model: req.Model}
	stream := c.messages.NewStreaming(x.Context, sdk.MessageNewParams{}, option.WithRequestBody("application/json", body), option.WithMiddleware(x.Round))
	defer stream.Close()
	for stream.Next() {
		got.add(stream.Current())
	}
	if got.Reason == "" {
		got.Failed = firstFailure(got.Failed, toldWithin(stream.Err()))
	}
	out, err := x.Finish(req, got.finish(names), got.Heard, stream.Err())
	return out, c.learn(req, err)
}

func firstFailure(a, b *model.Error) *model.Error {
	if a != nil {
		return a
	}
	return b
}

// learn remembers that a model refused to be told how much to think, and lets the request be sent again without.
func (c *Client) learn(req model.Request, err error) error {
	var e *model.Error
	if req.Effort == "" || !errors.As(err, &e) || e.Kind != model.BadRequest || !names(e.Text, "effort", "thinking", "output_config") {
		return err
	}
	if _, known := c.plain.LoadOrStore(req.Model, true); !known {
		e.Again = true
	}
	return err
}

func names(text string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(strings.ToLower(text), w) {
			return true
		}
	}
	return false
}

// toldWithin is what broke a stream, where the server that began the reply reports it there; nil where it does not.
func toldWithin(err error) *model.Error {
	if err == nil {
		return nil
	}
	raw := ""
	var said *sdk.Error
	if errors.As(err, &said) {
		raw = said.RawJSON()
	} else if _, told, ok := strings.Cut(err.Error(), "received error while streaming: "); ok {
		raw = told
	} else {
		return nil
	}
	var event struct {
		Error json.RawMessage `json:"error"`
	}
	_ = json.Unmarshal([]byte(raw), &event) // what is no JSON has no fields
	message, code := wire.Reason(event.Error)
	return wire.Within(code, wire.FirstOf(message, raw))
}

var _ model.Provider = (*Client)(nil)
