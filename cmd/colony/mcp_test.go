package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

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

const loadScenario = `name: any
cards:
  talker:
    a:
      - calls: [{tool: tool_search, args: {query: "select:mcp__demo__sleep"}}]
      - calls: [{tool: mcp__demo__echo, args: {text: x}}, {tool: mcp__demo__sleep, args: {ms: 1}}]
      - calls: [{tool: mcp__demo__echo, args: {text: x}}]
      - calls: [{tool: done, args: {outcome: no_change, summary: talked}}]
    b:
      - calls: [{tool: mcp__demo__count, args: {}}]
      - calls: [{tool: done, args: {outcome: no_change, summary: talked}}]
`

// Contracts 11 and 12, on the wire: what is loaded is appended to the tools of its ant alone, and never moved; the prefix of two ants
// is one.
func TestLoadedToolsAreAppended(t *testing.T) {
	w := newCanaryWorld(t, loadScenario)
	from, err := testServer()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	w.put("home/bin/mcptest", string(data))
	if err := os.Chmod(filepath.Join(w.dir, "home/bin/mcptest"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.put("home/.config/colony/mcp.json", `{"mcpServers": {"demo": {"command": "${HOME}/bin/mcptest"}}}`)
	w.put("home/.config/colony/cards/talker.yaml", "name: talker\ndescription: Talks.\nprompt: Talk.\ntools: [tool_search, \"mcp__demo__*\", done]\n"+
		"mcp: {servers: [demo], always: [mcp__demo__count]}\npermissions: {allow: [\"mcp__*\"]}\n")
	w.put("plan.yaml", "tasks: [{id: a, title: A, prompt: A.}, {id: b, title: B, prompt: B., needs: [a]}]\n")
	w.run("colony", "run", "-f", filepath.Join(w.dir, "plan.yaml"), "--card", "talker", "--model", "openai/any", "--gate", "true", "--run-id", "r-load")
	var wire []string
	for _, r := range w.server.Received() {
		var body struct {
			Tools []struct{ Function struct{ Name string } }
		}
		if err := json.Unmarshal(r.Body, &body); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range body.Tools {
			names = append(names, tool.Function.Name)
		}
		wire = append(wire, strings.Join(names, " "))
	}
	const first = "done mcp__demo__count tool_search"
	want := []string{first, first + " mcp__demo__sleep", first + " mcp__demo__sleep mcp__demo__echo", first + " mcp__demo__sleep mcp__demo__echo", first, first}
	if strings.Join(wire, "\n") != strings.Join(want, "\n") {
		t.Errorf("on the wire:\n%s\nwant:\n%s", strings.Join(wire, "\n"), strings.Join(want, "\n"))
	}
}
