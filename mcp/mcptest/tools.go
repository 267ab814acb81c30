package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// pixel is a PNG of one pixel.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="

func described(name, text string, properties object) object {
	return object{"name": name, "description": text, "inputSchema": object{"type": "object", "properties": properties}}
}

// list lists the tools. Its descriptions are as the arguments want them; that of echo is read from a file each time, where one is
// named.
func (s *server) list(m message) {
	if s.has("pages") {
		s.answer(m.ID, object{"tools": []object{}, "nextCursor": "again"})
		return
	}
	about := "Says again what it is told."
	if data, err := os.ReadFile(s.value("echo")); err == nil {
		about = strings.TrimSpace(string(data))
	}
	text := object{"text": object{"type": "string", "description": "what to say"}}
	all := []object{
		described("echo", about, text), described("env", "Shows its environment.", object{}), described("sleep", "Sleeps.", object{"ms": object{"type": "integer"}}),
		described("die", "Ends the server.", object{}), described("big", "Answers with many MiB.", object{"mib": object{"type": "integer"}}),
		described("image", "Shows an image.", object{}), described("structured", "Answers with structured content.", object{}),
		described("fail", "Fails.", object{}), described("elicit", "Asks the person.", object{}), described("sample", "Asks a model.", object{}),
		described("roots", "Asks for the roots.", object{}), described("progress", "Says how far it is.", object{}), described("grow", "Gets a further tool.", object{}),
		described("write", "Writes a file.", object{"path": object{"type": "string"}, "content": object{"type": "string"}}),
		described("count", "Counts its calls.", object{}), described("flood", "Writes what is no message.", object{}), described("most", "Says how many calls ran at once.", object{}),
	}
	all[1]["annotations"] = object{"readOnlyHint": true, "idempotentHint": true}
	s.mu.Lock()
	if s.grown {
		all = append(all, described("grown", "Was not there before.", object{}))
	}
	s.mu.Unlock()
	if s.has("odd") {
		for _, name := range []string{"edit", "bash", "tool_search", "send", "demo/read", "demo_read", "deep\u202Ely", "x" + strings.Repeat("y", 90)} {
			all = append(all, described(name, "Odd: "+name, text))
		}
		all = append(all, object{"name": "noschema", "description": "Has a list for a schema.", "inputSchema": []int{1}})
	}
	if s.has("hidden") {
		all = append(all, described("hiding", "Harmless\U000E0041\U000E0042\u200B\u202E.", object{"a\u200Bb": object{"type": "string", "description": "x\u202Ey"}}))
	}
	many, _ := strconv.Atoi(s.value("tools"))
	for i := range many {
		all = append(all, described(fmt.Sprintf("tool_%04d", i), fmt.Sprintf("Does the thing number %d to the %s of a %s.", i, kinds[i%len(kinds)], kinds[i/7%len(kinds)]),
			object{"target": object{"type": "string", "description": "what to do it to"}, "level": object{"type": "integer", "description": "how much of it"}}))
	}
	s.answer(m.ID, object{"tools": all})
}

var kinds = []string{"issue", "branch", "deployment", "database", "bucket", "invoice", "ticket", "calendar", "message", "pipeline", "certificate"}

func text(format string, about ...any) object {
	return object{"content": []object{{"type": "text", "text": fmt.Sprintf(format, about...)}}}
}

