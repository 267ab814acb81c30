package event_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// change runs a statement in the database of a log that nobody owns.
func change(t *testing.T, dir, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "events.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

func TestNewerFormat(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	warn(t, s, "1")
	s.Close()
	change(t, dir, "PRAGMA user_version = 2")
	var newer *event.FormatError
	if _, err := event.OpenReader(dir); !errors.As(err, &newer) || newer.Have != 2 {
		t.Errorf("reader: %v", err)
	}
	if _, err := event.Open(t.Context(), dir, event.Parts{Run: "r", Now: time.Now}); !errors.As(err, &newer) {
		t.Errorf("owner: %v", err)
	}
	change(t, dir, "PRAGMA user_version = 1") // nothing else was touched
	if all := readAll(t, open(t, dir).Read(t.Context(), 0)); len(all) != 1 {
		t.Errorf("%q", all)
	}
}

func TestDamageIsNamed(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	warn(t, s, "1", "2", "3", "4", "5")
	s.Close()
	whole, err := os.ReadFile(filepath.Join(dir, "events.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, statement string
		at              event.Seq
		before          int // events that are still read
	}{
		{"a flipped bit in the fields", `UPDATE events SET fields = replace(fields, '"3"', '"1"') WHERE seq = 3`, 3, 2},
		{"a flipped bit in the head", `UPDATE events SET head = replace(head, 'r-1', 'r-3') WHERE seq = 2`, 2, 1},
		{"a flipped bit in a checksum", `UPDATE events SET sum = zeroblob(32) WHERE seq = 1`, 1, 0},
		{"a short checksum", `UPDATE events SET sum = zeroblob(31) WHERE seq = 4`, 4, 3},
		{"a long checksum", `UPDATE events SET sum = zeroblob(33) WHERE seq = 4`, 4, 3},
		{"another type in a column", `UPDATE events SET sum = 7 WHERE seq = 5`, 5, 4},
		{"a gap", `DELETE FROM events WHERE seq = 3`, 3, 2},
		{"the first is missing", `DELETE FROM events WHERE seq = 1`, 1, 0},
		{"two that changed places", `UPDATE events SET seq = CASE seq WHEN 2 THEN -3 ELSE -2 END WHERE seq IN (2, 3); UPDATE events SET seq = -seq WHERE seq < 0`, 2, 1},
		{"no table", `DROP TABLE events`, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "events.db"), whole, 0o600); err != nil {
				t.Fatal(err)
			}
			change(t, dir, c.statement)
			got, err := read(t, reader(t, dir).Read(t.Context(), 0))
			var corrupt *event.CorruptError
			if !errors.As(err, &corrupt) || corrupt.Seq != c.at || len(got) != c.before {
				t.Errorf("read %q, then %v", got, err)
			}
			for _, err := range reader(t, dir).Follow(t.Context(), 0) {
				if err != nil && !errors.As(err, &corrupt) {
					t.Errorf("follow: %v", err)
				}
			}
		})
	}
}

