package lsp

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"go.lsp.dev/protocol"
)

// Bounds of the search for files that an edit may break.
const (
	maxSymbols = 8  // declarations whose uses are looked for
	maxUsers   = 20 // files that use them
)

// declared is one declaration in a file.
type declared struct {
	name        string
	whole, word protocol.Range
}

// symbols are the declarations of an open file, outer ones first.
func (r *root) symbols(ctx context.Context, path string) ([]declared, error) {
	if !r.server.can.can["documentSymbolProvider"] {
		return nil, nil
	}
	var said []json.RawMessage
	err := r.server.ask(ctx, protocol.MethodTextDocumentDocumentSymbol, &protocol.DocumentSymbolParams{TextDocument: protocol.TextDocumentIdentifier{URI: uriOf(path)}}, &said)
	return flat(said, 0), err
}

// symbol is a declaration in either of the two forms that servers send.
type symbol struct {
	Name           string
	Range          protocol.Range
	SelectionRange protocol.Range
	Children       []json.RawMessage
	Location       *protocol.Location
}

func flat(all []json.RawMessage, depth int) (out []declared) {
	var inner []declared
	for _, raw := range all {
		var s symbol
		if json.Unmarshal(raw, &s) != nil {
			continue
		}
		if s.Location != nil {
			s.Range, s.SelectionRange = s.Location.Range, s.Location.Range
		}
		out = append(out, declared{s.Name, s.Range, s.SelectionRange})
		if depth < 3 {
			inner = append(inner, flat(s.Children, depth+1)...)
		}
	}
	return append(out, inner...)
}

// users are files that use what stands in some lines of an open file, as the server knows it, and those that were seen to use
// it before.
func (r *root) users(ctx context.Context, path string, from, to int) []string {
	all, err := r.symbols(ctx, path)
	if err != nil {
		return nil
	}
	all = slices.DeleteFunc(all, func(d declared) bool { return int(d.whole.End.Line) < from || int(d.whole.Start.Line) > to })
	slices.SortStableFunc(all, func(a, b declared) int { return away(a, from, to) - away(b, from, to) })
	if r.needs[path] == nil {
		r.needs[path] = map[string]bool{}
	}
	for _, d := range all[:min(len(all), maxSymbols)] {
		found, err := r.references(ctx, path, d.word.Start, false)
		if err != nil {
			break
		}
		for _, l := range found {
			user := pathOf(l.URI)
			if _, in := within(r.dir, user); in && user != path && len(r.needs[path]) < maxUsers {
				r.needs[path][user] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(r.needs[path]))
}

// away is 0 for a declaration whose name stands in the lines.
func away(d declared, from, to int) int {
	if at := int(d.word.Start.Line); at >= from && at <= to {
		return 0
	}
	return 1
}

// references are the uses of what stands at a position.
func (r *root) references(ctx context.Context, path string, at protocol.Position, declaration bool) ([]protocol.Location, error) {
	var found []protocol.Location
	err := r.server.ask(ctx, protocol.MethodTextDocumentReferences, &protocol.ReferenceParams{
		TextDocumentPositionParams: protocol.TextDocumentPositionParams{TextDocument: protocol.TextDocumentIdentifier{URI: uriOf(path)}, Position: at},
		Context:                    protocol.ReferenceContext{IncludeDeclaration: declaration},
	}, &found)
	return found, err
}
