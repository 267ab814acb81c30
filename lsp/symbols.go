package lsp

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"go.lsp.dev/jsonrpc2"

	"colony/tools"
)

//go:embed symbols.md
var symbolsText string

// askLimit is how long one call of symbols may take.
const askLimit = 15 * time.Second

// symbols asks language servers about names. It is a Previewer.
type symbols struct {
	tools.Base
	all *Servers
}

// SymbolsTool is symbols: it finds, shows and renames what code declares.
func SymbolsTool(s *Servers) tools.Tool { return symbols{all: s} }

type symbolsArgs struct {
	Action  string `json:"action"`
	Path    string `json:"path"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Name    string `json:"name"`
	NewName string `json:"new_name"`
}

const rename = "rename"

func (symbols) Spec() tools.Spec {
	return tools.Spec{Name: "symbols", Description: strings.TrimSpace(symbolsText), Noncredential: true, Params: json.RawMessage(`{
"type":"object","additionalProperties":false,"required":["action"],"properties":{
"action":{"type":"string","enum":["find","definition","references","hover","rename","calls"]},
"path":{"type":"string","description":"file in which the name stands"},
"line":{"type":"integer","minimum":1,"description":"line of the name in path"},
"column":{"type":"integer","minimum":1,"description":"character of the line at which the name stands"},
"name":{"type":"string","description":"the name itself"},
"new_name":{"type":"string","description":"what rename makes of it"}}}`)}
}

// IsConcurrencySafe is true for all that only looks.
func (symbols) IsConcurrencySafe(raw json.RawMessage) bool {
	a, err := decodeSymbols(raw)
	return err == nil && a.Action != rename
}

func decodeSymbols(raw json.RawMessage) (symbolsArgs, error) {
	var a symbolsArgs
	if err := json.Unmarshal(raw, &a); err != nil {
		return a, &tools.ArgError{Field: "arguments", Reason: "cannot be read"}
	}
	switch {
	case a.Action == "find" && strings.TrimSpace(a.Name) == "":
		return a, &tools.ArgError{Field: "name", Reason: "is missing", Hint: "give the name to find"}
	case a.Path == "" && a.Name == "":
		return a, &tools.ArgError{Field: "path", Reason: "is missing", Hint: "give path and line, or name"}
	case a.Path != "" && a.Line == 0 && a.Name == "":
		return a, &tools.ArgError{Field: "line", Reason: "is missing", Hint: "say where in path, or give name"}
	case a.Action == rename && strings.TrimSpace(a.NewName) == "":
		return a, &tools.ArgError{Field: "new_name", Reason: "is missing", Hint: "say what the name becomes"}
	}
	return a, nil
}

// file is the path of the arguments in a worktree; empty where there is none.
func (a symbolsArgs) file(env *tools.Env) (string, error) {
	if a.Path == "" {
		return "", nil
	}
	path := a.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(env.Cwd(), path)
	}
	path, err := tools.Resolve(env.Root, path)
	if _, in := within(env.Root, path); err != nil || !in {
		return "", &tools.ArgError{Field: "path", Reason: "is not in your worktree"}
	}
	return path, nil
}

// Effects are what would be looked at; of a rename, the files that it would change, for which the server is asked.
func (s symbols) Effects(env *tools.Env, raw json.RawMessage) (tools.Effects, error) {
	a, err := decodeSymbols(raw)
	if err != nil {
		return tools.Effects{}, err
	}
	path, err := a.file(env)
	if err != nil {
		return tools.Effects{}, err
	}
	e := tools.Effects{Known: true, ReadOnly: true, Reads: []string{env.Root}}
	if path != "" {
		e.Reads = []string{path}
	}
	if a.Action != rename {
		return e, nil
	}
	p, refused := s.plan(env, raw, a)
	if refused != nil {
		return e, nil // Run says why, and changes nothing
	}
	e.ReadOnly, e.Reads = false, nil
	for _, c := range p {
		e.Writes = append(e.Writes, c.path)
		e.Subjects = append(e.Subjects, c.path)
	}
	return e, nil
}

func (s symbols) Run(ctx context.Context, env *tools.Env, raw json.RawMessage) (tools.Result, error) {
	a, err := decodeSymbols(raw)
	if err != nil {
		return tools.Result{}, err
	}
	if a.Action == rename {
		return s.rename(ctx, env, raw, a)
	}
	timed, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	text, err := s.answer(timed, env, a)
	if err != nil {
		return failure(ctx, a, err)
	}
	return tools.Result{Text: text}, nil
}

// answer is what the servers say.
func (s symbols) answer(ctx context.Context, env *tools.Env, a symbolsArgs) (text string, err error) {
	if a.Action == "find" {
		found, err := s.find(ctx, env, a)
		if err != nil || len(found) == 0 {
			return "no declaration matches " + a.Name, err
		}
		return list(relative(env.Root, found), "declaration"), nil
	}
	err = s.at(ctx, env, a, func(q query) (err error) {
		switch a.Action {
		case "definition":
			text, err = q.definition(ctx)
		case "references":
			text, err = q.references(ctx)
		case "hover":
			text, err = q.hover(ctx)
		default:
			text, err = q.calls(ctx)
		}
		return err
	})
	return text, err
}

// unsaid is a fault that the model can act on.
type unsaid struct {
	fault tools.Fault
	text  string
}

func (u *unsaid) Error() string { return u.text }

func refuse(f tools.Fault, format string, args ...any) error {
	return &unsaid{f, fmt.Sprintf(format, args...)}
}

// failure is the result of a call to which no server gave an answer. It is never colony's own failure.
func failure(ctx context.Context, a symbolsArgs, err error) (tools.Result, error) {
	var said *unsaid
	var wrong *tools.ArgError
	var server *jsonrpc2.Error
	switch {
	case errors.As(err, &wrong):
		return tools.Result{}, wrong
	case errors.As(err, &said):
		return tools.Refuse(said.fault, said.text), nil
	case ctx.Err() != nil:
		return tools.Result{}, ctx.Err()
	case errors.Is(err, errNone):
		return tools.Refuse(tools.Missing, "no language server here knows this file: use find"), nil
	case errors.Is(err, context.DeadlineExceeded):
		return tools.Refuse(tools.Timeout, fmt.Sprintf("the language server did not answer within %s: use find, or try again later", askLimit)), nil
	case errors.As(err, &server):
		return tools.Refuse(tools.Validation, fmt.Sprintf("%s: the language server refuses: %s", a.Action, clip(oneLine(server.Message), maxSaid))), nil
	}
	return tools.Refuse(tools.Missing, "the language server ended: use find"), nil
}

// name is a path as the model reads it.
func name(root, path string) string {
	short, in := within(root, path)
	if !in {
		return path
	}
	return filepath.ToSlash(short)
}

var _ tools.Previewer = symbols{}
