package tools_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"colony/tools"
	"colony/tools/toolstest"
)

// contract 37, contract 38
func TestFileStateArmsOnlyWhatWasSeen(t *testing.T) {
	f := tools.NewFileState()
	f.Apply(tools.Seen{Path: "/a", Hash: "h", From: 1, To: 10}, tools.Seen{Path: "/a", Hash: "h", From: 21, To: 30})
	for _, c := range []struct {
		hash     string
		from, to int
		want     bool
	}{
		{"h", 1, 10, true}, {"h", 3, 4, true}, {"h", 5, 25, false}, {"h", 11, 20, false}, {"h", 25, 31, false}, {"h", 1, 0, false}, {"other", 1, 2, false},
	} {
		if got := f.Covers("/a", c.hash, c.from, c.to); got != c.want {
			t.Errorf("%s %d-%d: %v", c.hash, c.from, c.to, got)
		}
	}
	f.Apply(tools.Seen{Path: "/a", Hash: "h", From: 11, To: 20}) // page 2 joins both
	if !f.Covers("/a", "h", 1, 30) || f.Covers("/b", "h", 1, 1) {
		t.Error("pages do not join")
	}
	f.Apply(tools.Seen{Path: "/a", Hash: "h", From: 31})
	if !f.Covers("/a", "h", 1, 0) {
		t.Error("the end was read")
	}
	f.Apply(tools.Seen{Path: "/a", Hash: "new", From: 5, To: 4})
	if hash, ok := f.Known("/a"); !ok || hash != "new" || f.Covers("/a", "h", 1, 1) || f.Covers("/a", "new", 1, 1) {
		t.Error("another content is covered by the old one's reading")
	}
	f.Apply(tools.Seen{Path: "/a", Hash: "own", Wrote: true})
	if !f.Covers("/a", "own", 1, 0) {
		t.Error("an own write is not covered")
	}
	f.Clear()
	if _, ok := f.Known("/a"); ok || f.Covers("/a", "own", 1, 1) {
		t.Error("cleared, yet known")
	}
}

// law: a range is covered exactly when each of its lines was seen
func TestCoversIsEachLine(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f, seen := tools.NewFileState(), map[int]bool{}
		for range rapid.IntRange(0, 8).Draw(rt, "reads") {
			from := rapid.IntRange(1, 20).Draw(rt, "from")
			to := rapid.IntRange(from, 20).Draw(rt, "to")
			f.Apply(tools.Seen{Path: "/a", Hash: "h", From: from, To: to})
			for i := from; i <= to; i++ {
				seen[i] = true
			}
		}
		from := rapid.IntRange(1, 20).Draw(rt, "want from")
		to := rapid.IntRange(from, 20).Draw(rt, "want to")
		all := true
		for i := from; i <= to; i++ {
			all = all && seen[i]
		}
		if f.Covers("/a", "h", from, to) != all {
			rt.Fatalf("%d-%d: want %v", from, to, all)
		}
	})
}

// contract 41, SD01: one file however spelt is held by one call at a time
func TestPathLocksSeeThroughSpellings(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "a.go"), nil, 0o644))
	must(t, os.Symlink("a.go", filepath.Join(dir, "link.go")))
	must(t, os.Symlink(dir, filepath.Join(dir, "sub", "up")))
	spellings := []string{"a.go", "./a.go", "sub/../a.go", "link.go", "sub/up/a.go", "sub/up/sub/up/link.go"}
	locks := tools.NewPathLocks()
	var group sync.WaitGroup
	count := 0 // guarded by the lock under test
	for _, s := range spellings {
		group.Go(func() {
			for range 200 {
				unlock, err := locks.Lock(t.Context(), dir+"/"+s, dir+"/a.go")
				must(t, err)
				count++
				unlock()
				unlock()
			}
		})
	}
	group.Wait()
	if count != 200*len(spellings) {
		t.Errorf("counted %d", count)
	}
}

func TestPathLocksDoNotDeadlock(t *testing.T) {
	dir, locks := t.TempDir(), tools.NewPathLocks()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	var group sync.WaitGroup
	for _, pair := range [][2]string{{a, b}, {b, a}} {
		group.Go(func() {
			for range 500 {
				unlock, err := locks.Lock(t.Context(), pair[0], pair[1])
				must(t, err)
				unlock()
			}
		})
	}
	group.Wait()
}

func TestPathLockWaitEndsWithItsContext(t *testing.T) {
	dir, locks := t.TempDir(), tools.NewPathLocks()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	unlock, err := locks.Lock(t.Context(), b)
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := locks.Lock(ctx, a, b); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	unlockA, err := locks.Lock(t.Context(), a)
	must(t, err)
	unlockA()
	unlock()
}

