package lsp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"colony/lsp"
	"colony/lsp/lsptest"
	"colony/tools"
	"colony/view"
)

const serverName = "lsptest-server"

func TestMain(m *testing.M) {
	lsptest.Main(serverName)
	os.Exit(m.Run())
}

// fake is the server of tests in a mode.
func fake(t *testing.T, mode string) lsp.Server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), serverName)
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	return lsp.Server{Name: "fake", Argv: []string{link, mode}, Files: map[string]string{".x": "x"}, Watch: []string{"x.conf"}}
}

func fakeWorld(t *testing.T, mode string, wait time.Duration, files map[string]string) *world {
	return newWorld(t, newServers(t, lsp.Parts{Known: []lsp.Server{fake(t, mode)}, Wait: wait}), files)
}

func told(r tools.Result) string {
	_, text, _ := strings.Cut(r.Text, "\n\n")
	return text
}

func problemsOf(t *testing.T, r tools.Result) view.Problems {
	t.Helper()
	for _, v := range r.Views {
		if p, ok := v.(view.Problems); ok {
			return p
		}
	}
	t.Fatal("no problems in the view")
	return view.Problems{}
}

// contract 49: what the edit brought comes first, then counts of what was there; a clean edit says so. LS03: also where the
// server asks and waits for its answers
func TestAnEditSaysWhatItBrought(t *testing.T) {
	for _, mode := range []string{lsptest.Plain, lsptest.Unnumbered, lsptest.Pull, lsptest.Asking, lsptest.Garbage} {
		t.Run(mode, func(t *testing.T) {
			w := fakeWorld(t, mode, 0, map[string]string{"a.x": "one bad\ntwo\nthree odd\n"})
			r := w.edit("a.x", "two\n", "zero\ntwo bad\n")
			want := "diagnostics (fake): this brought 1 error; there before: 1 error, 1 warning here\na.x:3:5: error: bad word"
			if told(r) != want {
				t.Errorf("got %q", told(r))
			}
			if p := problemsOf(t, r); !p.Fresh || len(p.Items) != 3 || !p.Items[0].New || p.Items[1].New || p.Items[0].Line != 3 {
				t.Errorf("the view is %+v", p)
			}
			r = w.edit("a.x", "two bad\n", "two\n")
			if want := "diagnostics (fake): nothing new; 1 gone; there before: 1 error, 1 warning here"; told(r) != want {
				t.Errorf("got %q", told(r))
			}
		})
	}
}

func TestAnEditSaysWhatItBrokeElsewhere(t *testing.T) {
	w := fakeWorld(t, lsptest.Plain, 0, map[string]string{"d/a.x": "one\n", "d/b.x": "b\n"})
	r := w.edit("d/a.x", "one", "breaks b.x")
	if want := "diagnostics (fake): this brought 1 error in 1 other file\nd/b.x:1:1: error: broken by a.x"; told(r) != want {
		t.Errorf("got %q", told(r))
	}
	r = w.edit("d/a.x", "breaks b.x", "one")
	if want := "diagnostics (fake): nothing new; 1 gone"; told(r) != want {
		t.Errorf("got %q", told(r))
	}
}

// A batch of edits waits once: only its last result tells, of all of them.
func TestABatchIsToldOnce(t *testing.T) {
	w := fakeWorld(t, lsptest.Plain, 0, map[string]string{"a.x": "one\n", "b.x": "two\n"})
	w.batch(w.call("read", map[string]any{"path": "a.x"}), w.call("read", map[string]any{"path": "b.x"}))
	all := w.batch(
		w.call("edit", map[string]any{"path": "a.x", "old": "one", "new": "bad"}),
		w.call("write", map[string]any{"path": "c.x", "content": "odd\n"}),
		w.call("edit", map[string]any{"path": "b.x", "old": "nowhere", "new": "x"}),
	)
	if told(all[0]) != "" || told(all[1]) != "" {
		t.Errorf("an earlier one tells: %q, %q", all[0].Text, all[1].Text)
	}
	if want := "diagnostics (fake): this brought 1 error, 1 warning\na.x:1:1: error: bad word\nc.x:1:1: warning: odd word"; told(all[2]) != want || all[2].Fault == "" {
		t.Errorf("got %q", all[2].Text)
	}
}

// Where the last edit of a batch is denied, its result tells of those before it.
func TestADeniedEditTellsOfThoseBefore(t *testing.T) {
	w := fakeWorld(t, lsptest.Plain, 0, map[string]string{"a.x": "one\n"})
	w.batch(w.call("read", map[string]any{"path": "a.x"}))
	w.denied = "no.x"
	all := w.batch(
		w.call("edit", map[string]any{"path": "a.x", "old": "one", "new": "bad"}),
		w.call("write", map[string]any{"path": "no.x", "content": "odd\n"}),
	)
	if want := "diagnostics (fake): this brought 1 error\na.x:1:1: error: bad word"; told(all[0]) != "" || told(all[1]) != want || all[1].Fault != tools.PermissionDenied {
		t.Errorf("got %q, %q", all[0].Text, all[1].Text)
	}
}

