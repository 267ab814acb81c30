package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"colony/lsp"
	"colony/tools"
	"colony/tools/builtin"
)

const (
	languageFiles = 200
	languageEdits = 40
)

// measureLanguages is what gopls adds to an edit in a module of 200 files once it has read it, edits that break and mend a call
// in another file by turns, and what it holds for 1, 4 and 16 worktrees of one repository. It is not in the sandbox here.
func measureLanguages(b *testing.B, t *figures) {
	gopls := ""
	for _, dir := range append(filepath.SplitList(serverDirs()), filepath.SplitList(os.Getenv("PATH"))...) {
		if path := filepath.Join(dir, "gopls"); gopls == "" {
			if _, err := os.Stat(path); err == nil {
				gopls = path
			}
		}
	}
	if gopls == "" {
		fmt.Println("languages: gopls is not here: make servers installs it")
		return
	}
	goal := map[int]string{1: "", 4: "", 16: ""}
	var one int64
	for _, trees := range []int{1, 4, 16} {
		w := newLanguages(b, gopls)
		var added sample
		for i := range trees {
			root := w.module(b, i)
			for j := range 2 {
				w.edit(b, root, j) // lets gopls read it
			}
			if trees == 1 {
				for j := range languageEdits {
					added = append(added, w.edit(b, root, j))
				}
				t.times("gopls warm, added to an edit in a module of 200 files", added, "150")
			}
		}
		held := w.memory(b)
		if trees == 1 {
			one = held
		}
		t.memory(fmt.Sprintf("gopls for %d worktrees of 200 files", trees), []int64{held}, goal[trees])
		if trees == 16 {
			t.ratios("gopls, 16 worktrees to 1", []float64{float64(held) / float64(one)}, "5")
		}
		w.servers.Close()
	}
}

// languages is servers without the rest of colony, and the processes that they started.
type languages struct {
	servers *lsp.Servers
	mu      sync.Mutex // guards pids
	pids    []int
}

// plainServer is a server's process.
type plainServer struct {
	io.WriteCloser
	io.Reader
	cmd *exec.Cmd
}

func (p plainServer) Close() error {
	p.cmd.Process.Kill() //nolint:errcheck // it may have ended
	p.WriteCloser.Close()
	p.cmd.Wait() //nolint:errcheck // it was killed
	return nil
}

func newLanguages(b *testing.B, gopls string) *languages {
	w := &languages{}
	known := lsp.Known()[0]
	known.Argv = []string{gopls}
	cache := b.TempDir()
	w.servers = lsp.New(lsp.Parts{
		Known: []lsp.Server{known}, Wait: time.Minute, Idle: time.Hour, Roots: 4, Now: time.Now, After: time.After, Log: b.Logf,
		Rewrite: builtin.Rewrite,
		Start: func(_ context.Context, argv []string, root string) (io.ReadWriteCloser, error) {
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Dir, cmd.Env = root, append(os.Environ(), "XDG_CACHE_HOME="+cache)
			in, err := cmd.StdinPipe()
			if err != nil {
				return nil, err
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				return nil, err
			}
			if err := cmd.Start(); err != nil {
				return nil, err
			}
			w.mu.Lock()
			w.pids = append(w.pids, cmd.Process.Pid)
			w.mu.Unlock()
			return plainServer{in, out, cmd}, nil
		},
	})
	return w
}

// module is a worktree of 200 files in 20 packages, each of which calls the first.
func (w *languages) module(b *testing.B, n int) string {
	root, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	write := func(name, text string) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	write("go.mod", "module example.test/m\n\ngo 1.24\n")
	write("p0/f0.go", "package p0\n\n// Sum adds.\nfunc Sum(a, b int) int { return a + b }\n")
	for i := 1; i < languageFiles; i++ {
		p := i % 20
		text := fmt.Sprintf("package p%d\n\nimport \"fmt\"\n", p)
		body := strings.Repeat(fmt.Sprintf("\tfmt.Println(%d, n)\n", i), 100)
		if p > 0 && i < 20 {
			text = fmt.Sprintf("package p%d\n\nimport (\n\t\"fmt\"\n\n\t\"example.test/m/p0\"\n)\n", p)
			body += "\tfmt.Println(p0.Sum(n, 2))\n"
		}
		write(fmt.Sprintf("p%d/f%d.go", p, i), text+fmt.Sprintf("\n// F%d prints.\nfunc F%d(n int) {\n%s}\n", i, i, body))
	}
	return root
}

// edit is what is added to an edit that breaks the calls of one function, or mends them.
func (w *languages) edit(b *testing.B, root string, n int) time.Duration {
	before, after := "func Sum(a, b int) int { return a + b }", "func Sum(a, b, c int) int { return a + b }"
	if n%2 == 1 {
		before, after = after, before
	}
	watch := w.servers.Watch(lsp.ShowWarnings, func(s string) string { return s })
	env := &tools.Env{Root: root, Ant: "a", Cwd: func() string { return root }, Files: tools.NewFileState(), Locks: tools.NewPathLocks(), Now: time.Now}
	path := filepath.Join(root, "p0", "f0.go")
	args, err := json.Marshal(map[string]string{"path": path})
	if err != nil {
		b.Fatal(err)
	}
	call := tools.Prepared{Call: tools.Call{ID: "1", Name: "edit", Args: args}, Effects: tools.Effects{Known: true, Writes: []string{path}}}
	watch.Foresee([]tools.Prepared{call})
	var own time.Duration
	handler := tools.Stack(func(context.Context, *tools.Env, tools.Prepared) (tools.Result, error) {
		began := time.Now()
		data, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, []byte(strings.Replace(string(data), before, after, 1)), 0o600)
		}
		own = time.Since(began)
		return tools.Result{Text: "edited"}, err
	}, watch.Fold(), watch.Before())
	began := time.Now()
	r, err := handler(b.Context(), env, call)
	took := time.Since(began) - own
	want := "19 errors in 19 other files"
	if n%2 == 1 {
		want = "nothing new; 19 gone"
	}
	if err != nil || !strings.Contains(r.Text, want) {
		b.Fatalf("edit %d: %q, %v", n, r.Text, err)
	}
	return took
}

// memory is what the servers and what they started hold.
func (w *languages) memory(b *testing.B) (bytes int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, pid := range w.pids {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			b.Fatal(err)
		}
		for line := range strings.Lines(string(status)) {
			if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
				n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
				if err != nil {
					b.Fatal(err)
				}
				bytes += n << 10
			}
		}
	}
	return bytes
}
