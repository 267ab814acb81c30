// Package openai speaks Chat Completions, as OpenAI and most other servers do.
package openai

import (
	"context"
	"errors"
	"net/http"
	"time"

	"colony/model"
)

// Parts is what a Client is made of.
type Parts struct {
	BaseURL   string // up to and with /v1
	Key       string // empty where the server wants none
	FirstByte time.Duration
	Idle      time.Duration
	MaxBytes  int64             // of one reply; 0 is 32 MiB
	Transport http.RoundTripper // nil is http.DefaultTransport
}

// Client is a provider. It is safe for concurrent use.
type Client struct{ parts Parts }

// New checks the parts; it sends nothing.
func New(p Parts) (*Client, error) { return &Client{p}, nil }

// Complete sends one request, once.
func (c *Client) Complete(ctx context.Context, req model.Request, show func(model.Delta)) (model.Reply, error) {
	return model.Reply{}, errors.New("not built yet")
}