// Whatever byte of the file is flipped, all is read or the damage is named.
func TestFlippedBytes(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	want := []string{"1", "2", "3"}
	warn(t, s, want...)
	s.Close()
	path := filepath.Join(dir, "events.db")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	step := 37
	for at := 0; at < len(whole); at += step {
		flipped := slices.Clone(whole)
		flipped[at] ^= 1 << (at % 8)
		if err := os.WriteFile(path, flipped, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := readFlipped(t, dir)
		var corrupt *event.CorruptError
		var newer *event.FormatError
		switch {
		case err == nil && slices.Equal(got, want):
		case errors.As(err, &corrupt), errors.As(err, &newer), errors.Is(err, fs.ErrNotExist):
		default:
			t.Errorf("byte %d: %q, %v", at, got, err)
		}
	}
}

// A log that lost its end is named by owner, reader and follower.
func TestCutTail(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	warn(t, s, "1", "2")
	s.Close()
	change(t, dir, "DELETE FROM events WHERE seq = 2")
	var corrupt *event.CorruptError
	if _, err := event.Open(t.Context(), dir, event.Parts{Run: "r", Now: time.Now}); !errors.As(err, &corrupt) || corrupt.Seq != 2 {
		t.Errorf("owner: %v", err)
	}
	r := reader(t, dir)
	if got, err := read(t, r.Read(t.Context(), 0)); !errors.As(err, &corrupt) || len(got) > 0 {
		t.Errorf("reader: %q, %v", got, err)
	}
	if got, err := read(t, r.Follow(t.Context(), 1)); !errors.As(err, &corrupt) || len(got) > 0 {
		t.Errorf("follower: %q, %v", got, err)
	}
	for _, mark := range []string{"", "x", "7 77"} { // one that cannot be read says nothing
		if err := os.WriteFile(filepath.Join(dir, "head"), []byte(mark), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := readAll(t, r.Read(t.Context(), 0)); len(got) != 1 {
			t.Errorf("mark %q: %q", mark, got)
		}
	}
}

// What a killed owner acknowledged is there, or its loss is named, wherever its file was cut.
func TestCutFile(t *testing.T) {
	dir := t.TempDir()
	o := start(t, dir)
	o.append(t, "1")
	o.append(t, "2")
	o.kill()
	path := filepath.Join(dir, "events.db-wal")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for keep := len(whole); keep >= 0; keep -= 1031 {
		if err := os.WriteFile(path, whole[:keep], 0o600); err != nil {
			t.Fatal(err)
		}
		os.Remove(filepath.Join(dir, "events.db-shm"))
		got, err := readFlipped(t, dir)
		var corrupt *event.CorruptError
		switch {
		case keep == len(whole) && err == nil && len(got) == 2:
		case keep < len(whole) && (errors.As(err, &corrupt) || errors.Is(err, fs.ErrNotExist)):
		default:
			t.Errorf("cut to %d of %d: %q, %v", keep, len(whole), got, err)
		}
	}
}

// After an append that went wrong every later one does: what the disk holds is not known any more.
func TestBrokenStaysBroken(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	warn(t, s, "1")
	change(t, dir, "ALTER TABLE events RENAME TO other")
	_, first := s.Append(t.Context(), event.Event{Body: event.AntEnded{}})
	change(t, dir, "ALTER TABLE other RENAME TO events")
	_, second := s.Append(t.Context(), event.Event{Body: event.AntEnded{}})
	if first == nil || !errors.Is(second, first) {
		t.Errorf("first %v, then %v", first, second)
	}
	if all := readAll(t, s.Read(t.Context(), 0)); len(all) != 1 {
		t.Errorf("%q", all)
	}
}

// A person reads what is wrong and what to do.
func TestErrorTexts(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for want, err := range map[string]error{
		"log d is owned by process 7 on h since 2026-11-30T12:00:00Z: stop that one first": &event.OwnedError{Log: "d", PID: 7, Host: "h", Since: at},
		"log d has format 2, this colony knows 1: use a newer colony":                      &event.FormatError{Log: "d", Have: 2, Know: 1},
		"log d is damaged at event 3: w":                                                   &event.CorruptError{Log: "d", Seq: 3, What: "w"},
		"log d is damaged: w":                                                              &event.CorruptError{Log: "d", What: "w"},
	} {
		if err.Error() != want {
			t.Errorf("%s", err)
		}
	}
	if !errors.Is(&event.CorruptError{Err: fs.ErrInvalid}, fs.ErrInvalid) {
		t.Error("a damage hides its cause")
	}
}

// An owner that has locked and not signed yet is named as unknown.
func TestUnsignedOwner(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	if err := os.Truncate(filepath.Join(dir, "owner"), 0); err != nil {
		t.Fatal(err)
	}
	_, err := event.Open(t.Context(), dir, event.Parts{Run: "r", Now: time.Now})
	var owned *event.OwnedError
	if !errors.As(err, &owned) || owned.PID != 0 || owned.Host == "" {
		t.Errorf("%v", err)
	}
}

func readFlipped(t *testing.T, dir string) ([]string, error) {
	r, err := event.OpenReader(dir)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return read(t, r.Read(t.Context(), 0))
}

func percentiles(b *testing.B, all []time.Duration) {
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms")
}

func BenchmarkAppendOne(b *testing.B) {
	s := open(b, b.TempDir())
	var all []time.Duration
	for b.Loop() {
		start := time.Now()
		warn(b, s, "some text of the length that a warning usually has")
		all = append(all, time.Since(start))
	}
	percentiles(b, all)
}

func BenchmarkAppendFrom64(b *testing.B) {
	s := open(b, b.TempDir())
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			warn(b, s, "some text of the length that a warning usually has")
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkFollow is the time from an event's own time, before its flush, to its reading in another process.
func BenchmarkFollow(b *testing.B) {
	dir := b.TempDir()
	o := start(b, dir)
	const events = 300
	go func() {
		for i := range events {
			time.Sleep(time.Duration(7+i%11) * time.Millisecond) // meets every moment of a poll
			fmt.Fprintln(o.in, "next")
		}
	}()
	var all []time.Duration
	for e, err := range reader(b, dir).Follow(b.Context(), 0) {
		if err != nil {
			b.Fatal(err)
		}
		if all = append(all, time.Since(e.Time)); len(all) == events {
			break
		}
	}
	for b.Loop() { // the events above are what is measured
	}
	percentiles(b, all)
}

func BenchmarkRead(b *testing.B) {
	s := open(b, b.TempDir())
	var events []event.Event
	for i := range 10_000 {
		events = append(events, event.Event{Ant: "worker-1", Body: event.AntTold{Kind: "task", Text: fmt.Sprint("text ", i)}})
	}
	if _, err := s.Append(b.Context(), events...); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for _, err := range s.Read(b.Context(), 0) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(10_000*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
