// Package lsptest is a language server for tests that does what it is told, or what a server must not do. Its language has
// lines with the word bad, which are errors, with the word odd, which are warnings, and "breaks FILE", which is an error in
// the first line of another file of that directory.
package lsptest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

// Modes are how the server behaves beside plain, which pushes with a version.
const (
	Plain      = "plain"
	Unnumbered = "unnumbered" // pushes without a version
	Pull       = "pull"       // answers when it is asked, without a kind
	Stale      = "stale"      // first publishes what the version before said
	Silent     = "silent"     // reads and says nothing
	Deaf       = "deaf"       // does not even read
	Dead       = "dead"       // ends at once
	Mortal     = "mortal"     // ends when a file changes
	Mute       = "mute"       // starts, and then says nothing more
	BadLength  = "bad-length" // a Content-Length that is none, when a file changes
	Garbage    = "garbage"    // what is no JSON, wrong types, batches; and then what it should
	Endless    = "endless"    // one line without an end
	Lying      = "lying"      // a Content-Length far over what comes
	Flood      = "flood"      // ten thousand diagnostics of 4 KB
	Asking     = "asking"     // waits for answers before it says anything
	Renaming   = "renaming"   // renames the word one in open files; to outside, overlap or create in ways that it must not
	Chaos      = "chaos-"     // and a number: at each change one of the above, by chance
	Working    = "working"    // says that it works, and never that it is done
)

// server is one life of the server.
type server struct {
	mode    string
	in      *bufio.Reader
	out     io.Writer
	texts   map[string]string
	before  map[string]string
	waits   int
	renames int
	chance  *rand.Rand // of Chaos
	held    []func()
}

// Serve speaks until the input ends.
func Serve(mode string, in io.Reader, out io.Writer) {
	s := &server{mode: mode, in: bufio.NewReader(in), out: out, texts: map[string]string{}, before: map[string]string{}}
	if seed, ok := strings.CutPrefix(mode, Chaos); ok {
		n, _ := strconv.ParseUint(seed, 10, 64)
		s.chance = rand.New(rand.NewPCG(n, uint64(time.Now().UnixNano())))
	}
	switch mode {
	case Dead:
		return
	case Deaf:
		select {}
	case Endless:
		for {
			if _, err := out.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	}
	for s.step() {
	}
}

type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params struct {
		TextDocument struct {
			URI     string `json:"uri"`
			Text    string `json:"text"`
			Version int    `json:"version"`
		} `json:"textDocument"`
		ContentChanges []struct{ Text string } `json:"contentChanges"`
		NewName        string                  `json:"newName"`
	} `json:"params"`
}

func (s *server) step() bool {
	length := 0
	for {
		line, err := s.in.ReadString('\n')
		if err != nil {
			return false
		}
		if line = strings.TrimSpace(line); line == "" {
			break
		}
		if value, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			length, _ = strconv.Atoi(value)
		}
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(s.in, body); err != nil {
		return false
	}
	var m message
	if json.Unmarshal(body, &m) != nil {
		return true
	}
	return s.heard(m)
}

func (s *server) heard(m message) bool {
	if s.mode == Silent {
		return true
	}
	doc := m.Params.TextDocument
	switch m.Method {
	case "initialize":
		can := map[string]any{"textDocumentSync": 1, "workspace": map[string]any{"workspaceFolders": map[string]any{"supported": true, "changeNotifications": true}}}
		can["renameProvider"] = s.mode == Renaming
		if s.mode == Pull {
			can["diagnosticProvider"] = map[string]any{"interFileDependencies": true}
		}
		s.answer(m.ID, map[string]any{"capabilities": can})
	case "textDocument/didOpen":
		s.texts[doc.URI] = doc.Text
		s.say(doc.URI, doc.Version)
	case "textDocument/didChange":
		s.before[doc.URI], s.texts[doc.URI] = s.texts[doc.URI], m.Params.ContentChanges[0].Text
		return s.changed(doc.URI, doc.Version)
	case "textDocument/didClose":
		delete(s.texts, doc.URI)
	case "textDocument/diagnostic":
		s.answer(m.ID, map[string]any{"kind": "", "items": found(s.texts[doc.URI])})
	case "textDocument/rename":
		s.answer(m.ID, s.rename(doc.URI, m.Params.NewName))
	case "":
		if s.waits > 0 {
			if s.waits--; s.waits == 0 {
				for _, do := range s.held {
					do()
				}
				s.held = nil
			}
		}
	default:
		if m.ID != nil {
			s.answer(m.ID, nil)
		}
	}
	return true
}

