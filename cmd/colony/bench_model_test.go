package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// benchReply is what the model of a measurement does with a request: a status, or a call, or nothing at all.
type benchReply struct {
	status int
	tool   string // empty: no answer until the request is given up
	args   string
}

// benchScript is the reply to the request that is the nth, counted from 1.
type benchScript func(n int) benchReply

func refuseAll(int) benchReply { return benchReply{status: http.StatusUnauthorized} }

// readAndRun reads a file and runs a command in turn, and then ends. No two calls are alike, so that none is a circle.
func readAndRun(n int) benchReply {
	switch {
	case n > 2*benchTurns:
		return benchReply{tool: "done", args: `{"outcome":"no_change","summary":"nothing was to do"}`}
	case n%2 == 1:
		return benchReply{tool: "read", args: fmt.Sprintf(`{"path":"pkg/file%02d.txt"}`, n/2)}
	}
	return benchReply{tool: "sh", args: fmt.Sprintf(`{"command":"true %s"}`, letters(n/2))}
}

// letters are a number in letters.
func letters(n int) string { return string([]byte{'a' + byte(n/26), 'a' + byte(n%26)}) }

// silentAfter answers the first request where others wait for it, and then none.
func silentAfter(ants int) benchScript {
	return func(n int) benchReply {
		if n == 1 && ants > 1 {
			return benchReply{tool: "read", args: `{"path":"pkg/file00.txt"}`}
		}
		return benchReply{}
	}
}

// benchModel serves Chat Completions and notes when requests came and when replies were about to end.
type benchModel struct {
	*httptest.Server
	script benchScript

	mu     sync.Mutex // guards what follows
	visits []benchVisit
	silent int           // requests that wait
	moved  chan struct{} // closed and replaced when one of these changes
}

type benchVisit struct {
	arrived, ended time.Time
	tool           string
	bytes          int64
}

func serveBench(script benchScript) *benchModel {
	m := &benchModel{script: script, moved: make(chan struct{})}
	m.Server = httptest.NewServer(m)
	return m
}

func (m *benchModel) change(what func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	what()
	close(m.moved)
	m.moved = make(chan struct{})
}

func (m *benchModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	arrived := time.Now()
	n := 0
	m.change(func() {
		m.visits = append(m.visits, benchVisit{arrived: arrived})
		n = len(m.visits)
	})
	size, _ := io.Copy(io.Discard, r.Body) // a request that breaks off is noticed below
	m.change(func() { m.visits[n-1].bytes = size })
	reply := m.script(n)
	switch {
	case reply.status != 0:
		http.Error(w, `{"error":{"message":"no"}}`, reply.status)
	case reply.tool == "":
		m.change(func() { m.silent++ })
		<-r.Context().Done()
	default:
		m.say(w, n, reply)
	}
}

// say streams a call. The moment before the last bytes leave is the reply's end.
func (m *benchModel) say(w http.ResponseWriter, n int, reply benchReply) {
	call, _ := json.Marshal([]any{map[string]any{"index": 0, "id": fmt.Sprint("call_", n), "type": "function",
		"function": map[string]string{"name": reply.tool, "arguments": reply.args}}})
	w.Header().Set("Content-Type", "text/event-stream")
	chunk := func(choices, usage string) {
		fmt.Fprintf(w, `data: {"id":"c%d","object":"chat.completion.chunk","created":1,"model":"any","choices":[%s],"usage":%s}`+"\n\n", n, choices, usage)
	}
	chunk(fmt.Sprintf(`{"index":0,"delta":{"role":"assistant","tool_calls":%s}}`, call), "null")
	chunk(`{"index":0,"delta":{},"finish_reason":"tool_calls"}`, "null")
	chunk("", `{"prompt_tokens":1000,"completion_tokens":20,"total_tokens":1020}`)
	_ = http.NewResponseController(w).Flush() // the reader may have gone
	m.change(func() { m.visits[n-1].ended, m.visits[n-1].tool = time.Now(), reply.tool })
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

// own is the time from a reply's end to the next request, by the tool that the reply called.
func (m *benchModel) own() map[string]sample {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := map[string]sample{}
	for i, v := range m.visits[1:] {
		last := m.visits[i]
		all[last.tool] = append(all[last.tool], v.arrived.Sub(last.ended))
	}
	return all
}

// until waits until what holds, for benchLimit at most. What is called with the lock held.
func (m *benchModel) until(b *testing.B, ended <-chan struct{}, what func() bool) {
	late := time.After(benchLimit)
	for {
		m.mu.Lock()
		ok, moved := what(), m.moved
		m.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-moved:
		case <-ended:
			b.Fatal("colony ended before the request came")
		case <-late:
			b.Fatal("the request did not come in time")
		}
	}
}
