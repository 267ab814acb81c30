package mcp_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"colony/mcp"
	"colony/tools"
)

// real is the script of a server that others made, and node, which runs it.
func real(t *testing.T, name string) (node, script string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not here: the servers of others are not tried")
	}
	script, err = filepath.Abs("../.cache/servers/node_modules/@modelcontextprotocol/" + name + "/dist/index.js")
	if err == nil {
		_, err = os.Stat(script)
	}
	if err != nil {
		t.Skip("the servers of others are not installed: make servers does it")
	}
	return node, script
}

func realWorld(t *testing.T, name string, change func(*mcp.Parts), args ...string) *world {
	t.Helper()
	node, script := real(t, name)
	return newWorld(t, func(p *mcp.Parts) {
		p.Entry.Command, p.Entry.Args = node, append([]string{script}, args...)
		p.Limits.Start = time.Minute // on a busy machine
		p.Entry.Env = map[string]string{"PATH": os.Getenv("PATH")}
		if change != nil {
			change(p)
		}
	})
}

// everything holds the server that has something of all there is to what it offers.
func everything(w *world) {
	w.Helper()
	w.says(w.call("echo", `{"message":"hello"}`), "", "hello")
	w.says(w.call("get-sum", `{"a":2,"b":3}`), "", "5")
	r := w.call("get-tiny-image", `{}`)
	w.says(r, "", "[image 1: image/png")
	if len(r.Images) != 1 {
		w.Errorf("images: %+v", r.Images)
	}
	r = w.call("get-structured-content", `{"location":"New York"}`)
	w.says(r, "", "temperature")
	if len(r.Views) != 1 {
		w.Errorf("views: %+v", r.Views)
	}
	w.says(w.call("list_resources", `{}`), "", "://")
	w.says(w.call("list_prompts", `{}`), "", "prompt")
	w.says(w.call("get_prompt", `{"name":"simple-prompt"}`), "", "prompt")
}

func TestServerEverythingOverStdio(t *testing.T) {
	w := realWorld(t, "server-everything", func(p *mcp.Parts) { p.Root = t.TempDir() }, "stdio")
	everything(w)
	far := make(chan string, 100)
	w.env.Progress = func(line string) { far <- line }
	w.says(w.call("trigger-long-running-operation", `{"duration":1,"steps":4}`), "", "completed")
	if line := <-far; !strings.Contains(line, "of 4") {
		t.Errorf("progress: %q", line)
	}
}

func TestServerEverythingOverHTTP(t *testing.T) {
	node, script := real(t, "server-everything")
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	free.Close()
	cmd := exec.CommandContext(t.Context(), node, script, "streamableHttp")
	cmd.Env = append(os.Environ(), fmt.Sprint("PORT=", port))
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() }) //nolint:errcheck // it is a server that ends so
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.Contains(lines.Text(), "listening") {
	}
	go func() {
		for lines.Scan() { // it must not wait for who reads
		}
	}()
	w := newWorld(t, func(p *mcp.Parts) {
		p.Entry.Command, p.Entry.URL, p.Client = "", fmt.Sprintf("http://127.0.0.1:%d/mcp", port), http.DefaultClient
	})
	everything(w)
}

func TestServerFilesystem(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	for path, text := range map[string]string{filepath.Join(dir, "a.txt"): "alpha\n", filepath.Join(other, "secret"): "secret\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := realWorld(t, "server-filesystem", func(p *mcp.Parts) { p.Root = dir }, dir)
	w.says(w.call("list_directory", fmt.Sprintf(`{"path":%q}`, dir)), "", "a.txt")
	w.says(w.call("read_text_file", fmt.Sprintf(`{"path":%q}`, filepath.Join(dir, "a.txt"))), "", "alpha")
	w.says(w.call("read_text_file", fmt.Sprintf(`{"path":%q}`, filepath.Join(other, "secret"))), tools.Validation, "denied")
	for _, one := range w.Tools() {
		if e, err := one.Effects(w.env, nil); err != nil || e.Known || one.Spec().ReadOnly {
			t.Errorf("%s: its own hints were taken: %+v %v", one.Spec().Name, e, err)
		}
	}
}

func TestServerMemory(t *testing.T) {
	w := realWorld(t, "server-memory", func(p *mcp.Parts) {
		p.Entry.Env["MEMORY_FILE_PATH"] = filepath.Join(t.TempDir(), "memory.jsonl")
	})
	w.says(w.call("create_entities", `{"entities":[{"name":"Ada","entityType":"person","observations":["counts"]}]}`), "", "Ada")
	w.says(w.call("read_graph", `{}`), "", "counts")
}
