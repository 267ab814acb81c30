// Command mcptest is a server for tests, over its standard streams: well-behaved, but for what its arguments ask of it. It shares
// no code with the client, so that the two agree on the protocol alone.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

func main() {
	s := &server{args: os.Args[1:], waiting: map[string]chan json.RawMessage{}, cancelled: map[string]chan struct{}{}}
	if s.has("banner") {
		fmt.Println("Welcome to the server, version 1")
	}
	if s.has("stderr") {
		fmt.Fprintln(os.Stderr, strings.Repeat("noise ", 256<<10/6))
	}
	if s.has("broken") {
		fmt.Fprintln(os.Stderr, "cannot find my own feet")
		os.Exit(3)
	}
	if s.has("hang") {
		time.Sleep(time.Hour)
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(line, &m) != nil {
			continue
		}
		if s.has("deaf") && m.Method == "tools/call" {
			for i := range 400 {
				if s.has("pings") { // whose answers it does not read
					s.send(object{"jsonrpc": "2.0", "id": fmt.Sprint(i, strings.Repeat("x", 1000)), "method": "ping"})
				}
			}
			time.Sleep(time.Hour)
		}
		go s.take(m)
	}
}

// message is any message of JSON-RPC.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
}

type object = map[string]any

// server is the state of the one session.
type server struct {
	args []string

	mu        sync.Mutex // guards what follows, and writing
	waiting   map[string]chan json.RawMessage
	cancelled map[string]chan struct{}
	asked     int
	grown     bool
	calls     int
	atOnce    int
	most      int
}

func (s *server) has(word string) bool { return slices.Contains(s.args, word) }

// value is what stands behind word= in the arguments.
func (s *server) value(word string) string {
	for _, arg := range s.args {
		if v, ok := strings.CutPrefix(arg, word+"="); ok {
			return v
		}
	}
	return ""
}

func (s *server) send(v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	os.Stdout.Write(append(data, '\n')) //nolint:errcheck // nobody is left to tell
}

func (s *server) answer(id json.RawMessage, result any) {
	s.send(object{"jsonrpc": "2.0", "id": id, "result": result})
}

func (s *server) refuse(id json.RawMessage, code int, text string) {
	s.send(object{"jsonrpc": "2.0", "id": id, "error": object{"code": code, "message": text}})
}

func (s *server) notify(method string, params any) {
	s.send(object{"jsonrpc": "2.0", "method": method, "params": params})
}

// ask asks the client and waits for its answer.
func (s *server) ask(method string, params any) string {
	s.mu.Lock()
	s.asked++
	id := fmt.Sprintf("q%d", s.asked)
	answer := make(chan json.RawMessage, 1)
	s.waiting[`"`+id+`"`] = answer
	s.mu.Unlock()
	s.send(object{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	select {
	case r := <-answer:
		return string(r)
	case <-time.After(time.Minute):
		return "no answer"
	}
}

func (s *server) take(m message) {
	if m.Method == "" {
		s.mu.Lock()
		answer := s.waiting[string(m.ID)]
		s.mu.Unlock()
		if answer != nil {
			answer <- m.Result
		}
		return
	}
	switch m.Method {
	case "initialize":
		s.answer(m.ID, object{
			"protocolVersion": "2025-06-18", "serverInfo": object{"name": "mcptest", "version": "1"},
			"capabilities": object{"tools": object{"listChanged": true}, "resources": object{}, "prompts": object{}},
		})
	case "ping":
		s.answer(m.ID, object{})
	case "tools/list":
		s.list(m)
	case "tools/call":
		s.call(m)
	case "resources/list":
		s.answer(m.ID, object{"resources": []object{{"uri": "test://one", "name": "one", "mimeType": "text/plain", "description": "The first."}}})
	case "resources/templates/list":
		s.answer(m.ID, object{"resourceTemplates": []object{{"uriTemplate": "test://{name}", "name": "any"}}})
	case "resources/read":
		s.read(m)
	case "prompts/list":
		s.answer(m.ID, object{"prompts": []object{{"name": "greet", "description": "Greets.", "arguments": []object{{"name": "who", "required": true}}}}})
	case "prompts/get":
		s.prompt(m)
	case "notifications/cancelled":
		s.cancel(m)
	default:
		if m.ID != nil {
			s.refuse(m.ID, -32601, "there is no method "+m.Method)
		}
	}
}

func (s *server) read(m message) {
	var p struct{ URI string }
	_ = json.Unmarshal(m.Params, &p)
	if p.URI != "test://one" {
		s.refuse(m.ID, -32002, "there is no such resource")
		return
	}
	s.answer(m.ID, object{"contents": []object{{"uri": p.URI, "mimeType": "text/plain", "text": "the first resource"}}})
}

func (s *server) prompt(m message) {
	var p struct{ Arguments map[string]string }
	_ = json.Unmarshal(m.Params, &p)
	s.answer(m.ID, object{"messages": []object{{"role": "user", "content": object{"type": "text", "text": "Greet " + p.Arguments["who"] + "."}}}})
}

func (s *server) cancel(m message) {
	var p struct{ RequestID json.RawMessage }
	_ = json.Unmarshal(m.Params, &p)
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.cancelled[string(p.RequestID)]; c != nil {
		close(c)
		delete(s.cancelled, string(p.RequestID))
	}
}