// contract 49, LS01
func TestWhatAnOlderVersionSaidIsNotToldAsCurrent(t *testing.T) {
	w := fakeWorld(t, lsptest.Stale, 0, map[string]string{"a.x": "one bad\n"})
	r := w.edit("a.x", "one bad", "one")
	if want := "diagnostics (fake): nothing new; 1 gone"; told(r) != want {
		t.Errorf("got %q", told(r))
	}
}

// contract 49, LS02: the edit has happened and its result says so, inside the bound, whatever the server does
func TestNoServerFailsOrHoldsAnEdit(t *testing.T) {
	for mode, c := range map[string]struct {
		bound time.Duration
		note  string
	}{
		lsptest.Dead: {20 * time.Second, "fake ended too often and is not asked any more"}, lsptest.Mortal: {20 * time.Second, "fake ended"},
		lsptest.BadLength: {20 * time.Second, "fake ended"}, lsptest.Endless: {20 * time.Second, "fake ended too often and is not asked any more"},
		lsptest.Silent: {300 * time.Millisecond, "fake did not answer in time"}, lsptest.Deaf: {300 * time.Millisecond, "fake did not answer in time"},
		lsptest.Mute: {300 * time.Millisecond, "fake did not answer in time"}, lsptest.Lying: {300 * time.Millisecond, "fake did not answer in time"},
		lsptest.Working: {300 * time.Millisecond, "fake did not answer in time"},
	} {
		t.Run(mode, func(t *testing.T) {
			w := fakeWorld(t, mode, c.bound, map[string]string{"a.x": "one\n"})
			for i, text := range []string{"two", "three", "four", "five", "six"} {
				before := []string{"one", "two", "three", "four", "five"}[i]
				begun := time.Now()
				r := w.edit("a.x", before, text)
				if took := time.Since(begun); took > c.bound+time.Second {
					t.Errorf("edit %d took %s", i, took)
				}
				if !strings.HasPrefix(r.Text, "edited a.x: 1 edit at line 1") {
					t.Errorf("edit %d: %q", i, r.Text)
				}
				if i == 0 && told(r) != "diagnostics: not fresh: "+c.note {
					t.Errorf("edit %d: %q, want %q", i, told(r), c.note)
				}
				if i == 4 && strings.Contains(c.note, "ended") && told(r) != "" {
					t.Errorf("a server that ended so often is still asked: %q", told(r))
				}
			}
		})
	}
}

// LS04: bounded, with counts
func TestAFloodIsCounted(t *testing.T) {
	w := fakeWorld(t, lsptest.Flood, 0, map[string]string{"a.x": "one\n"})
	r := w.edit("a.x", "one", "two")
	if !strings.HasPrefix(told(r), "diagnostics (fake): this brought 2000 errors; 8000 more were not read\na.x:1:1: error: xxx") || !strings.Contains(told(r), "and 1990 more") {
		t.Errorf("got %.300q", told(r))
	}
	if len(r.Text) > 8<<10 || len(problemsOf(t, r).Items) > 100 {
		t.Errorf("%d bytes, %d items", len(r.Text), len(problemsOf(t, r).Items))
	}
}

// contract 50, LS04: columns are converted, and addresses are percent-encoded
func TestColumnsAreThoseOfPeople(t *testing.T) {
	w := fakeWorld(t, lsptest.Plain, 0, map[string]string{"a b%ü#.x": "one\n"})
	r := w.edit("a b%ü#.x", "one", "\U0001F600\U0001F600 ü bad")
	if want := "diagnostics (fake): this brought 1 error\na b%ü#.x:1:6: error: bad word"; told(r) != want {
		t.Errorf("got %q", told(r))
	}
}

// contract 50: edits made by commands are noticed
func TestWhatCommandsChangeIsNoticed(t *testing.T) {
	w := fakeWorld(t, lsptest.Plain, 0, map[string]string{"a.x": "one\n", "b.x": "two\n"})
	w.edit("a.x", "one", "1")
	w.put("a.x", "1\nbad\n")
	r := w.edit("b.x", "two", "2")
	if want := "diagnostics (fake): nothing new; there before: 1 error in other files"; told(r) != want {
		t.Errorf("got %q", told(r))
	}
	if err := os.Remove(filepath.Join(w.env.Root, "a.x")); err != nil {
		t.Fatal(err)
	}
	w.edit("b.x", "2", "3")
}