// contract 41: what a path stands for is what a write through it would change
func TestPathLocksFollowLinks(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "real"), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o644))
	for link, to := range map[string]string{"dirlink": "real", "dangling": "real/new", "chain": "dangling", "abs": "/nowhere/at/all", "loop": "loop", "a": "b", "b": "a"} {
		must(t, os.Symlink(to, filepath.Join(dir, link)))
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for path, real := range map[string]string{
		"real": dir + "/real", "dirlink/x/y": dir + "/real/x/y", "dangling": dir + "/real/new",
		"chain": dir + "/real/new", "abs": "/nowhere/at/all", "none/../x": dir + "/x",
	} {
		locks := tools.NewPathLocks()
		unlock, err := locks.Lock(t.Context(), dir+"/"+path)
		must(t, err)
		if _, err := locks.Lock(ended, real); !errors.Is(err, context.Canceled) {
			t.Errorf("%s does not hold %s: %v", path, real, err)
		}
		unlock()
	}
	for _, path := range []string{"loop", "a/x"} {
		if _, err := tools.NewPathLocks().Lock(t.Context(), dir+"/"+path); err == nil {
			t.Errorf("%s: locked", path)
		}
	}
}

func TestBlobs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "blobs")
	b, err := tools.NewBlobs(dir)
	must(t, err)
	ref, err := b.Put("text/plain", []byte("hello"))
	must(t, err)
	want(t, "name", ref.SHA256, "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")
	again, err := b.Put("text/plain", []byte("hello"))
	must(t, err)
	got, err := b.Get(ref.SHA256)
	must(t, err)
	if string(got) != "hello" || again != ref || ref.Bytes != 5 || ref.Media != "text/plain" {
		t.Errorf("got %q, %+v, %+v", got, ref, again)
	}
	info, err := os.Stat(b.Path(ref))
	must(t, err)
	if info.Mode() != 0o600 || filepath.Dir(b.Path(ref)) != dir {
		t.Errorf("mode %v, path %s", info.Mode(), b.Path(ref))
	}
	for _, sha := range []string{"", "../../etc/passwd", strings.Repeat("0", 64), strings.ToUpper(ref.SHA256)} {
		if _, err := b.Get(sha); err == nil {
			t.Errorf("%q: found", sha)
		}
	}
	must(t, os.WriteFile(b.Path(ref), []byte("HELLO"), 0o600))
	if _, err := b.Get(ref.SHA256); err == nil || !strings.Contains(err.Error(), "changed") {
		t.Errorf("changed content: %v", err)
	}
	_, err = b.Put("text/plain", []byte("hello"))
	must(t, err)
	if _, err := b.Get(ref.SHA256); err != nil {
		t.Errorf("not mended: %v", err)
	}
}

func TestBlobsAreWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	b, err := tools.NewBlobs(dir)
	must(t, err)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for j := range 5 {
				_, err := b.Put("x", []byte(strings.Repeat(fmt.Sprint(j%3), 1<<16)))
				must(t, err)
			}
			_ = i
		})
	}
	group.Wait()
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) != 3 {
		t.Errorf("%d files left", len(entries))
	}
	must(t, os.RemoveAll(dir))
	if _, err := b.Put("x", []byte("y")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
	must(t, os.WriteFile(dir, nil, 0o600))
	if _, err := tools.NewBlobs(dir); err == nil {
		t.Error("a file is no directory")
	}
}

// A failed rename leaves no file behind.
func TestBlobThatCannotBePlaced(t *testing.T) {
	dir := t.TempDir()
	b, err := tools.NewBlobs(dir)
	must(t, err)
	ref, err := b.Put("x", []byte("y"))
	must(t, err)
	must(t, os.Remove(b.Path(ref)))
	must(t, os.MkdirAll(filepath.Join(b.Path(ref), "full"), 0o700))
	if _, err := b.Put("x", []byte("y")); err == nil {
		t.Error("put over a directory")
	}
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) != 1 {
		t.Errorf("%d entries left", len(entries))
	}
}

// steps is a process whose output and end the test chooses.
type steps struct {
	print chan string
	end   chan error
}

func (s steps) start(ctx context.Context, p tools.Process) (tools.Exit, error) {
	for {
		select {
		case text := <-s.print:
			if _, err := p.Stdout.Write([]byte(text)); err != nil {
				return tools.Exit{}, err
			}
			s.print <- "" // written
		case err := <-s.end:
			return tools.Exit{Code: 3}, err
		case <-ctx.Done():
			return tools.Exit{Code: 137, Signal: "killed"}, nil
		}
	}
}

func (s steps) say(text string) { s.print <- text; <-s.print }

