package mcp_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"colony/mcp"
	"colony/tools"
)

func reached(url string) func(*mcp.Parts) {
	return func(p *mcp.Parts) {
		p.Entry.Command, p.Entry.Args, p.Entry.URL, p.Client = "", nil, url, &http.Client{}
	}
}

// A token goes to its own origin alone, wherever that sends its requests.
func TestTokenStaysAtItsOrigin(t *testing.T) {
	var seen, here atomic.Value
	seen.Store("")
	here.Store("")
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Store(r.Header.Get("Authorization") + r.Header.Get("X-Key"))
		http.Error(w, "no", http.StatusNotFound)
	}))
	defer other.Close()
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		here.Store(r.Header.Get("Authorization") + r.Header.Get("X-Key"))
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	defer first.Close()
	e, err := mcp.Entry{Name: "t", URL: first.URL, Bearer: "T", Headers: map[string]string{"X-Key": "${K}"}}.Expand(func(name string) string { return "value-of-" + name })
	if err != nil {
		t.Fatal(err)
	}
	p, _ := parts(t)
	p.Entry, p.Client = e, &http.Client{}
	s, err := mcp.New(p)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Open(t.Context()); err == nil {
		t.Error("it opened")
	}
	if here.Load() != "Bearer value-of-Tvalue-of-K" || seen.Load() != "" {
		t.Errorf("its own origin saw %q, another one %q", here.Load(), seen.Load())
	}
}

func TestAnswersOverHTTPAreBounded(t *testing.T) {
	flood := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":"`) //nolint:errcheck // the reader goes
		for range 64 {
			if _, err := io.WriteString(w, strings.Repeat("x", 1<<20)); err != nil {
				return
			}
		}
	}))
	defer flood.Close()
	p, _ := parts(t)
	reached(flood.URL)(&p)
	p.Limits.Start = 5 * time.Second
	s, err := mcp.New(p)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Open(t.Context()); err == nil {
		t.Error("it opened")
	}
}

// A connection that breaks in a call costs that call alone.
func TestConnectionBreaksInACall(t *testing.T) {
	server := sdk.NewServer(&sdk.Implementation{Name: "http", Version: "1"}, nil)
	begun, over := make(chan struct{}, 8), make(chan struct{})
	sdk.AddTool(server, &sdk.Tool{Name: "wait", Description: "Waits."}, func(ctx context.Context, _ *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		begun <- struct{}{}
		select {
		case <-ctx.Done():
		case <-over:
		}
		return nil, nil, errors.New("it was never to answer")
	})
	sdk.AddTool(server, &sdk.Tool{Name: "now", Description: "Answers."}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "here"}}}, nil, nil
	})
	listening := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	t.Cleanup(listening.Close)
	t.Cleanup(func() { close(over) })
	w := newWorld(t, func(p *mcp.Parts) { reached(listening.URL)(p); p.Limits.Call = 8 * time.Second })
	w.says(w.call("now", `{}`), "", "here")
	came := make(chan tools.Result, 1)
	go func() { came <- w.call("wait", `{}`) }()
	<-begun
	listening.CloseClientConnections()
	r := <-came
	if r.Fault != tools.Transient && r.Fault != tools.Timeout {
		t.Errorf("%q: %s", r.Fault, r.Text)
	}
	w.says(w.call("now", `{}`), "", "here")
}
