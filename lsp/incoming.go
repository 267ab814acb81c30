package lsp

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/sourcegraph/conc/panics"
	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// Bounds of what is kept of what a server said unasked.
const (
	maxFiles    = 5000 // files
	maxProblems = 2000 // of one file
	maxText     = 2000 // bytes of one problem's text
	maxTokens   = 1000 // of its progress
)

// handle answers a server, in the order in which it speaks. What cannot be read is dropped.
func (s *server) handle(_ context.Context, req *jsonrpc2.Request) (answer any, err error) {
	if crash := panics.Try(func() { answer, err = s.heard(req.Method(), req.Params()) }); crash != nil {
		return nil, jsonrpc2.ErrInvalidParams
	}
	return answer, err
}

func (s *server) heard(method string, params []byte) (any, error) {
	switch method {
	case protocol.MethodTextDocumentPublishDiagnostics:
		s.published(params)
	case "$/progress":
		s.progressed(params)
	case "client/registerCapability":
		s.registered(params)
	case "client/unregisterCapability", "window/workDoneProgress/create", "window/showMessageRequest",
		"workspace/semanticTokens/refresh", "workspace/inlayHint/refresh",
		"workspace/codeLens/refresh", "workspace/inlineValue/refresh", "workspace/foldingRange/refresh":
		// It wants no more than an answer.
	case "workspace/diagnostic/refresh":
		s.refresh()
	case "workspace/configuration":
		return s.configured(params), nil
	case "workspace/workspaceFolders":
		return s.folders(), nil
	case "workspace/applyEdit":
		return map[string]any{"applied": false, "failureReason": "not asked for"}, nil
	case "window/showDocument":
		return map[string]any{"success": false}, nil
	default:
		if !isNotification(method) {
			return nil, jsonrpc2.ErrMethodNotFound
		}
	}
	return nil, nil
}

// isNotification reports whether a method that is not known here needs no answer.
func isNotification(method string) bool {
	return strings.HasPrefix(method, "$/") || strings.HasPrefix(method, "window/log") || strings.HasPrefix(method, "telemetry/")
}

// published keeps what a server says of a file in an open worktree.
func (s *server) published(params []byte) {
	var said struct {
		URI         uri.URI           `json:"uri"`
		Version     *int32            `json:"version"`
		Diagnostics []json.RawMessage `json:"diagnostics"`
	}
	if json.Unmarshal(params, &said) != nil {
		return
	}
	path := pathOf(said.URI)
	p := push{problems: problems(said.Diagnostics), more: max(0, len(said.Diagnostics)-maxProblems)}
	if said.Version != nil {
		p.version, p.numbered = *said.Version, true
	}
	s.keep(path, p)
}

// keep notes what was said of a file in an open worktree.
func (s *server) keep(path string, p push) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.pushed[path]; !known && (len(s.pushed) >= maxFiles || !s.has(path)) {
		return
	}
	s.count++
	p.at = s.count
	s.pushed[path] = p
	s.stir()
}

// has reports whether a file lies in an open worktree. mu is held.
func (s *server) has(path string) bool {
	for dir := range s.roots {
		if _, in := within(dir, path); in && path != "" {
			return true
		}
	}
	return false
}

// problems are the diagnostics that can be read.
func problems(all []json.RawMessage) []problem {
	var out []problem
	for _, raw := range all[:min(len(all), maxProblems)] {
		var said struct {
			Range    *protocol.Range `json:"range"`
			Severity *int            `json:"severity"`
			Message  json.RawMessage `json:"message"`
			Code     json.RawMessage `json:"code"`
		}
		if json.Unmarshal(raw, &said) != nil || said.Range == nil {
			continue
		}
		p := problem{line: int(said.Range.Start.Line), column: int(said.Range.Start.Character), severity: 1, text: message(said.Message)}
		if said.Severity != nil && *said.Severity >= 1 && *said.Severity <= 4 {
			p.severity = *said.Severity
		}
		out = append(out, p)
	}
	return out
}

// message is the text of a diagnostic, which is a string or markup.
func message(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		var markup struct{ Value string }
		if json.Unmarshal(raw, &markup) != nil {
			return "?"
		}
		text = markup.Value
	}
	return clip(strings.ToValidUTF8(text, "\uFFFD"), maxText)
}

// refresh notes that the server would answer otherwise now.
func (s *server) refresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refreshed++
	s.stir()
}

// progressed notes what the server says that it works on.
func (s *server) progressed(params []byte) {
	var said struct {
		Token json.RawMessage
		Value struct{ Kind string }
	}
	if json.Unmarshal(params, &said) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch token := string(said.Token); {
	case said.Value.Kind == "begin" && len(s.working) < maxTokens:
		s.working[token] = true
	case said.Value.Kind == "end":
		delete(s.working, token)
	}
	s.stir()
}

// registered notes that the server offers to be asked for diagnostics.
func (s *server) registered(params []byte) {
	var said struct {
		Registrations []struct {
			Method  string
			Options struct {
				Identifier string `json:"identifier"`
			} `json:"registerOptions"`
		}
	}
	if json.Unmarshal(params, &said) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range said.Registrations {
		if r.Method == protocol.MethodTextDocumentDiagnostic {
			s.pullsOn, s.pulls = true, r.Options.Identifier
		}
	}
	s.stir()
}

// settingsAnswer is what a server hears that asks for settings: one for each section.
type settingsAnswer []any

// configured are the settings of the sections that a server asks for.
func (s *server) configured(params []byte) settingsAnswer {
	var asked struct{ Items []struct{ Section string } }
	answer := settingsAnswer{}
	if json.Unmarshal(params, &asked) != nil {
		return answer
	}
	for _, item := range asked.Items[:min(len(asked.Items), maxTokens)] {
		answer = append(answer, s.kind.def.setting(item.Section))
	}
	return answer
}

// folders are the open worktrees.
func (s *server) folders() []any {
	out := []any{}
	for _, r := range s.open() {
		out = append(out, map[string]any{"uri": string(uriOf(r.dir)), "name": r.name()})
	}
	return out
}

// clip cuts a text that is longer than so many bytes.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
