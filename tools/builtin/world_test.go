package builtin_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"colony/tools"
	"colony/tools/builtin"
	"colony/tools/toolstest"
)

// world is an ant's env that applies results as an ant does.
type world struct {
	*testing.T
	env *tools.Env
	cwd string
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, env: toolstest.NewEnv(t)}
	w.cwd = w.env.Root
	w.env.Cwd = func() string { return w.cwd }
	return w
}

func tool(name string) tools.Tool {
	for _, one := range builtin.All(2 * time.Minute) {
		if one.Spec().Name == name {
			return one
		}
	}
	panic("no tool " + name)
}

type args = map[string]any

func (w *world) call(name string, a args) tools.Result {
	w.Helper()
	return w.callIn(w.Context(), name, a)
}

func (w *world) callIn(ctx context.Context, name string, a args) tools.Result {
	w.Helper()
	res, err := tool(name).Run(ctx, w.env, raw(w, a))
	if err != nil {
		w.Fatalf("%s %v: %v", name, a, err)
	}
	if res.Text == "" {
		w.Errorf("%s %v: empty text", name, a)
	}
	w.env.Files.Apply(res.Seen...)
	if res.Cwd != "" {
		w.cwd = res.Cwd
	}
	return res
}

func raw(t testing.TB, a args) json.RawMessage {
	data, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// ok calls and wants no fault.
func (w *world) ok(name string, a args) tools.Result {
	w.Helper()
	res := w.call(name, a)
	if res.Fault != "" {
		w.Fatalf("%s %v: %s: %s", name, a, res.Fault, res.Text)
	}
	return res
}

// fault calls and wants that fault and those words.
func (w *world) fault(want tools.Fault, words string, name string, a args) tools.Result {
	w.Helper()
	res := w.call(name, a)
	if res.Fault != want || !strings.Contains(res.Text, words) {
		w.Errorf("%s %v: %q: %s; want %q with %q", name, a, res.Fault, res.Text, want, words)
	}
	return res
}

func (w *world) path(rel string) string { return filepath.Join(w.env.Root, rel) }

// put makes a file. All that it makes are equally old.
func (w *world) put(rel, content string) {
	w.Helper()
	w.must(os.MkdirAll(filepath.Dir(w.path(rel)), 0o755))
	w.must(os.WriteFile(w.path(rel), []byte(content), 0o644))
	w.must(os.Chtimes(w.path(rel), time.Time{}, time.Unix(1e9, 0)))
}

func (w *world) get(rel string) string {
	w.Helper()
	data, err := os.ReadFile(w.path(rel))
	w.must(err)
	return string(data)
}

func (w *world) holds(rel, want string) {
	w.Helper()
	if got := w.get(rel); got != want {
		w.Errorf("%s holds %q, want %q", rel, got, want)
	}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}
