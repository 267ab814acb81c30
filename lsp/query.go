package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"colony/tools"
	"colony/view"
)

// Bounds of what symbols answers.
const (
	maxListed = 100
	maxHover  = 4 << 10
)

// spot is a place in a file that is spoken of.
type spot struct {
	path string
	at   place
	what string // the kind and name of what is there, or the text of the line
}

// query is a question about a name in a file, to a server that has it open.
type query struct {
	root *root
	path string
	at   protocol.Position
}

// at asks about the name that the arguments mean, with the worktree's turn taken.
func (s symbols) at(ctx context.Context, env *tools.Env, a symbolsArgs, ask func(query) error) error {
	path, err := a.file(env)
	if err != nil {
		return err
	}
	line, column := a.Line, a.Column
	if path == "" {
		one, err := s.only(ctx, env, a)
		if err != nil {
			return err
		}
		path, line, column = one.path, one.at.line, one.at.column
	}
	text, stamp, ok := read(env.Root, path)
	if !ok {
		return refuse(tools.Missing, "%s: no file that can be read: check the name with find", name(env.Root, path))
	}
	r, err := s.all.openFor(ctx, env.Root, path)
	if err != nil {
		return err
	}
	done, err := r.take(ctx)
	if err != nil {
		return err
	}
	defer done()
	if _, err := r.notice(ctx); err != nil {
		return err
	}
	if err := r.show(ctx, path, text, stamp); err != nil {
		return err
	}
	r.hearOut(ctx, path)
	position, err := r.position(ctx, path, line, column, a.Name)
	if err != nil {
		return err
	}
	return ask(query{r, path, position})
}

// openFor is a worktree, opened in the best server for a file that can be started.
func (s *Servers) openFor(ctx context.Context, dir, path string) (*root, error) {
	for _, k := range s.kindsOf(path) {
		if k.over() {
			continue
		}
		if r, err := k.open(ctx, dir); err == nil || !k.over() {
			return r, err
		}
	}
	return nil, errNone
}

// position is where a name stands in an open file: in a line, at a column or where the line has the name, or where the file
// declares it.
func (r *root) position(ctx context.Context, path string, line, column int, word string) (protocol.Position, error) {
	all := lines(r.docs[path].text)
	short := name(r.dir, path)
	if line == 0 {
		declared, err := r.symbols(ctx, path)
		if err != nil {
			return protocol.Position{}, err
		}
		for _, d := range declared {
			if d.name == word || strings.HasSuffix(d.name, "."+word) {
				return r.wordIn(all, d, word), nil
			}
		}
		return protocol.Position{}, refuse(tools.Missing, "%s declares no %s: give the line where the name stands", short, word)
	}
	if line > len(all) {
		return protocol.Position{}, refuse(tools.Validation, "%s has %d lines", short, len(all))
	}
	text := all[line-1]
	at := 0
	switch {
	case column > 0:
		for ; column > 1 && at < len(text); column-- {
			_, size := utf8.DecodeRuneInString(text[at:])
			at += size
		}
	case word != "":
		if at = strings.Index(text, word); at < 0 {
			return protocol.Position{}, refuse(tools.Missing, "%s:%d does not hold %s: the line is %q", short, line, word, clip(text, maxSaid))
		}
	default:
		at = len(text) - len(strings.TrimLeft(text, " \t"))
	}
	return protocol.Position{Line: uint32(line - 1), Character: uint32(unitsIn(text, at, r.server.can.enc))}, nil
}

// wordIn is where a declaration says its name: some servers give the whole declaration for it.
func (r *root) wordIn(all []string, d declared, word string) protocol.Position {
	at := d.word.Start
	if int(at.Line) >= len(all) {
		return at
	}
	text := all[at.Line]
	from := offsetIn(text, int(at.Character), r.server.can.enc)
	if i := strings.Index(text[from:], word); i > 0 && d.word == d.whole {
		at.Character = uint32(unitsIn(text, from+i, r.server.can.enc))
	}
	return at
}

// placeOf is a position of a file as people count it.
func (r *root) placeOf(path string, at protocol.Position) place {
	if _, in := within(r.dir, path); !in {
		return place{int(at.Line) + 1, int(at.Character) + 1} // of a file that is not read here
	}
	return placeIn(r.linesOf(path), int(at.Line), int(at.Character), r.server.can.enc)
}

// linesOf are the lines of a file as the server knows it.
func (r *root) linesOf(path string) []string {
	if d := r.docs[path]; d != nil {
		return lines(d.text)
	}
	text, _, _ := read(r.dir, path)
	return lines(text)
}

// spots are places that a server named, with their lines. Those in other worktrees are left out.
func (r *root) spots(all []protocol.Location) []spot {
	var out []spot
	for _, l := range all {
		path := pathOf(l.URI)
		_, in := within(r.dir, path)
		if _, beside := within(filepath.Dir(r.dir), path); path == "" || beside && !in {
			continue
		}
		one := spot{path: path, at: r.placeOf(path, l.Range.Start)}
		if text := r.linesOf(path); in && int(l.Range.Start.Line) < len(text) {
			one.what = clip(strings.TrimSpace(text[l.Range.Start.Line]), maxSaid)
		}
		out = append(out, one)
	}
	slices.SortStableFunc(out, func(a, b spot) int { return strings.Compare(a.path, b.path) })
	return slices.CompactFunc(out, func(a, b spot) bool { return a.path == b.path && a.at == b.at })
}

