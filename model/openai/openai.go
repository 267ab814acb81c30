// Package openai speaks Chat Completions, as most servers do, and Responses, as OpenAI itself prefers. A Client
// sends each request once: whether to send it again is the governor's decision.
package openai

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"

	"colony/model"
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
	BaseURL   string            // up to and with /v1
	Wire      Wire              // empty is by address
	Key       string            // empty where the server wants none
	FirstByte time.Duration     // from sending to the reply's first byte; above 0
	Idle      time.Duration     // between two pieces of a reply; above 0
	MaxBytes  int64             // of one reply; 0 is 32 MiB
	Transport http.RoundTripper // nil is one that gives up dialling after 4 s
}

// Client is a provider. It is safe for concurrent use.
type Client struct {
	parts     Parts
	official  bool // the base URL is OpenAI's own
	chat      sdk.ChatCompletionService
	responses responses.ResponseService
}

// New checks the parts. It sends nothing.
func New(p Parts) (*Client, error) {
	base, err := url.Parse(p.BaseURL)
	switch {
	case err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https"):
		return nil, fmt.Errorf("set up the model client: base URL %q is not like http://host/v1", p.BaseURL)
	case base.User != nil:
		return nil, fmt.Errorf("set up the model client: the base URL names a user: put the key into the environment")
	case p.FirstByte <= 0 || p.Idle <= 0:
		return nil, fmt.Errorf("set up the model client: both time limits must be above 0")
	case strings.ContainsAny(p.Key, "\r\n\x00"):
		return nil, fmt.Errorf("set up the model client: the key holds a line break")
	case p.Wire != "" && p.Wire != Chat && p.Wire != Responses:
		return nil, fmt.Errorf("set up the model client: the wire %q is not chat or responses", p.Wire)
	}
	p.MaxBytes = cmp.Or(p.MaxBytes, 32<<20)
	if p.Transport == nil {
		p.Transport = transport()
	}
	c := &Client{parts: p, official: official(base.Hostname())}
	if c.parts.Wire == "" {
		c.parts.Wire = Chat
		if c.official {
			c.parts.Wire = Responses
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
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	options := []option.RequestOption{
		option.WithBaseURL(strings.TrimRight(c.parts.BaseURL, "/") + "/"),
		option.WithHTTPClient(&http.Client{Transport: c.parts.Transport, CheckRedirect: noRedirect}),
		option.WithMaxRetries(0),
	}
	if c.parts.Key != "" {
		options = append(options, option.WithAPIKey(c.parts.Key))
	}
	return options
}

func transport() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: 4 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	t.TLSHandshakeTimeout = 4 * time.Second
	t.MaxIdleConnsPerHost = 256
	return t
}

// Complete sends the request once and streams the reply. Where the reply is cut, what arrived is returned
// with the error; a call that did not arrive whole is not part of it.
func (c *Client) Complete(ctx context.Context, req model.Request, show func(model.Delta)) (model.Reply, error) {
	names, err := nameTools(req)
	if err != nil {
		return model.Reply{}, err
	}
	w := watch(ctx, c.parts)
	defer w.stop()
	got := &heard{show: show, pace: w.pace}
	talk, err := c.open(w.ctx, req, names, got, option.WithMiddleware(w.round))
	if err != nil {
		return model.Reply{}, err
	}
	out, err := talk()
	c.forget(&out.Message)
	out.FirstByte, out.Elapsed, out.Limits = w.firstByte, time.Since(w.begun), w.limits
	if w.sent() {
		out.Usage, out.Estimated = completed(out.Usage, req, got.bytes)
	}
	if err := c.failure(ctx, w, err, got); err != nil {
		out.Message.Calls, out.Message.Opaque, out.Finish = nil, nil, ""
		return out, err
	}
	return out, nil
}

// forget takes the key out of what a server says: it knows the key, and could have it written into the log or a file.
func (c *Client) forget(m *model.Message) {
	if len(c.parts.Key) < shortestKey {
		return
	}
	m.Text = strings.ReplaceAll(m.Text, c.parts.Key, "[secret]")
	m.Opaque = bytes.ReplaceAll(m.Opaque, []byte(c.parts.Key), []byte("[secret]"))
	for i := range m.Calls {
		call := &m.Calls[i]
		call.ID, call.Name = strings.ReplaceAll(call.ID, c.parts.Key, "[secret]"), strings.ReplaceAll(call.Name, c.parts.Key, "[secret]")
		call.Args = bytes.ReplaceAll(call.Args, []byte(c.parts.Key), []byte("[secret]"))
	}
}

// shortestKey is the length from which a key is one, and not a word that any text may hold.
const shortestKey = 8

// open prepares the exchange in the client's wire. What it returns carries it out, and returns what arrived with the
// error that ended the stream.
func (c *Client) open(ctx context.Context, req model.Request, names *nameTable, got *heard, opt option.RequestOption) (func() (model.Reply, error), error) {
	if c.parts.Wire == Responses {
		body, err := c.asked(req, names)
		if err != nil {
			return nil, err
		}
		r := &response{heard: got, model: req.Model}
		return func() (model.Reply, error) {
			send := option.WithRequestBody("application/json", body)
			err := each(c.responses.NewStreaming(ctx, responses.ResponseNewParams{}, send, opt), r.add)
			return r.finish(names), err
		}, nil
	}
	params, err := c.params(req, names)
	if err != nil {
		return nil, err
	}
	r := &reply{heard: got}
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

// completed is the usage with a guess for what the server did not count.
func completed(u model.Usage, req model.Request, bytes int) (model.Usage, bool) {
	guessed := u.Input() == 0 || (u.Output == 0 && bytes > 0)
	if u.Input() == 0 {
		u.Fresh = model.EstimateTokens(req.Bytes())
	}
	if u.Output == 0 {
		u.Output = model.EstimateTokens(bytes)
	}
	return u, guessed
}

var _ model.Provider = (*Client)(nil)
