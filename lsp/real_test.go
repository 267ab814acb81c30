package lsp_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"colony/lsp"
)

// installed is the known server of a name, as `make servers` installs it; a test that needs one is skipped where it is not.
func installed(t *testing.T, name string) lsp.Server {
	t.Helper()
	cache, err := filepath.Abs("../.cache")
	if err != nil {
		t.Fatal(err)
	}
	for _, known := range lsp.Known() {
		if known.Name != name {
			continue
		}
		for _, dir := range []string{"bin", "servers/node_modules/.bin"} {
			path := filepath.Join(cache, dir, known.Argv[0])
			if _, err := os.Stat(path); err == nil {
				known.Argv = append([]string{path}, known.Argv[1:]...)
				return known
			}
		}
		t.Skipf("%s is not installed here: make servers does that", name)
	}
	t.Fatalf("no server is named %s", name)
	return lsp.Server{}
}

var goFiles = map[string]string{
	"go.mod":      "module example.test/m\n\ngo 1.24\n",
	"lib/lib.go":  "package lib\n\n// Sum adds.\nfunc Sum(a, b int) int { return a + b }\n",
	"main.go":     "package main\n\nimport \"example.test/m/lib\"\n\nfunc main() { println(lib.Sum(1, 2)) }\n",
	"other/o.go":  "package other\n\nfunc Nothing() {}\n",
	"lib/more.go": "package lib\n\nfunc Twice(a int) int { return Sum(a, a) }\n",
}

func TestGoplsSaysWhatAnEditBrokeElsewhere(t *testing.T) {
	known := installed(t, "gopls")
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not on PATH")
	}
	w := newWorld(t, newServers(t, lsp.Parts{Known: []lsp.Server{known}}), goFiles)
	r := w.edit("lib/lib.go", "func Sum(a, b int) int { return a + b }", "func Sum(a, b, c int) int { return a + b + c }")
	t.Log(r.Text)
	for _, want := range []string{"lib/more.go:3:", "main.go:5:", "not enough arguments in call"} {
		if !strings.Contains(r.Text, want) {
			t.Errorf("no %q", want)
		}
	}
	r = w.edit("lib/lib.go", "func Sum(a, b, c int) int { return a + b + c }", "func Sum(a, b int) int { return a + b }")
	t.Log(r.Text)
	if !strings.Contains(r.Text, "nothing new; 2 gone") {
		t.Error("the fix did not clear it")
	}
}

func TestTypeScriptSaysWhatAnEditBrokeElsewhere(t *testing.T) {
	w := newWorld(t, newServers(t, lsp.Parts{Known: []lsp.Server{installed(t, "tsc")}}), map[string]string{
		"tsconfig.json": `{"compilerOptions":{"strict":true,"module":"esnext","moduleResolution":"bundler","noEmit":true},"include":["src"]}`,
		"src/lib.ts":    "export function sum(a: number, b: number): number {\n  return a + b;\n}\n",
		"src/main.ts":   "import { sum } from './lib';\n\nconsole.log(sum(1, 2));\n",
		"src/other.ts":  "export const other = 1;\n",
	})
	broken(t, w, "src/lib.ts", "b: number)", "b: number, c: number)", "src/main.ts:3:", "Expected 3 arguments")
}

func TestPyrightSaysWhatAnEditBrokeElsewhere(t *testing.T) {
	w := newWorld(t, newServers(t, lsp.Parts{Known: []lsp.Server{installed(t, "pyright")}}), map[string]string{
		"pyproject.toml": "[project]\nname = \"m\"\n",
		"lib.py":         "def total(a: int, b: int) -> int:\n    return a + b\n",
		"main.py":        "from lib import total\n\nprint(total(1, 2))\n",
	})
	broken(t, w, "lib.py", "b: int)", "b: int, c: int)", "main.py:3:", "missing for parameter \"c\"")
}

// broken wants an edit that breaks a call in another file to say so in its own result, and the fix to clear it.
func broken(t *testing.T, w *world, name, before, after string, wants ...string) {
	t.Helper()
	r := w.edit(name, before, after)
	t.Log(r.Text)
	for _, want := range wants {
		if !strings.Contains(r.Text, want) {
			t.Errorf("no %q", want)
		}
	}
	r = w.edit(name, after, before)
	t.Log(r.Text)
	if !strings.Contains(r.Text, "nothing new; ") || !strings.Contains(r.Text, " gone") {
		t.Error("the fix did not clear it")
	}
}