// contract 44
func TestJobIsReadWaitedForAndKilled(t *testing.T) {
	s := steps{make(chan string), make(chan error)}
	jobs := tools.NewJobs(s.start)
	defer jobs.Close()
	id, err := jobs.Start(tools.Process{})
	must(t, err)
	s.say("one")
	read := func(text string, done bool, code int) {
		t.Helper()
		got, isDone, exit, err := jobs.Read(id)
		must(t, err)
		if got != text || isDone != done || exit.Code != code {
			t.Errorf("got %q, %v, %+v", got, isDone, exit)
		}
	}
	read("one", false, 0)
	read("", false, 0)
	s.say("two")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := jobs.Wait(ctx, id); !errors.Is(err, context.Canceled) {
		t.Errorf("wait: %v", err)
	}
	s.end <- nil
	must(t, jobs.Wait(t.Context(), id))
	read("two", true, 3)
	read("", true, 3)
	must(t, jobs.Kill(id))
	id, err = jobs.Start(tools.Process{})
	must(t, err)
	must(t, jobs.Kill(id))
	read("", true, 137)
}

// contract 44: buffers are bounded
func TestJobKeepsTheEndOfItsOutput(t *testing.T) {
	s := steps{make(chan string), make(chan error)}
	jobs := tools.NewJobs(s.start)
	defer jobs.Close()
	id, err := jobs.Start(tools.Process{})
	must(t, err)
	s.say(strings.Repeat("x", 200<<10))
	s.say(strings.Repeat("y", 200<<10) + "END")
	text, _, _, err := jobs.Read(id)
	must(t, err)
	if !strings.HasPrefix(text, "[147459 earlier bytes were dropped]\nxxx") || !strings.HasSuffix(text, "END") {
		t.Errorf("got %.60q of %d bytes", text, len(text))
	}
}

// contract 44
func TestJobsRefuseWhatTheyDoNotKnow(t *testing.T) {
	jobs := tools.NewJobs(func(context.Context, tools.Process) (tools.Exit, error) { panic("exec") })
	wrong := new(tools.ArgError)
	_, _, _, err := jobs.Read("job-9")
	if !errors.As(err, &wrong) || !strings.Contains(err.Error(), "none was started") {
		t.Errorf("read: %v", err)
	}
	id, err := jobs.Start(tools.Process{})
	must(t, err)
	must(t, jobs.Wait(t.Context(), id))
	if _, done, _, err := jobs.Read(id); !done || err == nil || !strings.Contains(err.Error(), "exec") {
		t.Errorf("panic: %v, %v", done, err)
	}
	if err := jobs.Wait(t.Context(), "x"); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "job-1") {
		t.Errorf("wait: %v", err)
	}
	if err := jobs.Kill("x"); !errors.As(err, &wrong) {
		t.Errorf("kill: %v", err)
	}
	jobs.Close()
	if _, err := jobs.Start(tools.Process{}); err == nil {
		t.Error("started after the end")
	}
}

// contract 44, law 10: there is a bound on jobs, and Close leaves none
func TestJobsAreBoundedAndClosed(t *testing.T) {
	s := steps{make(chan string), make(chan error)}
	jobs := tools.NewJobs(s.start)
	for range 100 { // more than are remembered
		id, err := jobs.Start(tools.Process{})
		must(t, err)
		must(t, jobs.Kill(id))
	}
	if _, _, _, err := jobs.Read("job-1"); err == nil {
		t.Error("the oldest is still known")
	}
	for range 8 {
		_, err := jobs.Start(tools.Process{})
		must(t, err)
	}
	if _, err := jobs.Start(tools.Process{}); err == nil || !strings.Contains(err.Error(), "kill one first") {
		t.Errorf("ninth: %v", err)
	}
	jobs.Close()
	_, done, exit, err := jobs.Read("job-108")
	if err != nil || !done || exit.Code != 137 {
		t.Errorf("after close: %v, %+v, %v", done, exit, err)
	}
}

// The env's own Exec kills a process that has children.
func TestJobOfARealProcessEndsWithTheAnt(t *testing.T) {
	env := toolstest.NewEnv(t)
	must(t, syscall.Mkfifo(filepath.Join(env.Root, "pipe"), 0o600))
	id, err := env.Jobs.Start(tools.Process{Argv: []string{"sh", "-c", "sleep 100 & echo started >pipe; sleep 100"}, Dir: env.Root})
	must(t, err)
	started, err := os.ReadFile(filepath.Join(env.Root, "pipe"))
	must(t, err)
	want(t, "said", string(started[:8]), "started\n")
	must(t, env.Jobs.Kill(id))
	if _, done, exit, err := env.Jobs.Read(id); err != nil || !done || exit.Code != 137 {
		t.Errorf("got %v, %+v, %v", done, exit, err)
	}
}
