package lsp_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"colony/lsp"
)

// spoken is a server that says what it was given, whatever it hears, and ends.
type spoken struct {
	io.Reader
	closed func()
}

func (spoken) Write(p []byte) (int, error) { return len(p), nil }

func (s spoken) Close() error { s.closed(); return nil }

// Whatever bytes a server sends, nothing breaks down and the edit has happened.
func FuzzServer(f *testing.F) {
	said := func(bodies ...string) string {
		var b strings.Builder
		for _, body := range bodies {
			fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(body), body)
		}
		return b.String()
	}
	answer := `{"jsonrpc":"2.0","id":1,"result":{"capabilities":{"diagnosticProvider":{},"workspace":{"workspaceFolders":{"supported":true,"changeNotifications":"x"}}}}}`
	f.Add([]byte(said(answer, `{"jsonrpc":"2.0","id":2,"result":{"kind":"","items":[{"range":{"start":{"line":4294967295,"character":4294967295},"end":{}},"message":{"value":"x"}}]}}`)))
	f.Add([]byte(said(answer, `{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"file:///x%00","version":-1,"diagnostics":[null,{},{"range":{"start":{"line":-1}}}]}}`)))
	f.Add([]byte(said(answer, `{"jsonrpc":"2.0","id":"9","method":"workspace/configuration","params":{"items":[{"section":"a.b.c"},{},null]}}`, `{"jsonrpc":"2.0","method":"$/progress","params":{"token":[],"value":{"kind":"begin"}}}`)))
	f.Add([]byte("Content-Length: 99999999999999999999\r\n\r\n{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		servers := newServers(t, lsp.Parts{Known: []lsp.Server{{Name: "fuzz", Argv: []string{"fuzz"}, Files: map[string]string{".x": "x"}}},
			Start: func(context.Context, []string, string) (io.ReadWriteCloser, error) {
				r, w := io.Pipe()
				var once sync.Once
				go func() {
					io.Copy(w, bytes.NewReader(data)) //nolint:errcheck // the reader may be gone
					w.Close()
				}()
				return spoken{r, func() { once.Do(func() { r.Close() }) }}, nil
			}})
		w := newWorld(t, servers, map[string]string{"a.x": "one\n"})
		begun := time.Now()
		defer func() {
			if took := time.Since(begun); took > 10*time.Second {
				t.Errorf("a server that has ended was waited for: %s", took)
			}
		}()
		if r := w.edit("a.x", "one", "two"); !strings.HasPrefix(r.Text, "edited a.x") || w.text("a.x") != "two\n" {
			t.Errorf("got %q", r.Text)
		}
	})
}
