package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"colony/tools"
	"colony/tools/toolstest"
)

func TestToolsOnTheRegistryPassTheSuite(t *testing.T) {
	toolstest.Run(t, toolstest.Suite{Tool: tools.ListTool(), Good: []string{`{}`}, Bad: []string{`{"x":1}`, `[]`}, Arm: armed})
	toolstest.Run(t, toolstest.Suite{Tool: tools.AskTool(), Good: []string{`{"question":"A or B?","choices":["A","B"]}`}, Bad: []string{`{}`, `{"question":" "}`, `{"text":"x"}`}})
	toolstest.Run(t, toolstest.Suite{Tool: tools.SearchTool(), Good: []string{`{"query":"issue"}`, `{"query":"select:mcp__hub__issue","limit":1}`},
		Bad: []string{`{"query":" "}`, `{"query":"select: ,"}`, `{}`, `{"query":"x","limit":0}`}, Arm: armed})
}

// armed gives the env tools, three of them deferred.
func armed(t *testing.T, env *tools.Env) {
	t.Helper()
	r := env.Tools
	must(t, r.Register(tools.BuiltIn, described("read", "Read a file.\nMore text.")))
	deferred := []tools.Spec{
		{Name: "mcp__hub__issue", Description: "Create an issue.", Params: json.RawMessage(`{"type":"object","properties":{"title":{"type":"string"}}}`)},
		{Name: "mcp__hub__pull", Description: "Open a request that closes an issue."},
		{Name: "mcp__db__rows", Description: "Query.", Params: json.RawMessage(`{"type":"object","properties":{"issue_id":{}}}`)},
	}
	for _, s := range deferred {
		must(t, r.RegisterDeferred("mcp", toolstest.Fake{Is: s}))
	}
}

func runTool(t *testing.T, env *tools.Env, tool tools.Tool, args string) tools.Result {
	t.Helper()
	r, err := tools.Invoke(t.Context(), env, tools.Prepared{Call: tools.Call{Name: tool.Spec().Name, Args: json.RawMessage(args)}, Tool: tool})
	must(t, err)
	return r
}

// contract 12
func TestSearchRanksAndLoads(t *testing.T) {
	env := toolstest.NewEnv(t)
	armed(t, env)
	for args, c := range map[string]struct {
		loaded string
		says   string
	}{
		`{"query":"issue"}`:                                   {"mcp__hub__issue mcp__db__rows mcp__hub__pull", "Parameters:"},
		`{"query":"issue","limit":1}`:                         {"mcp__hub__issue", "2 more match"},
		`{"query":"ISSUE title"}`:                             {"mcp__hub__issue mcp__db__rows mcp__hub__pull", "Create an issue."},
		`{"query":"mcp__hub__pull"}`:                          {"mcp__hub__pull", "Loaded: mcp__hub__pull"},
		`{"query":"select:mcp__db__rows, mcp__hub__pull"}`:    {"mcp__db__rows mcp__hub__pull", ""},
		`{"query":"select:mcp__db__rows,mcp__db__rows,read"}`: {"mcp__db__rows", "read is loaded already: call it."},
		`{"query":"select:mcp__db__row,mcp__hub__pull"}`:      {"mcp__hub__pull", `"mcp__db__row": no such tool: use mcp__db__rows.`},
		`{"query":"select:bash"}`:                             {"", `"bash": no such tool`},
		`{"query":"select:MCP__db__rows"}`:                    {"", "no such tool"},
		`{"query":"zebra"}`:                                   {"", "Deferred tools: mcp__db__rows, mcp__hub__issue, mcp__hub__pull"},
	} {
		r := runTool(t, env, tools.SearchTool(), args)
		want(t, args, strings.Join(r.Loaded, " "), c.loaded)
		if !strings.Contains(r.Text, c.says) || (r.Fault == tools.Missing) != (c.loaded == "") {
			t.Errorf("%s: fault %q, text %q", args, r.Fault, r.Text)
		}
	}
	env.Tools.Load("mcp__hub__issue", "mcp__hub__pull", "mcp__db__rows")
	if r := runTool(t, env, tools.SearchTool(), `{"query":"issue"}`); !strings.Contains(r.Text, "loaded already") {
		t.Errorf("all loaded: %q", r.Text)
	}
	if r := runTool(t, env, tools.SearchTool(), `{"query":"select:"}`); r.Fault != tools.Validation || len(r.Loaded) > 0 {
		t.Errorf("bad query: %+v", r)
	}
}

