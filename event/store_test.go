package event_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"colony/event"
	"colony/event/eventtest"
)

// TestMain is also the other process of the tests: told a log, it owns it, appends an event for each line
// on its standard input, and says so.
func TestMain(m *testing.M) {
	if dir := os.Getenv("EVENT_TEST_OWNER"); dir != "" {
		if err := ownAndAppend(dir); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

func ownAndAppend(dir string) error {
	s, err := event.Open(context.Background(), dir, event.Parts{Run: "r-1", Now: time.Now})
	if err != nil {
		return err
	}
	fmt.Println("open")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		if _, err := s.Append(context.Background(), event.Event{Body: event.Warned{Text: in.Text()}}); err != nil {
			return err
		}
		fmt.Println("appended")
	}
	select {} // until it is killed
}

// other is another process that owns a log.
type other struct {
	*exec.Cmd
	in  io.Writer
	out *bufio.Scanner
}

func start(t testing.TB, dir string) *other {
	t.Helper()
	o := &other{Cmd: exec.Command(os.Args[0])}
	o.Env = append(os.Environ(), "EVENT_TEST_OWNER="+dir)
	var err error
	if o.in, err = o.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := o.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	o.out = bufio.NewScanner(out)
	if err := o.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.kill)
	o.says(t, "open")
	return o
}

func (o *other) says(t testing.TB, want string) {
	t.Helper()
	if !o.out.Scan() || o.out.Text() != want {
		t.Fatalf("the other process said %q, not %q", o.out.Text(), want)
	}
}

func (o *other) append(t testing.TB, text string) {
	t.Helper()
	fmt.Fprintln(o.in, text)
	o.says(t, "appended")
}

// kill ends the process at once, as kill -9 does.
func (o *other) kill() {
	o.Process.Kill()
	o.Wait()
}

