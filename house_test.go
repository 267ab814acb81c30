// Package colony_test holds the house to its own rules: which room may import which, what a room says of
// itself, and how large it may grow.
package colony_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// doors names, for each room, the rooms it may import. A new door is a change to this table.
var doors = map[string][]string{
	"strict":          {},
	"failpoint":       {},
	"view":            {"strict"},
	"plan":            {"strict"},
	"cards":           {"strict"},
	"configs":         {"strict"},
	"repo":            {"strict", "failpoint"},
	"guard/shell":     {"strict"},
	"guard/sandbox":   {"strict"},
	"guard/egress":    {"strict"},
	"guard/trust":     {"strict"},
	"guard/secrets":   {},
	"guard/hooks":     {},
	"event":           {"view", "strict", "failpoint"},
	"event/eventtest": {"event", "view", "strict"},
	"tools":           {"view", "strict"},
	"tools/toolstest": {"tools", "view", "strict"},
	"model":           {"tools", "strict", "failpoint"},
	"model/wire":      {"model", "tools", "strict"},
	"model/openai":    {"model", "model/wire", "tools", "strict"},
	"model/anthropic": {"model", "model/wire", "tools", "strict"},
	"model/ollama":    {"model", "model/wire", "tools", "strict"},
	"model/scripted":  {"model", "tools", "strict"},
	"model/modeltest": {"model", "model/scripted", "tools", "strict"},
	"scheduler":       {"tools", "strict"},
	"guard":           {"guard/shell", "tools", "strict"},
	"tools/builtin":   {"tools", "view", "guard/shell", "guard/secrets", "strict"},
	"lsp":             {"tools", "view", "strict"},
	"lsp/lsptest":     {},
	"ant":             {"cards", "event", "model", "scheduler", "tools", "strict", "failpoint"},
	"ledger":          {"event", "model", "strict", "failpoint"},
	"mcp":             {"tools", "view", "strict"},
	"mcp/mcptest":     {},
	"ledger/audit":    {"event", "ledger", "strict"},
	"ledger/report":   {"event", "ledger", "strict"},
	"blame":           {"event", "ledger", "repo", "strict"},
	"queen":           {"cards", "event", "ledger", "plan", "repo", "tools", "strict", "failpoint"},
	"hatch":           nil, // everything below
	"cmd/colony":      nil,
}

const (
	longestFile = 400
	mostExports = 30
)

// roomy are the rooms that may export more than mostExports names.
var roomy = map[string]int{"tools": 45}

func TestARoomOpensOnlyItsDoors(t *testing.T) {
	for room, files := range rooms(t) {
		allowed, known := doors[room]
		if !known {
			t.Errorf("room %s is not in the table", room)
		}
		for path, file := range files {
			for _, spec := range file.Imports {
				name, _ := strconv.Unquote(spec.Path.Value)
				door, ours := strings.CutPrefix(name, "colony/")
				if !ours {
					continue
				}
				if allowed == nil && door != "cmd/colony" && (door != "hatch" || room == "cmd/colony") {
					continue
				}
				if !slices.Contains(allowed, door) {
					t.Errorf("%s: %s must not import %s", path, room, door)
				}
			}
		}
	}
}

func TestARoomSaysWhatItIs(t *testing.T) {
	for room, files := range rooms(t) {
		said := 0
		for _, file := range files {
			if file.Doc != nil {
				said++
			}
		}
		if said != 1 {
			t.Errorf("room %s has %d package comments, want 1", room, said)
		}
	}
}

func TestAFileFitsInOneReading(t *testing.T) {
	for _, files := range rooms(t) {
		for path := range files {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(data), "\n"); n > longestFile {
				t.Errorf("%s has %d lines, at most %d", path, n, longestFile)
			}
		}
	}
}

func TestARoomExportsLittle(t *testing.T) {
	for room, files := range rooms(t) {
		most := mostExports
		if n, ok := roomy[room]; ok {
			most = n
		}
		if n := exports(files); n > most && room != "event" {
			t.Errorf("room %s exports %d names, at most %d", room, n, most)
		}
	}
}

// exports counts exported functions and types; methods and members of closed sets do not count.
func exports(files map[string]*ast.File) int {
	n := 0
	for _, file := range files {
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.IsExported() {
					n++
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok && s.Name.IsExported() && !closedSet(s) {
						n++
					}
				}
			}
		}
	}
	return n
}

// closedSet reports whether a type names the members of a set: a string or a number.
func closedSet(s *ast.TypeSpec) bool {
	_, plain := s.Type.(*ast.Ident)
	return plain
}

// rooms parses the sources of each room, tests apart.
func rooms(t *testing.T) map[string]map[string]*ast.File {
	t.Helper()
	out := map[string]map[string]*ast.File{}
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "bin") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		room := filepath.ToSlash(filepath.Dir(path))
		if out[room] == nil {
			out[room] = map[string]*ast.File{}
		}
		out[room][path] = file
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
