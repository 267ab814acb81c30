package lsp_test

import (
	"os/exec"
	"strings"
	"testing"

	"colony/lsp"
	"colony/lsp/lsptest"
	"colony/tools"
)

func TestSymbolsOfGo(t *testing.T) {
	known := installed(t, "gopls")
	w := newWorld(t, newServers(t, lsp.Parts{Known: []lsp.Server{known}}), goFiles)
	asked(t, w, "lib/lib.go", 4, "Sum", map[string][]string{
		"find":       {"lib/lib.go:4:6: function", "Sum"},
		"definition": {"lib/lib.go:4:6: func Sum(a, b int) int { return a + b }"},
		"references": {"3 references\nlib/lib.go:4:6:", "lib/more.go:3:", "main.go:5:"},
		"hover":      {"func Sum(a int, b int) int", "Sum adds."},
		"calls":      {"called by 2 functions\nlib/more.go:3:6", "main.go:5:6", "calls 0 functions"},
	})
	renamed(t, w, map[string]any{"action": "rename", "path": "lib/lib.go", "line": 4, "name": "Sum", "new_name": "Total"},
		"renamed 4 places in 3 files:\nlib/lib.go: 2 places\nlib/more.go: 1 place", "main.go", "lib.Total(1, 2)")
	vet := exec.Command("go", "vet", "./...")
	vet.Dir = w.env.Root
	if out, err := vet.CombinedOutput(); err != nil {
		t.Errorf("the rename does not compile: %s", out)
	}
	r := w.symbols(map[string]any{"action": "rename", "name": "Total", "new_name": "1x"})
	if r.Fault != tools.Validation {
		t.Errorf("got %q, %s", r.Fault, r.Text)
	}
}

func TestSymbolsOfTypeScript(t *testing.T) {
	w := newWorld(t, newServers(t, lsp.Parts{Known: []lsp.Server{installed(t, "tsc")}}), map[string]string{
		"tsconfig.json": `{"compilerOptions":{"strict":true,"module":"esnext","moduleResolution":"bundler","noEmit":true},"include":["src"]}`,
		"src/lib.ts":    "/** Adds. */\nexport function sum(a: number, b: number): number {\n  return a + b;\n}\n",
		"src/main.ts":   "import { sum } from './lib';\n\nconsole.log(sum(1, 2));\n",
	})
	asked(t, w, "src/lib.ts", 2, "sum", map[string][]string{
		"find":       {"src/lib.ts:2:", "function sum"},
		"definition": {"src/lib.ts:2:17: export function sum"},
		"references": {"src/lib.ts:2:17", "src/main.ts:3:13"},
		"hover":      {"function sum(a: number, b: number): number"},
	})
	renamed(t, w, map[string]any{"action": "rename", "path": "src/lib.ts", "line": 2, "name": "sum", "new_name": "total"},
		"renamed 3 places in 2 files:", "src/main.ts", "console.log(total(1, 2));")
	check := exec.Command(installed(t, "tsc").Argv[0], "-p", ".")
	check.Dir = w.env.Root
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("the rename does not compile: %s", out)
	}
}

func TestSymbolsOfPython(t *testing.T) {
	w := newWorld(t, newServers(t, lsp.Parts{Known: []lsp.Server{installed(t, "pyright")}}), map[string]string{
		"lib.py":  "def total(a: int, b: int) -> int:\n    \"\"\"Adds.\"\"\"\n    return a + b\n",
		"main.py": "from lib import total\n\nprint(total(1, 2))\n",
	})
	asked(t, w, "lib.py", 1, "total", map[string][]string{
		"find":       {"lib.py:1:5: function total"},
		"definition": {"lib.py:1:5: def total"},
		"references": {"lib.py:1:5", "main.py:1:17", "main.py:3:7"},
		"hover":      {"total(", "Adds."},
	})
	renamed(t, w, map[string]any{"action": "rename", "path": "lib.py", "line": 1, "name": "total", "new_name": "added"},
		"renamed 3 places in 2 files:", "main.py", "print(added(1, 2))")
}

// asked wants each action on a name to say so much.
func asked(t *testing.T, w *world, path string, line int, name string, wants map[string][]string) {
	t.Helper()
	for action, all := range wants {
		args := map[string]any{"action": action, "path": path, "line": line, "name": name}
		if action == "find" {
			args = map[string]any{"action": action, "name": name}
		}
		r := w.symbols(args)
		for _, want := range all {
			if !strings.Contains(r.Text, want) {
				t.Errorf("%s: no %q in %q %q", action, want, r.Fault, r.Text)
			}
		}
	}
}