// list is places as the model reads them.
func list(all []spot, noun string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", plural(len(all), noun, noun+"s"))
	for _, f := range all[:min(len(all), maxListed)] {
		fmt.Fprintf(&b, "\n%s:%d:%d", view.Line(f.path), f.at.line, f.at.column)
		if f.what != "" {
			fmt.Fprintf(&b, ": %s", view.Line(f.what))
		}
	}
	if left := len(all) - maxListed; left > 0 {
		fmt.Fprintf(&b, "\n… and %d more", left)
	}
	return b.String()
}

func (q query) params() protocol.TextDocumentPositionParams {
	return protocol.TextDocumentPositionParams{TextDocument: protocol.TextDocumentIdentifier{URI: uriOf(q.path)}, Position: q.at}
}

func (q query) definition(ctx context.Context) (string, error) {
	var raw json.RawMessage
	if err := q.root.server.ask(ctx, protocol.MethodTextDocumentDefinition, &protocol.DefinitionParams{TextDocumentPositionParams: q.params()}, &raw); err != nil {
		return "", err
	}
	return q.places(locations(raw), "definition")
}

func (q query) references(ctx context.Context) (string, error) {
	all, err := q.root.references(ctx, q.path, q.at, true)
	if err != nil {
		return "", err
	}
	return q.places(all, "reference")
}

func (q query) places(all []protocol.Location, noun string) (string, error) {
	if found := q.root.spots(all); len(found) > 0 {
		return list(relative(q.root.dir, found), noun), nil
	}
	return "the language server knows no " + noun + " here: is a name at that place?", nil
}

// relative names files of the worktree from its root.
func relative(dir string, all []spot) []spot {
	for i := range all {
		all[i].path = name(dir, all[i].path)
	}
	return all
}

// locations are those of an answer, which is one, several, or links.
func locations(raw json.RawMessage) []protocol.Location {
	var many []json.RawMessage
	if json.Unmarshal(raw, &many) != nil {
		many = []json.RawMessage{raw}
	}
	var out []protocol.Location
	for _, one := range many {
		var l struct {
			URI                  uri.URI
			Range                protocol.Range
			TargetURI            uri.URI
			TargetSelectionRange protocol.Range
		}
		if json.Unmarshal(one, &l) != nil {
			continue
		}
		if l.TargetURI != "" {
			l.URI, l.Range = l.TargetURI, l.TargetSelectionRange
		}
		if l.URI != "" {
			out = append(out, protocol.Location{URI: l.URI, Range: l.Range})
		}
	}
	return out
}

func (q query) hover(ctx context.Context) (string, error) {
	var said struct{ Contents json.RawMessage }
	if err := q.root.server.ask(ctx, protocol.MethodTextDocumentHover, &protocol.HoverParams{TextDocumentPositionParams: q.params()}, &said); err != nil {
		return "", err
	}
	if text := strings.TrimSpace(marked(said.Contents)); text != "" {
		return clip(view.Text(text), maxHover), nil
	}
	return "the language server knows nothing of this place: is a name there?", nil
}

// marked is the text of what a hover shows, in any of its forms.
func marked(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var markup struct{ Value string }
	if json.Unmarshal(raw, &markup) == nil {
		return markup.Value
	}
	var many []json.RawMessage
	if json.Unmarshal(raw, &many) != nil {
		return ""
	}
	var parts []string
	for _, one := range many {
		parts = append(parts, marked(one))
	}
	return strings.Join(parts, "\n")
}

// calls are who calls what stands there, and what it calls.
func (q query) calls(ctx context.Context) (string, error) {
	var items []json.RawMessage
	if err := q.root.server.ask(ctx, protocol.MethodTextDocumentPrepareCallHierarchy, &protocol.CallHierarchyPrepareParams{TextDocumentPositionParams: q.params()}, &items); err != nil {
		return "", err
	}
	if len(items) == 0 {
		return "the language server knows no function here", nil
	}
	in, err := q.side(ctx, protocol.MethodCallHierarchyIncomingCalls, items[0], "from")
	if err != nil {
		return "", err
	}
	out, err := q.side(ctx, protocol.MethodCallHierarchyOutgoingCalls, items[0], "to")
	if err != nil {
		return "", err
	}
	return "called by " + in + "\ncalls " + out, nil
}

func (q query) side(ctx context.Context, method string, item json.RawMessage, end string) (string, error) {
	var said []map[string]json.RawMessage
	if err := q.root.server.ask(ctx, method, map[string]any{"item": item}, &said); err != nil {
		return "", err
	}
	var all []protocol.Location
	for _, one := range said {
		var other struct {
			URI            uri.URI
			SelectionRange protocol.Range
		}
		if json.Unmarshal(one[end], &other) == nil {
			all = append(all, protocol.Location{URI: other.URI, Range: other.SelectionRange})
		}
	}
	return list(relative(q.root.dir, q.root.spots(all)), "function"), nil
}
