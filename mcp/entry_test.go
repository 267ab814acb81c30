package mcp_test

import (
	"fmt"
	"strings"
	"testing"

	"colony/mcp"
)

func TestEntriesAreReadStrictly(t *testing.T) {
	for text, want := range map[string]string{
		`{"mcpServers":{"a":{"command":"x"}}}`:                                         "a ant x [] []",
		`{"mcpServers":{"a":{"type":"stdio","command":"x","args":["y","${V:-z}"]}}}`:   "a ant x y ${V:-z} [V] []",
		`{"mcpServers":{"a":{"url":"https://x.test/m","bearer_env":"T","tools":1}}}`:   "a colony https://x.test/m [T] [tools]",
		`{"mcpServers":{"a":{"url":"http://x.test","per":"ant","\u001b[2Jodd":true}}}`: `a ant http://x.test [] [\u{1B}[2Jodd]`,
		`{"mcpServers":{"a":{}}}`:                                               "needs a command, or a url",
		`{"mcpServers":{"a":{"command":"x","url":"http://x.test"}}}`:            "needs a command, or a url",
		`{"mcpServers":{"a":{"type":"sse","url":"http://x.test"}}}`:             "sse is no more",
		`{"mcpServers":{"a":{"url":"file:///etc/passwd"}}}`:                     "not http://host or https://host",
		`{"mcpServers":{"a":{"url":"https://u:p@x.test"}}}`:                     "without a name and password",
		`{"mcpServers":{"a":{"command":"x","headers":{"A":"b"}}}}`:              "are for a url",
		`{"mcpServers":{"a":{"url":"http://x.test","env":{"A":"b"}}}}`:          "are for a command",
		`{"mcpServers":{"a":{"url":"http://x.test","bearer_env":"\u001b[2J"}}}`: "not the name of a variable",
		`{"mcpServers":{"a__b":{"command":"x"}}}`:                               "cannot name a server",
		`{"mcpServers":{"a_":{"command":"x"}}}`:                                 "cannot name a server",
		`{"mcpServers":{"a":{"command":"x"},"a":{"command":"y"}}}`:              `the key "a" stands twice`,
		`{"mcpServers":{"a":{"command":"x","grades":{"t":["harmless"]}}}}`:      `"harmless": there are read-only`,
		`{"mcpServers":{"a":{"command":7}}}`:                                    "cannot unmarshal",
		`{"mcpServers":{"a":{"command":"x","timeout":-1}}}`:                     "between 1 ms and",
		`{"mcpServers":{"a":{"command":"x"}}} x`:                                "something follows",
		`[]`:                                                                    "not of the form",
		`{"mcpServers":{"a":{"command":"x","COMMAND":"y"}}}`:                    `the key "COMMAND" is spelt "command"`,
		`{"MCPSERVERS":{"a":{"command":"x"}}}`:                                  `the key "MCPSERVERS" is spelt "mcpServers"`,
		strings.Repeat(`{"a":`, 40) + `1` + strings.Repeat(`}`, 40):             "nested deeper",
	} {
		entries, err := mcp.ParseFile([]byte(text))
		if err == nil {
			err = mcp.Faults(entries)
		}
		got := fmt.Sprint(err)
		if err == nil {
			e := entries[0]
			got = fmt.Sprint(e.Name, " ", e.Per, " ", e.What(), " ", e.Variables(), " ", e.Ignored)
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestVariablesArePutIn(t *testing.T) {
	getenv := func(name string) string { return map[string]string{"A": "one", "T": "token"}[name] }
	e := mcp.Entry{Name: "x", URL: "https://${A}.test/?k=${A}", Bearer: "T", Headers: map[string]string{"K": "${A}/${B:-two}"}}
	got, err := e.Expand(getenv)
	if err != nil || got.URL != "https://one.test/?k=one" || got.Headers["K"] != "one/two" || got.Headers["Authorization"] != "Bearer token" || got.Host() != "one.test" {
		t.Errorf("%+v %v", got, err)
	}
	if secrets := fmt.Sprint(e.Secrets(getenv)); !strings.Contains(secrets, "token") || !strings.Contains(secrets, "one") {
		t.Errorf("secrets: %s", secrets)
	}
	given := mcp.Entry{Command: "${C}", Args: []string{"--t=${ARG}"}, Env: map[string]string{"X": "${ENVV}", "HOME": "${HOME}"}, URL: "https://${HOST}/${PATHV}/mcp"}
	if secrets := given.Secrets(func(name string) string { return name }); fmt.Sprint(secrets) != "[PATHV ENVV ARG]" {
		t.Errorf("secrets: %s", secrets)
	}
	if e.URL != "https://${A}.test/?k=${A}" || e.Headers["K"] != "${A}/${B:-two}" {
		t.Errorf("the entry changed: %+v", e)
	}
	if _, err := (mcp.Entry{Name: "x", Command: "x", Args: []string{"${NONE}"}}).Expand(getenv); err == nil || !strings.Contains(err.Error(), "NONE has no value") {
		t.Errorf("%v", err)
	}
}