// renamed wants a rename to say this, and a file to hold that afterwards.
func renamed(t *testing.T, w *world, args map[string]any, said, path, holds string) {
	t.Helper()
	r := w.symbols(args)
	t.Log(r.Text)
	if !strings.Contains(r.Text, said) || !strings.Contains(r.Text, "nothing new") || r.Fault != "" {
		t.Errorf("got %q %q", r.Fault, r.Text)
	}
	if !strings.Contains(w.text(path), holds) {
		t.Errorf("%s is %q", path, w.text(path))
	}
}

func TestSymbolsSaysWhatItLacks(t *testing.T) {
	w := fakeWorld(t, lsptest.Plain, 0, map[string]string{"a.x": "one\n", "a.txt": "one\n"})
	for _, c := range []struct {
		args  map[string]any
		fault tools.Fault
		text  string
	}{
		{map[string]any{"action": "definition", "path": "a.txt", "line": 1}, tools.Missing, "no language server here knows this file"},
		{map[string]any{"action": "definition", "path": "b.x", "line": 1}, tools.Missing, "b.x: no file that can be read"},
		{map[string]any{"action": "hover", "path": "a.x", "line": 9}, tools.Validation, "a.x has 2 lines"},
		{map[string]any{"action": "hover", "path": "a.x", "line": 1, "name": "two"}, tools.Missing, "a.x:1 does not hold two"},
		{map[string]any{"action": "rename", "path": "a.x", "line": 1, "new_name": "two"}, tools.Missing, "fake cannot rename"},
	} {
		if r := w.symbols(c.args); r.Fault != c.fault || !strings.Contains(r.Text, c.text) {
			t.Errorf("%v: got %q %q", c.args, r.Fault, r.Text)
		}
	}
}

// A rename changes what its effects and its preview said, and nothing where that is no longer so.
func TestWhatARenameShowsIsWhatItDoes(t *testing.T) {
	w := fakeWorld(t, lsptest.Renaming, 0, map[string]string{"a.x": "one two\n"})
	call := w.call("symbols", map[string]any{"action": "rename", "path": "a.x", "line": 1, "new_name": "uno"})
	p := w.env.Tools.Prepare(call)
	e, err := p.Tool.Effects(w.env, p.Call.Args)
	if err != nil || len(e.Writes) != 1 || e.ReadOnly {
		t.Fatalf("got %+v, %v", e, err)
	}
	shown, err := p.Tool.(tools.Previewer).Preview(t.Context(), w.env, p.Call.Args)
	if err != nil || w.text("a.x") != "one two\n" || len(shown.Seen) != 2 {
		t.Fatalf("got %+v, %v", shown, err)
	}
	if r := w.batch(call)[0]; r.Fault != "" || w.text("a.x") != "unoz two\n" {
		t.Errorf("got %q, %q", r.Text, w.text("a.x"))
	}
	w.put("a.x", "one three\n")
	if _, err := p.Tool.Effects(w.env, p.Call.Args); err != nil {
		t.Fatal(err)
	}
	w.put("a.x", "one four\n")
	r, err := p.Tool.Run(t.Context(), w.env, p.Call.Args)
	if err != nil || r.Fault != tools.StaleRead || w.text("a.x") != "one four\n" {
		t.Errorf("got %q %q, %v", r.Fault, w.text("a.x"), err)
	}
}

func TestARenameStaysInTheWorktree(t *testing.T) {
	w := fakeWorld(t, lsptest.Renaming, 0, map[string]string{"a.x": "one two\n"})
	for name, want := range map[string]string{
		"outside": "this would change /etc/hostname, which is not in your worktree", "up": "which is not in your worktree",
		"overlap": "a.x: the server's edits overlap", "create": "would also create a file",
	} {
		r := w.symbols(map[string]any{"action": "rename", "path": "a.x", "line": 1, "new_name": name})
		if r.Fault == "" || !strings.Contains(r.Text, want) || w.text("a.x") != "one two\n" {
			t.Errorf("%s: got %q %q", name, r.Fault, r.Text)
		}
	}
}