// contract 50: each ant sees only its own worktree
func TestAnAntSeesOnlyItsWorktree(t *testing.T) {
	servers := newServers(t, lsp.Parts{Known: []lsp.Server{fake(t, lsptest.Plain)}})
	one := newWorld(t, servers, map[string]string{"a.x": "one\n"})
	two := newWorld(t, servers, map[string]string{"a.x": "two\n"})
	one.edit("a.x", "one", "bad")
	if r := two.edit("a.x", "two", "2"); told(r) != "diagnostics (fake): nothing new" {
		t.Errorf("got %q", told(r))
	}
	if r := one.edit("a.x", "bad", "bad 1"); told(r) != "diagnostics (fake): nothing new; there before: 1 error here" {
		t.Errorf("got %q", told(r))
	}
}

// No file that no server knows is spoken of, and an ant that is told nothing waits for nothing.
func TestNothingIsSaidWhereNobodyKnows(t *testing.T) {
	w := fakeWorld(t, lsptest.Plain, 0, map[string]string{"a.txt": "one bad\n"})
	if r := w.edit("a.txt", "one", "1"); told(r) != "" || len(r.Views) != 1 {
		t.Errorf("got %q", r.Text)
	}
}

// The worktree that was least recently edited is closed for another, and an ended ant's is closed too.
func TestFewWorktreesAreOpen(t *testing.T) {
	starts := 0
	begin := start()
	servers := newServers(t, lsp.Parts{Known: []lsp.Server{fake(t, lsptest.Plain)}, Roots: 2, Start: func(ctx context.Context, argv []string, root string) (io.ReadWriteCloser, error) {
		starts++
		return begin(ctx, argv, root)
	}})
	var worlds []*world
	for range 5 {
		w := newWorld(t, servers, map[string]string{"a.x": "one\n"})
		w.edit("a.x", "one", "bad")
		worlds = append(worlds, w)
	}
	for _, w := range worlds {
		if r := w.edit("a.x", "bad", "two"); told(r) != "diagnostics (fake): nothing new; 1 gone" {
			t.Errorf("got %q", told(r))
		}
		servers.Leave(w.env.Root)
	}
	if starts != 1 {
		t.Errorf("%d servers were started for five worktrees", starts)
	}
}

// A server that nobody asks is ended, and started again when it is needed.
func TestAnIdleServerIsEnded(t *testing.T) {
	ended, idle := make(chan struct{}), make(chan time.Time)
	begin, now := start(), time.Now()
	var clock sync.Mutex
	p := lsp.Parts{Known: []lsp.Server{fake(t, lsptest.Plain)}, Wait: 20 * time.Second, Idle: time.Hour, Roots: 4, Log: t.Logf,
		Now: func() time.Time { clock.Lock(); defer clock.Unlock(); return now },
		After: func(d time.Duration) <-chan time.Time {
			if d > time.Minute {
				return idle
			}
			return time.After(d)
		},
		Start: func(ctx context.Context, argv []string, root string) (io.ReadWriteCloser, error) {
			rw, err := begin(ctx, argv, root)
			return closing{rw, ended}, err
		}}
	servers := lsp.New(p)
	t.Cleanup(servers.Close)
	w := newWorld(t, servers, map[string]string{"a.x": "one\n"})
	w.edit("a.x", "one", "two")
	clock.Lock()
	now = now.Add(2 * time.Hour)
	clock.Unlock()
	idle <- now
	<-ended
	if r := w.edit("a.x", "two", "bad"); !strings.HasPrefix(told(r), "diagnostics (fake): this brought 1 error") {
		t.Errorf("got %q", told(r))
	}
	go func() { <-ended }()
}

type closing struct {
	io.ReadWriteCloser
	ended chan struct{}
}

func (c closing) Close() error {
	err := c.ReadWriteCloser.Close()
	c.ended <- struct{}{}
	return err
}

// contract 50: a file that is not open, beside one that is or where a command said that it writes, is noticed too
func TestClosedFilesThatCommandsChangeAreNoticed(t *testing.T) {
	known := installed(t, "gopls")
	w := newWorld(t, newServers(t, lsp.Parts{Known: []lsp.Server{known}}), goFiles)
	w.edit("main.go", "lib.Sum(1, 2)", "lib.Sum(1, 3)")
	args, err := json.Marshal(map[string]any{"path": filepath.Join(w.env.Root, "lib", "lib.go")})
	if err != nil {
		t.Fatal(err)
	}
	sh := tools.Stack(func(context.Context, *tools.Env, tools.Prepared) (tools.Result, error) {
		w.put("lib/lib.go", "package lib\n\nfunc Sum(a, b, c int) int { return a }\n")
		w.put("added.go", "package main\n\nconst added = nothing\n")
		return tools.Result{Text: "ran"}, nil
	}, w.watch.Fold(), w.watch.Before())
	call := tools.Prepared{Call: tools.Call{ID: "sh", Name: "sh", Args: args}, Effects: tools.Effects{Writes: []string{filepath.Join(w.env.Root, "lib", "lib.go")}}}
	if r, err := sh(t.Context(), w.env, call); err != nil || r.Text != "ran" {
		t.Fatalf("got %q, %v", r.Text, err)
	}
	r := w.edit("main.go", "lib.Sum(1, 3)", "lib.Sum(1, 4)")
	if want := "there before: 1 error here, 2 errors in other files"; !strings.Contains(told(r), want) {
		t.Errorf("got %q, want %q", told(r), want)
	}
}

