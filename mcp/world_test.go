package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"colony/mcp"
	"colony/tools"
	"colony/tools/toolstest"
)

// binary is the server for tests.
var binary string

func TestMain(m *testing.M) { os.Exit(build(m)) }

func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "mcptest-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "mcptest")
	if out, err := exec.Command("go", "build", "-o", binary, "./mcptest").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the server for tests: %v: %s\n", err, out)
		return 1
	}
	code := m.Run()
	http.DefaultClient.CloseIdleConnections()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// plain runs a process without a sandbox, which these tests need none of.
type plain struct {
	io.WriteCloser
	io.Reader
	cmd  *exec.Cmd
	once sync.Once
}

func (p *plain) Close() error {
	p.once.Do(func() {
		p.WriteCloser.Close()
		p.cmd.Process.Kill() //nolint:errcheck // it may have ended
		p.cmd.Wait()         //nolint:errcheck // it was killed
	})
	return nil
}

func start(_ context.Context, argv, env []string, stderr io.Writer) (io.ReadWriteCloser, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Stderr = env, stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &plain{WriteCloser: in, Reader: out, cmd: cmd}, cmd.Start()
}

// world is a server and an ant that has its tools.
type world struct {
	*testing.T
	*mcp.Server
	env  *tools.Env
	told *told
}

type told struct {
	mu    sync.Mutex
	notes []mcp.Note
}

func (o *told) hear(n mcp.Note) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.notes = append(o.notes, n)
}

func (o *told) all(code string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var texts []string
	for _, n := range o.notes {
		if n.Code == code {
			texts = append(texts, n.Text)
		}
	}
	return strings.Join(texts, "\n")
}

func parts(t *testing.T, args ...string) (mcp.Parts, *told) {
	o := &told{}
	return mcp.Parts{
		Entry: mcp.Entry{Name: "t", Command: binary, Args: args, Per: mcp.PerAnt, Grades: map[string]mcp.Grade{}}, Version: "test", Start: start, Asks: true,
		Pins: mcp.OpenPins(filepath.Join(t.TempDir(), "pins.json")), Health: &mcp.Health{}, Now: time.Now, Told: o.hear,
		Limits: mcp.Limits{Start: 10 * time.Second, Call: 20 * time.Second, Idle: time.Minute},
		Enter:  func(context.Context) (func(), error) { return func() {}, nil },
	}, o
}

// newWorld starts a server with arguments, of whose parts change may change some, and places all of its tools.
func newWorld(t *testing.T, change func(*mcp.Parts), args ...string) *world {
	t.Helper()
	p, o := parts(t, args...)
	if change != nil {
		change(&p)
	}
	s, err := mcp.New(p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, Server: s, env: toolstest.NewEnv(t), told: o}
	h := s.Place(w.env.Tools, func(string) bool { return false }, func([]string) {})
	t.Cleanup(h.Leave)
	return w
}

// call is what a call of a tool of the server came to, as an ant makes it.
func (w *world) call(tool, args string) tools.Result {
	w.Helper()
	return w.under(w.Context(), tool, args)
}

func (w *world) under(ctx context.Context, tool, args string) tools.Result {
	w.Helper()
	name := mcp.Name(w.Name(), tool)
	w.env.Tools.Load(name)
	p := w.env.Tools.Prepare(tools.Call{ID: "c", Name: name, Args: json.RawMessage(args)})
	if p.Refused != nil {
		w.Fatalf("%s: refused: %s", tool, p.Refused.Text)
	}
	r, err := tools.Invoke(ctx, w.env, p)
	if err != nil {
		w.Fatalf("%s: %v", tool, err)
	}
	return r
}

// says wants a result without a fault, whose text holds all of these.
func (w *world) says(r tools.Result, fault tools.Fault, texts ...string) {
	w.Helper()
	if r.Fault != fault {
		w.Errorf("fault %q, want %q: %s", r.Fault, fault, short(r.Text))
	}
	for _, text := range texts {
		if !strings.Contains(r.Text, text) {
			w.Errorf("%s: want %q", short(r.Text), text)
		}
	}
}

func short(text string) string { return text[:min(len(text), 2000)] }

func names(s *mcp.Server) (all []string) {
	for _, t := range s.Tools() {
		all = append(all, t.Spec().Name)
	}
	return all
}

// until waits for what happens in another goroutine, which there is no channel to.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(90 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 90 s: %s", what)
		}
	}
}

func has(all []string, name string) bool { return slices.Contains(all, name) }