func open(t testing.TB, dir string) *event.Store {
	t.Helper()
	s, err := event.Open(t.Context(), dir, event.Parts{Run: "r-1", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func reader(t testing.TB, dir string) *event.Reader {
	t.Helper()
	r, err := event.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func warn(t testing.TB, log event.Log, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if _, err := log.Append(t.Context(), event.Event{Body: event.Warned{Text: text}}); err != nil {
			t.Fatal(err)
		}
	}
}

// read is what a log holds, up to its first error.
func read(t testing.TB, events iter.Seq2[event.Event, error]) (texts []string, err error) {
	t.Helper()
	for e, err := range events {
		if err != nil {
			return texts, err
		}
		texts = append(texts, e.Body.(event.Warned).Text)
	}
	return texts, nil
}

func readAll(t testing.TB, events iter.Seq2[event.Event, error]) []string {
	t.Helper()
	all, err := read(t, events)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestStore(t *testing.T) {
	eventtest.Run(t, func(t *testing.T) event.Log { return open(t, filepath.Join(t.TempDir(), "new", "a b%20?#")) })
}

// apart appends to a store and reads with a reader, as two processes do.
type apart struct {
	*event.Store
	reader *event.Reader
}

func (l apart) Read(ctx context.Context, after event.Seq) iter.Seq2[event.Event, error] {
	return l.reader.Read(ctx, after)
}

func (l apart) Follow(ctx context.Context, after event.Seq) iter.Seq2[event.Event, error] {
	return l.reader.Follow(ctx, after)
}

func TestReader(t *testing.T) {
	eventtest.Run(t, func(t *testing.T) event.Log {
		dir := t.TempDir()
		return apart{open(t, dir), reader(t, dir)}
	})
}

// contract 66
func TestOneOwner(t *testing.T) {
	dir := t.TempDir()
	o := start(t, dir)
	o.append(t, "first")
	refused := func() {
		t.Helper()
		_, err := event.Open(t.Context(), dir, event.Parts{Run: "r-1", Now: time.Now})
		var owned *event.OwnedError
		host, _ := os.Hostname()
		if !errors.As(err, &owned) || owned.PID != o.Process.Pid || owned.Host != host || time.Since(owned.Since) > time.Minute {
			t.Fatalf("a second owner: %v", err)
		}
	}
	refused()
	o.append(t, "second")
	r := reader(t, dir)
	if all := readAll(t, r.Read(t.Context(), 0)); !slices.Equal(all, []string{"first", "second"}) {
		t.Errorf("another process reads %q", all)
	}
	o.kill()
	r2 := reader(t, dir) // the file as the dead owner left it
	if all := readAll(t, r2.Read(t.Context(), 1)); !slices.Equal(all, []string{"second"}) {
		t.Errorf("after a kill it reads %q", all)
	}
	s := open(t, dir)
	warn(t, s, "third")
	for _, events := range []iter.Seq2[event.Event, error]{s.Read(t.Context(), 0), r.Read(t.Context(), 0), r2.Read(t.Context(), 0)} {
		if all := readAll(t, events); !slices.Equal(all, []string{"first", "second", "third"}) {
			t.Errorf("after another took over it reads %q", all)
		}
	}
	_, err := event.Open(t.Context(), dir, event.Parts{Run: "r-1", Now: time.Now})
	var owned *event.OwnedError
	if !errors.As(err, &owned) || owned.PID != os.Getpid() {
		t.Errorf("a second owner in this process: %v", err)
	}
}

// Who only asks whether a log is owned keeps nobody from owning it.
func TestOwned(t *testing.T) {
	dir := t.TempDir()
	if event.Owned(dir) {
		t.Error("a log that is not there is owned")
	}
	stop := make(chan bool)
	var group sync.WaitGroup
	defer group.Wait()
	defer close(stop)
	group.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				event.Owned(dir)
			}
		}
	})
	for range 10 {
		s, err := event.Open(t.Context(), dir, event.Parts{Run: "r", Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		if !event.Owned(dir) {
			t.Error("an open log is not owned")
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Nothing that was acknowledged is lost when the owner is killed.
func TestKilledOwner(t *testing.T) {
	dir := t.TempDir()
	var want []string
	for i := range 3 {
		o := start(t, dir)
		for j := range 4 {
			want = append(want, fmt.Sprint(i, j))
			o.append(t, want[len(want)-1])
		}
		o.kill()
	}
	if all := readAll(t, open(t, dir).Read(t.Context(), 0)); !slices.Equal(all, want) {
		t.Errorf("%q of %q", all, want)
	}
}

func TestFollowAnotherProcess(t *testing.T) {
	dir := t.TempDir()
	o := start(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got []string
	o.append(t, "0")
	for e, err := range reader(t, dir).Follow(ctx, 0) {
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			break
		}
		got = append(got, e.Body.(event.Warned).Text)
		if len(got) == 5 {
			cancel()
			continue
		}
		o.append(t, fmt.Sprint(len(got)))
	}
	if !slices.Equal(got, []string{"0", "1", "2", "3", "4"}) {
		t.Errorf("followed %q", got)
	}
}

func TestClosed(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	warn(t, s, "1")
	for e, err := range s.Follow(t.Context(), 0) {
		if err == nil && e.Seq == 1 {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		} else if err == nil {
			t.Fatalf("event %d", e.Seq)
		}
	}
	if _, err := s.Append(t.Context(), event.Event{Body: event.AntEnded{}}); !errors.Is(err, event.ErrClosed) {
		t.Errorf("append: %v", err)
	}
	warn(t, open(t, dir), "2") // the lock is free again
}

func TestOnlyItsOwnerMayRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	warn(t, open(t, dir), "1")
	for name, want := range map[string]fs.FileMode{"": 0o700 | fs.ModeDir, "owner": 0o600, "head": 0o600, "events.db": 0o600, "events.db-wal": 0o600, "events.db-shm": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode() != want {
			t.Errorf("%q: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestNoLog(t *testing.T) {
	dir := t.TempDir()
	if _, err := event.OpenReader(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "events.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := event.OpenReader(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty file: %v", err)
	}
	if _, err := event.Open(t.Context(), dir, event.Parts{}); err == nil {
		t.Error("a log without a run and a clock was opened")
	}
	if _, err := event.Open(t.Context(), filepath.Join(dir, "events.db"), event.Parts{Run: "r", Now: time.Now}); err == nil {
		t.Error("a log was opened in a file")
	}
}
