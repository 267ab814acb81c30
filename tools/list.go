package tools

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

//go:embed list_tools.md
var listText string

// noArgs is the schema of a tool without arguments.
const noArgs = `{"type":"object","properties":{},"additionalProperties":false}`

// listTool lists the env's own registry.
type listTool struct{ Base }

// ListTool is list_tools: every visible tool with one line, loaded or not.
func ListTool() Tool { return listTool{} }

// Spec advertises the tool.
func (listTool) Spec() Spec {
	return Spec{Name: "list_tools", Description: strings.TrimSpace(listText), Params: json.RawMessage(noArgs), ReadOnly: true, Noncredential: true}
}

// IsConcurrencySafe is true: a list only reads the registry.
func (listTool) IsConcurrencySafe(json.RawMessage) bool { return true }

// Effects are none.
func (listTool) Effects(*Env, json.RawMessage) (Effects, error) {
	return Effects{Known: true, ReadOnly: true}, nil
}

// Run is the list, ascending by name.
func (listTool) Run(_ context.Context, env *Env, _ json.RawMessage) (Result, error) {
	deferred := env.Tools.Deferred()
	var b strings.Builder
	for _, s := range env.Tools.List() {
		mark := ""
		if named(deferred, s.Name) {
			mark = " (not loaded)"
		}
		fmt.Fprintf(&b, "%s%s: %s\n", s.Name, mark, s.Line())
	}
	return Result{Text: strings.TrimSpace(b.String())}, nil
}
