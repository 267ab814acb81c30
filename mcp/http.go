package mcp

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// reach is how a server is spoken to that has a URL. client decides on every connection and redirect.
func reach(e Entry, client *http.Client) (*kept, error) {
	at, err := e.address()
	if err != nil {
		return nil, err
	}
	own := *client
	next := client.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	header := http.Header{}
	for name, value := range e.Headers {
		header.Set(name, value)
	}
	own.Transport = &visit{origin: at.Scheme + "://" + at.Host, header: header, next: next}
	return &kept{Transport: &sdk.StreamableClientTransport{Endpoint: e.URL, HTTPClient: &own, MaxRetries: 2, MaxEventSize: maxMessage}}, nil
}

// kept is a transport that can end its connection, whatever waits for it.
type kept struct {
	sdk.Transport
	mu   sync.Mutex // guards conn
	conn sdk.Connection
}

// Connect connects.
func (k *kept) Connect(ctx context.Context) (sdk.Connection, error) {
	conn, err := k.Transport.Connect(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.conn = conn
	return conn, err
}

// Close ends the connection, where there is one.
func (k *kept) Close() error {
	k.mu.Lock()
	conn := k.conn
	k.mu.Unlock()
	if conn == nil {
		return nil
	}
	return conn.Close()
}

// visit adds the server's headers to requests of its own origin alone, and bounds what it answers.
type visit struct {
	origin string
	header http.Header
	next   http.RoundTripper
}

// RoundTrip sends one request.
func (v *visit) RoundTrip(req *http.Request) (*http.Response, error) {
	if strings.EqualFold(req.URL.Scheme+"://"+req.URL.Host, v.origin) {
		req = req.Clone(req.Context())
		for name, values := range v.header {
			req.Header[name] = values
		}
	}
	resp, err := v.next.RoundTrip(req)
	if err == nil && !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		resp.Body = &short{ReadCloser: resp.Body, left: maxMessage}
	}
	return resp, err
}

// short is a body of which no more is read than may be.
type short struct {
	io.ReadCloser
	left int
}

// Read reads on, or says that it was enough.
func (s *short) Read(p []byte) (int, error) {
	if s.left <= 0 {
		return 0, fmt.Errorf("the answer is larger than %d MiB and was not taken", maxMessage>>20)
	}
	n, err := s.ReadCloser.Read(p[:min(len(p), s.left)])
	s.left -= n
	return n, err
}