// A rename of more files than are shown to a server is told of all the same.
func TestManyFilesAreRenamed(t *testing.T) {
	known := installed(t, "gopls")
	files := map[string]string{"go.mod": "module example.test/m\n\ngo 1.24\n", "a.go": "package m\n\nconst Old = 1\n"}
	for i := range 60 {
		files[fmt.Sprintf("f%d.go", i)] = fmt.Sprintf("package m\n\nconst C%d = Old\n", i)
	}
	w := newWorld(t, newServers(t, lsp.Parts{Known: []lsp.Server{known}}), files)
	r := w.symbols(map[string]any{"action": "rename", "path": "a.go", "line": 3, "name": "Old", "new_name": "New"})
	if !strings.HasPrefix(r.Text, "renamed 61 places in 61 files:") || !strings.HasSuffix(r.Text, "diagnostics (gopls): nothing new") {
		t.Errorf("got %q", r.Text)
	}
}

// The server of a file that an ant reads is started then, so that it is there for the first edit; not for one that cannot edit.
func TestReadingStartsTheServer(t *testing.T) {
	started := make(chan string, 9)
	begin := start()
	servers := newServers(t, lsp.Parts{Known: []lsp.Server{fake(t, lsptest.Plain)}, Start: func(ctx context.Context, argv []string, root string) (io.ReadWriteCloser, error) {
		started <- root
		return begin(ctx, argv, root)
	}})
	looks := newWorld(t, servers, map[string]string{"a.x": "one\n"})
	looks.env.Tools.Unregister(tools.BuiltIn, "edit")
	looks.batch(looks.call("read", map[string]any{"path": "a.x"}))
	edits := newWorld(t, servers, map[string]string{"a.x": "one\n", "b.txt": "two\n"})
	edits.batch(edits.call("read", map[string]any{"path": "b.txt"}))
	edits.batch(edits.call("read", map[string]any{"path": "a.x"}))
	edits.batch(edits.call("read", map[string]any{"path": "a.x"}))
	if root := <-started; root != edits.env.Root || len(started) != 0 {
		t.Errorf("%s was started, and %d more", root, len(started))
	}
}

// Where the first server for a file cannot be started, as an older tsc, the next one is asked, by the same edit.
func TestTheNextServerIsAsked(t *testing.T) {
	older, other := fake(t, lsptest.Dead), fake(t, lsptest.Plain)
	older.Name = "older"
	w := newWorld(t, newServers(t, lsp.Parts{Known: []lsp.Server{older, other}}), map[string]string{"a.x": "one\n"})
	if r := w.edit("a.x", "one", "bad"); !strings.HasPrefix(told(r), "diagnostics (fake): this brought 1 error") || strings.Contains(r.Text, "older") {
		t.Errorf("got %q", told(r))
	}
}

// What an edit broke of which nothing was told in time is told in full with the next answer.
func TestWhatWasNotToldIsToldLater(t *testing.T) {
	begin, open := start(), make(chan struct{})
	servers := newServers(t, lsp.Parts{Known: []lsp.Server{fake(t, lsptest.Plain)}, Wait: 500 * time.Millisecond, Start: func(ctx context.Context, argv []string, root string) (io.ReadWriteCloser, error) {
		<-open
		return begin(ctx, argv, root)
	}})
	w := newWorld(t, servers, map[string]string{"a.x": "one\n", "b.x": "0\n"})
	if r := w.edit("a.x", "one", "bad"); told(r) != "diagnostics: not fresh: fake did not answer in time" {
		t.Errorf("got %q", told(r))
	}
	close(open)
	for i := range 50 {
		r := w.edit("a.x", "bad", "bad ")
		if strings.Contains(told(r), "not fresh") {
			w.edit("a.x", "bad ", "bad")
			continue
		}
		if want := "diagnostics (fake): nothing new; there before: 1 error here\nthere before, and not told yet:\na.x:1:1: error: bad word"; told(r) != want {
			t.Errorf("edit %d: got %q", i, told(r))
		}
		break
	}
	if r := w.edit("b.x", "0", "1"); strings.Contains(told(r), "not told yet") {
		t.Errorf("got %q", told(r))
	}
}
