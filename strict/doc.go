package strict

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// MaxBytes is the largest file that is read, MaxKeys how many keys it may have, and MaxDepth how deep its
// values may nest.
const (
	MaxBytes = 1 << 20
	MaxKeys  = 10_000
	MaxDepth = 32
)

// Doc is one parsed document. It is immutable and safe for concurrent use.
type Doc struct {
	file  string
	lines []string
	root  ast.Node
	nodes map[string]ast.Node // by path, as in tasks[1].needs[0]
	keys  map[string]ast.Node // the key that names the path's value
}

// Parse reads one YAML document. Anchors, aliases, tags, merge keys, directives and second documents are
// faults, so what a person sees is what is read. Duplicate keys are faults; the document is then still
// returned, so that Decode can name what else is wrong. After a fault of syntax the document is nil.
func Parse(file string, data []byte) (*Doc, Faults) {
	d := &Doc{file: file, nodes: map[string]ast.Node{}, keys: map[string]ast.Node{}}
	if len(data) > MaxBytes {
		return nil, Faults{{File: file, Text: fmt.Sprintf("%d bytes: a file may have at most %d", len(data), MaxBytes)}}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	d.lines = strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
	if faults := d.text(); len(faults) > 0 {
		return nil, faults
	}
	tokens := lexer.Tokenize(strings.Join(d.lines, "\n"))
	if faults := d.tokens(tokens); len(faults) > 0 {
		return nil, faults
	}
	tree, fault := d.tree(tokens)
	if fault != nil {
		return nil, Faults{*fault}
	}
	if len(tree.Docs) > 0 {
		d.root = tree.Docs[0].Body
	}
	return d, d.index("", d.root, nil).Sorted()
}

// text finds bytes that are no text.
func (d *Doc) text() Faults {
	for i, line := range d.lines {
		for col, r := range []rune(line) {
			if control(r) {
				return Faults{d.at(i+1, col+1, fmt.Sprintf("the character %U is not allowed here", r))}
			}
		}
	}
	return nil
}

// control says that a character is not text: it steers a terminal, ends a line unseen, turns the order of what
// is read, or is no character.
func control(r rune) bool {
	switch r {
	case '\t', '\n':
		return false
	case utf8.RuneError, 0x7f, 0x2028, 0x2029, 0xfeff:
		return true
	}
	return r < ' ' || r >= 0x80 && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// tokens finds what is never read, and nesting that is too deep for any file a person wrote.
func (d *Doc) tokens(tokens token.Tokens) Faults {
	var faults Faults
	flow, keys, documents, blocks := 0, 0, 0, []int{}
	for _, t := range tokens {
		switch t.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			faults = append(faults, d.token(t, "anchors, aliases and merge keys are not read: write the value out"))
		case token.TagType:
			faults = append(faults, d.token(t, "tags are not read: write the value alone"))
		case token.DirectiveType:
			return Faults{d.token(t, "directives are not read: delete the line")}
		case token.DocumentHeaderType:
			if documents++; documents > 1 || t.Prev != nil && t.Prev.Type != token.CommentType {
				faults = append(faults, d.token(t, "a second document is not read: one file holds one document"))
			}
		case token.DocumentEndType:
			if t.Next != nil {
				return append(faults, d.token(t, "what follows this line is not read: one file holds one document"))
			}
		case token.MappingStartType, token.SequenceStartType:
			flow++
		case token.MappingEndType, token.SequenceEndType:
			flow--
		case token.SequenceEntryType, token.MappingValueType:
			blocks = deepen(blocks, t)
			if t.Type == token.MappingValueType {
				keys++
			}
		case token.InvalidType:
			return Faults{d.token(t, syntaxText(t.Error))}
		}
		if keys > MaxKeys {
			return append(faults, d.token(t, fmt.Sprintf("a file may have at most %d keys", MaxKeys)))
		}
		if flow+len(blocks) > MaxDepth {
			return append(faults, d.token(t, fmt.Sprintf("values may nest at most %d deep", MaxDepth)))
		}
	}
	return faults
}

// deepen is the stack of columns at which blocks that hold the token began.
func deepen(blocks []int, t *token.Token) []int {
	column := t.Position.Column
	if t.Type == token.MappingValueType && t.Prev != nil {
		column = t.Prev.Position.Column
	}
	for len(blocks) > 0 && blocks[len(blocks)-1] >= column {
		blocks = blocks[:len(blocks)-1]
	}
	return append(blocks, column)
}

// tree is the syntax tree. The parser's own panics are faults: its input is a stranger's.
func (d *Doc) tree(tokens token.Tokens) (tree *ast.File, fault *Fault) {
	defer func() {
		if r := recover(); r != nil {
			fault = &Fault{File: d.file, Line: 1, Column: 1, Text: "this is not YAML that can be read"}
		}
	}()
	tree, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err == nil {
		return tree, nil
	}
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) && syntax.Token != nil {
		f := d.token(syntax.Token, syntaxText(syntax.Message))
		return nil, &f
	}
	return nil, &Fault{File: d.file, Line: 1, Column: 1, Text: syntaxText(err.Error())}
}

