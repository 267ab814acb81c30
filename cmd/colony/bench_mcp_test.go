package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"colony/event"
)

// How much of a server of many tools is measured.
const (
	benchTools    = 5000
	benchSearches = 30
)

// searches looks for tools, each time for others, and then ends.
func searches(n int) benchReply {
	if n > benchSearches {
		return benchReply{tool: "done", args: `{"outcome":"no_change","summary":"nothing was to do"}`}
	}
	return benchReply{tool: "tool_search", args: fmt.Sprintf(`{"query":"do the thing number %d to an invoice of a calendar"}`, 37*n)}
}

// measureServers is what a server of 5,000 tools costs over its standard streams: until the first request, in it, and in a search.
func measureServers(b *testing.B, w *benchWorld, t *figures) {
	server := filepath.Join(w.home, "mcptest")
	if out, err := exec.Command("go", "build", "-o", server, "../../mcp/mcptest").CombinedOutput(); err != nil {
		b.Fatalf("build the server for tests: %v: %s", err, out)
	}
	w.write(b, "home/.config/colony/mcp.json", fmt.Sprintf(`{"mcpServers": {"many": {"command": %q, "args": ["tools=%d"]}}}`, server, benchTools))
	card := "name: %s\ndescription: Measures.\nprompt: Measure.\ntools: [read, tool_search, \"mcp__many__*\", done]\n%s"
	w.write(b, "home/.config/colony/cards/served.yaml", fmt.Sprintf(card, "served", "mcp: {servers: [many]}\n"))
	w.write(b, "home/.config/colony/cards/alone0.yaml", fmt.Sprintf(card, "alone0", ""))
	first := func(run *benchRun) int64 {
		run.model.mu.Lock()
		defer run.model.mu.Unlock()
		return run.model.visits[0].bytes
	}
	alone := w.start(b, refuseAll, w.plan(b, 1), "--card", "alone0")
	alone.wait(b)
	var starts sample
	for i := range 6 {
		began := time.Now()
		run := w.start(b, refuseAll, w.plan(b, 1), "--card", "served")
		at := run.request(b, 1)
		run.wait(b)
		if i > 0 { // the first one warms up
			starts = append(starts, at.Sub(began))
		}
	}
	t.times(fmt.Sprintf("exec to first request, %d tools of a server", benchTools), starts, "5000")
	run := w.start(b, searches, w.plan(b, 1), "--card", "served")
	run.wait(b)
	grown := fmt.Sprint(first(run) - first(alone))
	t.rows = append(t.rows, []string{fmt.Sprintf("the first request grows by, %d tools", benchTools), "1", grown, "", "", "B", "2048"})
	t.times("tool_search", w.took(b, "tool_search"), "20")
	t.times("own time of a turn with a tool_search", run.model.own()["tool_search"], "")
}

// took is how long calls of a tool took in the last run.
func (w *benchWorld) took(b *testing.B, tool string) (all sample) {
	for e, err := range w.last(b).Events(b.Context()) {
		if err != nil {
			b.Fatal(err)
		}
		if done, ok := e.Body.(event.ToolDone); ok && done.Tool == tool {
			if done.Fault != "" {
				b.Fatalf("%s came to %s: %s", tool, done.Fault, done.Text)
			}
			all = append(all, time.Duration(done.Ms)*time.Millisecond)
		}
	}
	return all
}