// changed is what the mode does to a change.
func (s *server) changed(uri string, version int) bool {
	mode := s.mode
	if s.chance != nil {
		mode = [...]string{Plain, Plain, Plain, Plain, Plain, Plain, Stale, Stale, Garbage, Garbage, Asking, Mute, Mortal, BadLength, Lying}[s.chance.IntN(15)]
	}
	switch mode {
	case Mute:
	case Mortal:
		return false
	case BadLength:
		fmt.Fprint(s.out, "Content-Length: -7\r\n\r\n{}")
	case Lying:
		fmt.Fprint(s.out, "Content-Length: 100000000\r\n\r\n{}")
	case Garbage:
		fmt.Fprint(s.out, "this is a log line\n", "Content-Length: 5\r\n\r\n{{{{{", "Content-Length: 2\r\n\r\n[]")
		s.send(map[string]any{"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": map[string]any{"uri": 7, "diagnostics": "none"}})
		s.send(map[string]any{"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": map[string]any{"uri": uri, "version": version - 1,
			"diagnostics": []any{map[string]any{"range": nil, "severity": nil, "message": nil}, map[string]any{"range": map[string]any{"start": map[string]any{"line": -4}}}}}})
		s.send(map[string]any{"jsonrpc": "2.0", "id": 999, "result": 7})
		s.say(uri, version)
	case Stale:
		s.publish(uri, version-1, found(s.before[uri]))
		s.publish(uri, version, found(s.texts[uri]))
	case Flood:
		long := strings.Repeat("x", 4096)
		all := make([]any, 10000)
		for i := range all {
			all[i] = diagnostic(0, 0, 1, long)
		}
		s.publish(uri, version, all)
	case Asking:
		s.ask("workspace/configuration", map[string]any{"items": []any{map[string]any{"section": "x"}}})
		s.ask("window/workDoneProgress/create", map[string]any{"token": "t"})
		s.ask("client/registerCapability", map[string]any{"registrations": []any{map[string]any{"id": "1", "method": "workspace/didChangeWatchedFiles"}}})
		s.ask("workspace/nonsense", map[string]any{})
		s.held = append(s.held, func() { s.say(uri, version) })
	case Working:
		s.send(map[string]any{"jsonrpc": "2.0", "method": "$/progress", "params": map[string]any{"token": "t", "value": map[string]any{"kind": "begin", "title": "work"}}})
		s.say(uri, version)
	default:
		s.say(uri, version)
	}
	return true
}

func (s *server) ask(method string, params any) {
	s.waits++
	s.send(map[string]any{"jsonrpc": "2.0", "id": s.waits, "method": method, "params": params})
}

// say publishes what is wrong with a text, and with files that it breaks.
func (s *server) say(uri string, version int) {
	if s.mode == Mute || s.mode == Pull {
		return
	}
	s.publish(uri, version, found(s.texts[uri]))
	for _, text := range []string{s.before[uri], s.texts[uri]} {
		for line := range strings.Lines(text) {
			_, name, ok := strings.Cut(line, "breaks ")
			if !ok {
				continue
			}
			all := []any{}
			if strings.Contains(s.texts[uri], strings.TrimSpace(line)) {
				all = append(all, diagnostic(0, 0, 1, "broken by "+filepath.Base(uri)))
			}
			s.publish(uri[:strings.LastIndex(uri, "/")+1]+strings.TrimSpace(name), 0, all)
		}
	}
}

func (s *server) publish(uri string, version int, all []any) {
	params := map[string]any{"uri": uri, "diagnostics": all}
	if version > 0 && s.mode != Unnumbered {
		params["version"] = version
	}
	s.send(map[string]any{"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": params})
}

// rename is the edits of a rename, each time with one more letter: what was shown must be what is done.
func (s *server) rename(uri, name string) any {
	s.renames++
	edit := func(from, to int, text string) any {
		return map[string]any{"newText": text, "range": map[string]any{"start": map[string]any{"line": 0, "character": from}, "end": map[string]any{"line": 0, "character": to}}}
	}
	switch name {
	case "outside":
		return map[string]any{"changes": map[string]any{"file:///etc/hostname": []any{edit(0, 3, name)}}}
	case "up":
		return map[string]any{"changes": map[string]any{uri[:strings.LastIndex(uri, "/")] + "/%2e%2e/other.x": []any{edit(0, 3, name)}}}
	case "overlap":
		return map[string]any{"changes": map[string]any{uri: []any{edit(0, 3, name), edit(1, 2, name)}}}
	case "create":
		return map[string]any{"documentChanges": []any{map[string]any{"kind": "create", "uri": uri + "2"}}}
	}
	return map[string]any{"documentChanges": []any{map[string]any{"textDocument": map[string]any{"uri": uri, "version": nil}, "edits": []any{edit(0, 3, name+strings.Repeat("z", s.renames))}}}}
}

// found are the diagnostics of a text, with columns in UTF-16.
func found(text string) []any {
	all := []any{}
	for i, line := range strings.Split(text, "\n") {
		for word, severity := range map[string]int{"bad": 1, "odd": 2} {
			if at := strings.Index(line, word); at >= 0 {
				all = append(all, diagnostic(i, len(utf16.Encode([]rune(line[:at]))), severity, word+" word"))
			}
		}
	}
	return all
}

func diagnostic(line, column, severity int, text string) any {
	return map[string]any{"severity": severity, "message": text, "range": map[string]any{
		"start": map[string]any{"line": line, "character": column}, "end": map[string]any{"line": line, "character": column + 3},
	}}
}

func (s *server) answer(id json.RawMessage, result any) {
	s.send(map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
}

func (s *server) send(m any) {
	body, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(s.out, "Content-Length: %d\r\n\r\n%s", len(body), body)
}

// Main serves where this process was started with one of the modes for its only argument under this name; else it returns.
func Main(name string) {
	if len(os.Args) != 2 || filepath.Base(os.Args[0]) != name {
		return
	}
	time.AfterFunc(10*time.Minute, func() { os.Exit(1) }) // whoever forgot it
	Serve(os.Args[1], os.Stdin, os.Stdout)
	os.Exit(0)
}