func syntaxText(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return "syntax: " + first
}

// index keeps each value and key by its path, and finds keys that are there twice.
func (d *Doc) index(path string, node, key ast.Node) Faults {
	if node == nil {
		return nil
	}
	d.nodes[path], d.keys[path] = node, key
	var faults Faults
	switch n := node.(type) {
	case *ast.MappingNode:
		seen := map[string]bool{}
		for _, entry := range n.Values {
			name, ok := keyName(entry.Key)
			switch {
			case !ok:
				faults = append(faults, d.node(entry.Key, "a key is a plain word"))
			case seen[name]:
				faults = append(faults, d.node(entry.Key, fmt.Sprintf("%s is here twice: keep one", clip(name))))
			default:
				seen[name] = true
				faults = append(faults, d.index(join(path, name), entry.Value, entry.Key)...)
			}
		}
	case *ast.SequenceNode:
		for i, value := range n.Values {
			faults = append(faults, d.index(fmt.Sprintf("%s[%d]", path, i), value, nil)...)
		}
	}
	return faults
}

// Has says whether the path is in the document.
func (d *Doc) Has(path string) bool {
	_, ok := d.nodes[path]
	return ok
}

// Kind is what stands at the path: "mapping", "list", "scalar", "null", or "" for nothing.
func (d *Doc) Kind(path string) string {
	switch d.nodes[path].(type) {
	case nil:
		return ""
	case *ast.MappingNode:
		return "mapping"
	case *ast.SequenceNode:
		return "list"
	case *ast.NullNode:
		return "null"
	}
	return "scalar"
}

// Names are the keys of the mapping at the path, in the order of the file, or nil.
func (d *Doc) Names(path string) []string {
	mapping, ok := d.nodes[path].(*ast.MappingNode)
	if !ok {
		return nil
	}
	var names []string
	for _, entry := range mapping.Values {
		if name, ok := keyName(entry.Key); ok {
			names = append(names, name)
		}
	}
	return names
}

// At is the place of the value at the path, or of the nearest value that holds it.
func (d *Doc) At(path string) (line, column int) {
	for {
		if node, ok := d.nodes[path]; ok {
			return place(node)
		}
		if path == "" {
			return 1, 1
		}
		path = parent(path)
	}
}

// Fault is a fault at the value of the path.
func (d *Doc) Fault(path, text string) Fault {
	line, column := d.At(path)
	return d.at(line, column, text)
}

// KeyFault is a fault at the key that names the path, for a key that may not be there at all.
func (d *Doc) KeyFault(path, text string) Fault {
	if key := d.keys[path]; key != nil {
		return d.node(key, text)
	}
	return d.Fault(path, text)
}

func (d *Doc) node(node ast.Node, text string) Fault {
	line, column := place(node)
	return d.at(line, column, text)
}

func (d *Doc) token(t *token.Token, text string) Fault {
	return d.at(t.Position.Line, t.Position.Column, text)
}

// at is a fault with its excerpt: the line, and a caret under the column.
func (d *Doc) at(line, column int, text string) Fault {
	line, column = min(max(line, 1), max(len(d.lines), 1)), max(column, 1)
	return Fault{File: d.file, Line: line, Column: column, Text: text, Excerpt: excerpt(d.lines[line-1], column)}
}

// excerpt shows at most 100 characters of the line round the column. Tabs become blanks so that the caret
// stands under its place, and what could steer a terminal is not shown.
func excerpt(line string, column int) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return ' '
		}
		return r
	}, line))
	column = min(column, len(runes)+1)
	from := max(0, column-60)
	to := min(len(runes), from+100)
	return "    " + string(runes[from:to]) + "\n    " + strings.Repeat(" ", column-1-from) + "^"
}

func place(node ast.Node) (line, column int) {
	switch n := node.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return place(n.Values[0].Key)
		}
		if n.Start != nil {
			return n.Start.Position.Line, n.Start.Position.Column
		}
	case *ast.LiteralNode:
		return n.Start.Position.Line, n.Start.Position.Column
	}
	if t := node.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line, t.Position.Column
	}
	return 1, 1
}

func keyName(key ast.Node) (string, bool) {
	switch key.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		name := key.GetToken().Value
		return name, name != "" && !strings.ContainsFunc(name, func(r rune) bool { return r == '\n' || control(r) })
	}
	return "", false
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func parent(path string) string {
	return path[:max(strings.LastIndexAny(path, ".["), 0)]
}