// call carries a call out.
func (s *server) call(m message) {
	var p struct {
		Name      string
		Arguments struct {
			Text, Path, Content string
			Ms, Mib             int
		}
		Meta struct{ ProgressToken any } `json:"_meta"`
	}
	if err := json.Unmarshal(m.Params, &p); err != nil {
		s.refuse(m.ID, -32602, err.Error())
		return
	}
	gone := make(chan struct{})
	s.mu.Lock()
	s.calls++
	calls := s.calls
	s.atOnce++
	s.most = max(s.most, s.atOnce)
	s.cancelled[string(m.ID)] = gone
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.atOnce--
		s.mu.Unlock()
	}()
	a := p.Arguments
	switch p.Name {
	case "echo", "send", "edit", "bash", "tool_search":
		s.answer(m.ID, text("%s: %s", p.Name, a.Text))
	case "env":
		s.answer(m.ID, text("%s", strings.Join(os.Environ(), "\n")))
	case "sleep":
		s.mark("sleeping")
		select {
		case <-time.After(time.Duration(a.Ms) * time.Millisecond):
			s.answer(m.ID, text("slept"))
		case <-gone:
			s.mark("cancelled")
		}
	case "die":
		s.mark("died")
		os.Exit(1)
	case "big":
		if s.has("idlast") { // with ids of other calls within
			within := strings.Repeat(`{"id":1,"x":1},{"id":2,"x":1},{"id":3,"x":1},{"id":4,"x":1},`, a.Mib<<14)
			s.send(json.RawMessage(`{"jsonrpc":"2.0","result":{"content":[],"structuredContent":{"all":[` + within + `{}]}},"id":` + string(m.ID) + `}`))
			return
		}
		s.answer(m.ID, text("%s", strings.Repeat("x", a.Mib<<20)))
	case "image":
		s.answer(m.ID, object{"content": []object{{"type": "image", "mimeType": "image/png", "data": pixel}, {"type": "image", "mimeType": "image/png", "data": "bm8="}}})
	case "structured":
		s.answer(m.ID, object{"content": []object{}, "structuredContent": object{"n": 7, "s": "a\u202Eb"}})
	case "fail":
		s.answer(m.ID, object{"isError": true, "content": []object{{"type": "text", "text": "no such thing"}}})
	case "elicit":
		s.answer(m.ID, text("%s", s.ask("elicitation/create", object{"message": "Which colour?", "requestedSchema": object{"type": "object",
			"properties": object{"colour": object{"type": "string", "enum": []string{"red", "blue"}}, "many": object{"type": "integer"}}}})))
	case "sample":
		s.answer(m.ID, text("%s", s.ask("sampling/createMessage", object{"maxTokens": 9, "messages": []object{{"role": "user", "content": object{"type": "text", "text": "Say hello."}}}})))
	case "roots":
		s.answer(m.ID, text("%s", s.ask("roots/list", object{})))
	case "progress":
		s.notify("notifications/progress", object{"progressToken": p.Meta.ProgressToken, "progress": 1, "total": 2, "message": "half"})
		time.Sleep(100 * time.Millisecond) // it works
		s.answer(m.ID, text("done"))
	case "grow":
		s.mu.Lock()
		s.grown = true
		s.mu.Unlock()
		s.notify("notifications/tools/list_changed", object{})
		s.answer(m.ID, text("grew"))
	case "write":
		if err := os.WriteFile(a.Path, []byte(a.Content), 0o600); err != nil {
			s.answer(m.ID, object{"isError": true, "content": []object{{"type": "text", "text": err.Error()}}})
			return
		}
		s.answer(m.ID, text("written"))
	case "count":
		s.answer(m.ID, text("call %d", calls))
	case "most":
		s.mu.Lock()
		most := s.most
		s.mu.Unlock()
		s.answer(m.ID, text("at most %d at once", most))
	case "flood":
		s.mark("flooded")
		for {
			s.mu.Lock()
			_, err := os.Stdout.WriteString("this is no message\n")
			s.mu.Unlock()
			if err != nil {
				os.Exit(1)
			}
		}
	default:
		if strings.HasPrefix(p.Name, "tool_") || strings.HasPrefix(p.Name, "grown") {
			s.answer(m.ID, text("did %s", p.Name))
			return
		}
		s.refuse(m.ID, -32602, "there is no tool "+p.Name)
	}
}

// mark leaves a line where a test finds it.
func (s *server) mark(word string) {
	f, err := os.OpenFile(s.value("mark"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	fmt.Fprintln(f, word)
}
