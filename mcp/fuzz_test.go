package mcp_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"colony/mcp"
)

// Whatever a file of servers holds, what is read of it can be written, and is read as the same again; and no variable's value
// stands in what is shown.
func FuzzParseFile(f *testing.F) {
	f.Add([]byte(`{"mcpServers":{"a":{"command":"x","args":["${K}"],"env":{"A":"${B:-c}"},"per":"colony","timeout":7}}}`))
	f.Add([]byte(`{"mcpServers":{"b":{"type":"http","url":"https://x.test/${K}","headers":{"A":"${K}"},"bearer_env":"K","odd":1}}}`))
	f.Add([]byte(`{"mcpServers":{"c":{"command":"x","grades":{"t":["read-only"]}},"c":{}}}`))
	f.Add([]byte(`{"mcpServers":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := mcp.ParseFile(data)
		if err != nil {
			return
		}
		for _, e := range entries {
			if e.Wrong != nil {
				continue
			}
			if err := mcp.CheckName(e.Name); err != nil {
				t.Fatal(err)
			}
			if _, err := e.Expand(func(string) string { return "the-value" }); err != nil && strings.Contains(err.Error(), "the-value") {
				t.Fatalf("an error shows a value: %v", err)
			}
			written, err := e.JSON()
			if err != nil {
				t.Fatal(err)
			}
			again, err := mcp.ParseFile([]byte(`{"mcpServers":{"` + e.Name + `":` + string(written) + `}}`))
			if err != nil || len(again) != 1 || again[0].What() != e.What() || again[0].Per != e.Per {
				t.Fatalf("%s: %+v, %v", written, again, err)
			}
		}
	})
}

// A shown text hides nothing, and is shown as it is.
func FuzzVisible(f *testing.F) {
	f.Add("plain\n\ttext")
	f.Add("a\u202Eb\U000E0041\u200B\xff")
	f.Fuzz(func(t *testing.T, s string) {
		seen := mcp.Visible(s)
		if !utf8.ValidString(seen) || mcp.Visible(seen) != seen || strings.ContainsAny(seen, "\u202E\u200B\u0007\x00\uFEFF") {
			t.Fatalf("%q is shown as %q", s, seen)
		}
	})
}
