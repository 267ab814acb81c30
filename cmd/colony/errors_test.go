package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The page lists every code that the sources have, with its exit code, and no other.
func TestEveryErrorCodeIsOnItsPage(t *testing.T) {
	const page = "../../docs/errors.md"
	source, listed := problemsOf(t, "../.."), codesOn(t, page)
	if len(source) < 10 {
		t.Fatalf("the sources have %d codes: they were not read", len(source))
	}
	for code, exits := range source {
		if _, ok := listed[code]; !ok {
			t.Errorf("%s does not list the code %s", page, code)
			continue
		}
		for _, exit := range exits {
			if !slices.Contains(listed[code], exit) {
				t.Errorf("%s does not say that %s can end with exit %s", page, code, exit)
			}
		}
	}
	for code := range listed {
		if _, ok := source[code]; !ok {
			t.Errorf("%s lists the code %s, which no source has", page, code)
		}
	}
}

// codesOn reads the rows that begin with a code: its exit codes.
func codesOn(t *testing.T, page string) map[string][]string {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	codes := map[string][]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([0-9, ]+) \\|").FindAllStringSubmatch(string(data), -1) {
		if _, twice := codes[row[1]]; twice {
			t.Errorf("%s lists the code %s twice", page, row[1])
		}
		codes[row[1]] = strings.Split(row[2], ", ")
	}
	return codes
}

// problemsOf finds every Problem that the sources make: its code, and the exits that are plain numbers.
func problemsOf(t *testing.T, root string) map[string][]string {
	t.Helper()
	codes := map[string][]string{}
	fset := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "bin") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		f := problemFile{t, fset, file, codes}
		ast.Inspect(file, f.literal)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return codes
}

// problemFile collects the problems of one file.
type problemFile struct {
	t     *testing.T
	fset  *token.FileSet
	file  *ast.File
	codes map[string][]string
}

func (f problemFile) literal(n ast.Node) bool {
	lit, ok := n.(*ast.CompositeLit)
	if !ok || !isProblem(lit.Type) {
		return true
	}
	var code ast.Expr
	exit := ""
	for _, e := range lit.Elts {
		pair, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		key, _ := pair.Key.(*ast.Ident)
		number, plain := pair.Value.(*ast.BasicLit)
		switch {
		case key == nil:
		case key.Name == "Code":
			code = pair.Value
		case key.Name == "Exit" && plain:
			exit = number.Value
		}
	}
	switch c := code.(type) {
	case *ast.BasicLit:
		f.add(c, exit)
	case *ast.Ident:
		f.passed(c.Name, lit.Pos(), exit)
	default:
		f.t.Errorf("%s: a problem without a code that can be read", f.fset.Position(lit.Pos()))
	}
	return true
}

// isProblem reports whether a type is hatch's Problem, and not a diagnostic, which is view's.
func isProblem(of ast.Expr) bool {
	if s, ok := of.(*ast.SelectorExpr); ok {
		if from, ok := s.X.(*ast.Ident); ok && from.Name == "view" {
			return false
		}
		of = s.Sel
	}
	name, ok := of.(*ast.Ident)
	return ok && name.Name == "Problem"
}

func (f problemFile) add(code *ast.BasicLit, exit string) {
	word, err := strconv.Unquote(code.Value)
	if err != nil {
		f.t.Errorf("%s: the code %s is no text", f.fset.Position(code.Pos()), code.Value)
		return
	}
	if _, ok := f.codes[word]; !ok {
		f.codes[word] = nil
	}
	if exit != "" && !slices.Contains(f.codes[word], exit) {
		f.codes[word] = append(f.codes[word], exit)
	}
}

// passed finds the codes that come in through a parameter: the calls of the function that at lies in.
func (f problemFile) passed(param string, at token.Pos, exit string) {
	name, place := "", -1
	ast.Inspect(f.file, func(n ast.Node) bool {
		if n == nil || at < n.Pos() || n.End() <= at {
			return false
		}
		switch n := n.(type) {
		case *ast.FuncDecl:
			name, place = n.Name.Name, placeOf(n.Type, param)
		case *ast.AssignStmt:
			fn, isFunc := n.Rhs[0].(*ast.FuncLit)
			to, isName := n.Lhs[0].(*ast.Ident)
			if isFunc && isName {
				name, place = to.Name, placeOf(fn.Type, param)
			}
		}
		return true
	})
	found := 0
	ast.Inspect(f.file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if fn, ok := call.Fun.(*ast.Ident); !ok || fn.Name != name || place < 0 || place >= len(call.Args) {
			return true
		}
		found++
		if code, ok := call.Args[place].(*ast.BasicLit); ok {
			f.add(code, exit)
		} else {
			f.t.Errorf("%s: a code that is not written out", f.fset.Position(call.Pos()))
		}
		return true
	})
	if found == 0 {
		f.t.Errorf("%s: the code %s comes from nowhere in this file", f.fset.Position(at), param)
	}
}

// placeOf is the place of a parameter; -1 where there is none of the name.
func placeOf(fn *ast.FuncType, param string) int {
	at := 0
	for _, field := range fn.Params.List {
		for _, name := range field.Names {
			if name.Name == param {
				return at
			}
			at++
		}
	}
	return -1
}