// contract 6, PM04: a search in a carved registry discloses nothing outside it
func TestSearchKeepsToItsRegistry(t *testing.T) {
	env := toolstest.NewEnv(t)
	armed(t, env)
	env.Tools = child(t, env.Tools, "mcp__db__*")
	for _, query := range []string{"select:mcp__hub__issue", "select:read", "Create", "pull"} {
		r := runTool(t, env, tools.SearchTool(), `{"query":"`+query+`"}`)
		if len(r.Loaded) > 0 || strings.Contains(r.Text, "Parameters") || strings.Contains(strings.ReplaceAll(r.Text, strings.TrimPrefix(query, "select:"), ""), "mcp__hub") {
			t.Errorf("%s: %+v", query, r)
		}
	}
}

// contract 13
func TestListIsAllVisibleTools(t *testing.T) {
	env := toolstest.NewEnv(t)
	armed(t, env)
	env.Tools.Load("mcp__hub__pull")
	want(t, "list", runTool(t, env, tools.ListTool(), `{}`).Text, strings.Join([]string{
		"mcp__db__rows (not loaded): Query.", "mcp__hub__issue (not loaded): Create an issue.",
		"mcp__hub__pull: Open a request that closes an issue.", "read: Read a file.",
	}, "\n"))
}

func TestAsk(t *testing.T) {
	env := toolstest.NewEnv(t)
	if r := runTool(t, env, tools.AskTool(), `{"question":"A or B?"}`); !strings.Contains(r.Text, "Decide yourself") || !strings.Contains(r.Text, "done") || r.Fault != "" {
		t.Errorf("headless: %+v", r)
	}
	for answer, says := range map[string]string{"A": "The person answered: A", " ": "gave no text"} {
		env.Ask = func(_ context.Context, q tools.Question) (tools.Answer, error) {
			if q.Kind != "question" || q.Text != "A or B?" || !slices.Equal(q.Choices, []string{"A", "B"}) {
				t.Errorf("asked %+v", q)
			}
			return tools.Answer{Text: answer}, nil
		}
		if r := runTool(t, env, tools.AskTool(), `{"question":"A or B?","choices":["A","B"]}`); !strings.Contains(r.Text, says) {
			t.Errorf("answer %q: %+v", answer, r)
		}
	}
	broken := errors.New("inbox is gone")
	env.Ask = func(context.Context, tools.Question) (tools.Answer, error) { return tools.Answer{}, broken }
	p := tools.Prepared{Call: tools.Call{Name: "ask", Args: json.RawMessage(`{"question":"x"}`)}, Tool: tools.AskTool()}
	if _, err := tools.Invoke(t.Context(), env, p); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if r := runTool(t, env, tools.AskTool(), `{"question":""}`); r.Fault != tools.Validation {
		t.Errorf("empty: %+v", r)
	}
}

// contract 14
func TestBaseIsCautious(t *testing.T) {
	var b tools.Base
	e, err := b.Effects(nil, nil)
	if err != nil || e.Known || e.ReadOnly || b.IsConcurrencySafe(nil) || e.Opinion != tools.NoOpinion {
		t.Errorf("got %+v, %v", e, err)
	}
	s := tools.Spec{Description: "One.\nTwo."}
	if s.ReadOnly || s.Noncredential || s.ResultCap != 0 || s.Line() != "One." {
		t.Errorf("got %+v", s)
	}
}
