package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
)

// testServer is the MCP server for tests, built once.
var testServer = sync.OnceValues(func() (string, error) {
	at := filepath.Join(built, "mcptest")
	out, err := exec.Command("go", "build", "-o", at, "../../mcp/mcptest").CombinedOutput()
	if err != nil {
		os.Stderr.Write(out) //nolint:errcheck // the error says that it was not built
	}
	return at, err
})

// putServer: `mcptest PATH` puts the MCP server for tests there.
func putServer(ts *testscript.TestScript, neg bool, args []string) {
	from, err := testServer()
	ts.Check(err)
	to := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(to), 0o700))
	data, err := os.ReadFile(from)
	ts.Check(err)
	ts.Check(os.WriteFile(to, data, 0o700))
}

// serveTools: `mcphttp` serves tools over streamable HTTP on loopback to who sends the token, and points TOOLS at it. sessions says
// how many sessions there were.
func serveTools(ts *testscript.TestScript, neg bool, _ []string) {
	var sessions atomic.Int64
	server := sdk.NewServer(&sdk.Implementation{Name: "http", Version: "1"}, &sdk.ServerOptions{
		InitializedHandler: func(context.Context, *sdk.InitializedRequest) { sessions.Add(1) },
	})
	type said struct {
		Text string `json:"text"`
	}
	sdk.AddTool(server, &sdk.Tool{Name: "echo", Description: "Says again what it is told."}, func(_ context.Context, _ *sdk.CallToolRequest, in said) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "echo: " + in.Text}}}, nil, nil
	})
	sdk.AddTool(server, &sdk.Tool{Name: "sessions", Description: "Counts sessions."}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprint("sessions: ", max(1, sessions.Load()))}}}, nil, nil
	})
	inner := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	listening := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer token-0123456789" {
			http.Error(w, "who are you", http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	ts.Defer(listening.Close)
	ts.Setenv("TOOLS", listening.URL)
}
