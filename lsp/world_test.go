package lsp_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"colony/lsp"
	"colony/tools"
	"colony/tools/builtin"
)

// world is a worktree with an ant in it, and the servers that it has.
type world struct {
	t       *testing.T
	env     *tools.Env
	servers *lsp.Servers
	watch   *lsp.Watch
	handler tools.Handler
	calls   int
	denied  string // a file of which no call comes through
}

// process is a server's process without a sandbox.
type process struct {
	io.WriteCloser
	io.Reader
	cmd  *exec.Cmd
	once sync.Once
}

func (p *process) Close() error {
	p.once.Do(func() {
		p.cmd.Process.Kill() //nolint:errcheck // it may have ended
		p.WriteCloser.Close()
		p.cmd.Wait() //nolint:errcheck // it was killed
	})
	return nil
}

func start(environ ...string) lsp.Start {
	return func(_ context.Context, argv []string, root string) (io.ReadWriteCloser, error) {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = root, append(os.Environ(), environ...)
		in, err := cmd.StdinPipe()
		if err != nil {
			return nil, err
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			return nil, err
		}
		return &process{WriteCloser: in, Reader: out, cmd: cmd}, cmd.Start()
	}
}

func newServers(t *testing.T, p lsp.Parts) *lsp.Servers {
	if p.Wait == 0 {
		p.Wait = 20 * time.Second
	}
	if p.Idle == 0 {
		p.Idle = time.Hour
	}
	if p.Roots == 0 {
		p.Roots = 4
	}
	if p.Start == nil {
		p.Start = start()
	}
	p.Rewrite = builtin.Rewrite
	p.Now, p.After, p.Log = time.Now, time.After, t.Logf
	s := lsp.New(p)
	t.Cleanup(s.Close)
	return s
}

func newWorld(t *testing.T, servers *lsp.Servers, files map[string]string) *world {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, servers: servers, watch: servers.Watch(lsp.ShowWarnings, func(s string) string { return s })}
	w.env = &tools.Env{Root: root, Ant: "a", Cwd: func() string { return root }, Files: tools.NewFileState(), Locks: tools.NewPathLocks(), Now: time.Now}
	for name, text := range files {
		w.put(name, text)
	}
	effects := func(next tools.Handler) tools.Handler {
		return func(ctx context.Context, env *tools.Env, p tools.Prepared) (r tools.Result, err error) {
			if p.Effects, err = p.Tool.Effects(env, p.Call.Args); err != nil {
				return r, err
			}
			if w.denied != "" && strings.Contains(string(p.Call.Args), w.denied) {
				return tools.Refuse(tools.PermissionDenied, "denied"), nil
			}
			return next(ctx, env, p)
		}
	}
	w.handler = tools.Stack(tools.Invoke, w.watch.Fold(), effects, w.watch.Before())
	registry := tools.NewRegistry(io.Discard)
	for _, tool := range append(builtin.All(time.Minute), lsp.SymbolsTool(servers)) {
		if err := registry.Register(tools.BuiltIn, tool); err != nil {
			t.Fatal(err)
		}
	}
	w.env.Tools = registry
	return w
}

// put writes a file as a command would.
func (w *world) put(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.env.Root, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		w.t.Fatal(err)
	}
}

// batch runs calls of one reply.
func (w *world) batch(calls ...tools.Call) []tools.Result {
	w.t.Helper()
	prepared := make([]tools.Prepared, len(calls))
	for i, c := range calls {
		prepared[i] = w.env.Tools.Prepare(c)
	}
	w.watch.Foresee(prepared)
	var out []tools.Result
	for _, p := range prepared {
		if p.Refused != nil {
			w.t.Fatal(p.Refused.Text)
		}
		r, err := w.handler(w.t.Context(), w.env, p)
		if err != nil {
			w.t.Fatal(err)
		}
		w.env.Files.Apply(r.Seen...)
		out = append(out, r)
	}
	return out
}

func (w *world) call(name string, args map[string]any) tools.Call {
	w.calls++
	raw, err := json.Marshal(args)
	if err != nil {
		w.t.Fatal(err)
	}
	return tools.Call{ID: string(rune('a' + w.calls)), Name: name, Args: raw}
}

func (w *world) write(name, text string) tools.Result {
	w.t.Helper()
	w.batch(w.call("read", map[string]any{"path": name}))
	return w.batch(w.call("write", map[string]any{"path": name, "content": text}))[0]
}

func (w *world) edit(name, before, after string) tools.Result {
	w.t.Helper()
	w.batch(w.call("read", map[string]any{"path": name}))
	r := w.batch(w.call("edit", map[string]any{"path": name, "old": before, "new": after}))[0]
	if r.Fault != "" {
		w.t.Fatal(r.Text)
	}
	return r
}

func (w *world) symbols(args map[string]any) tools.Result {
	w.t.Helper()
	return w.batch(w.call("symbols", args))[0]
}

func (w *world) text(name string) string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.env.Root, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}
