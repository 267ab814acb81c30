package event_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"colony/event"
)

// everything makes the tests of damage take each byte and each of 10,000 bits, which takes minutes: make damage.
func everything() bool { return os.Getenv("COLONY_DAMAGE") == "all" }

// files are what a log consists of on the disk, by name.
type files map[string][]byte

// taken are a log's files as they are now.
func taken(t *testing.T, dir string) files {
	t.Helper()
	f := files{}
	for _, name := range []string{"events.db", "events.db-wal", "head"} {
		if data, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			f[name] = data
		}
	}
	return f
}

// put makes a log of the files in a directory that a test uses again and again.
func (f files) put(t *testing.T, dir string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, data := range f {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// with is the files, one of them changed.
func (f files) with(name string, data []byte) files {
	g := files{name: data}
	for n, d := range f {
		if n != name {
			g[n] = d
		}
	}
	return g
}

// looked is what a log that may be damaged holds.
func looked(t *testing.T, dir string) ([]string, error) {
	t.Helper()
	r, err := event.OpenReader(dir)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return read(t, r.Read(t.Context(), 0))
}

// named reports whether an error says that the log is damaged or newer.
func named(err error) bool {
	var corrupt *event.CorruptError
	var newer *event.FormatError
	return errors.As(err, &corrupt) || errors.As(err, &newer)
}

// killed are the files of a log whose owner was killed after four appends, and what they were before the last.
func killed(t *testing.T) (whole, before files) {
	t.Helper()
	dir := t.TempDir()
	o := start(t, dir)
	for i := range 3 {
		o.append(t, fmt.Sprint(i+1))
	}
	before = taken(t, dir)
	o.append(t, "4")
	o.kill()
	return taken(t, dir), before
}

// closed are the files of a log that its owner closed.
func closed(t *testing.T) files {
	t.Helper()
	dir := t.TempDir()
	s := open(t, dir)
	warn(t, s, "1", "2", "3", "4")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return taken(t, dir)
}

// JR02, JR03: wherever a file is cut within its last group, all that was acknowledged is there or its loss is named, and
// mending loses the last event and no other.
func TestCutAtEveryByte(t *testing.T) {
	whole, before := killed(t)
	for _, c := range []struct {
		files files
		name  string
		from  int  // where the last group begins
		loses bool // the cut file held the last event alone
	}{
		{whole, "events.db-wal", len(before["events.db-wal"]), true},
		{whole, "head", 0, false},
		{closed(t), "events.db", 0, true},
		{closed(t), "head", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "log")
			size, cuts := len(c.files[c.name]), 0
			for keep := c.from; keep < size; keep++ {
				if !everything() && keep%97 != 0 && keep-c.from > 30 && size-keep > 5 {
					continue
				}
				cuts++
				c.files.with(c.name, c.files[c.name][:keep]).put(t, dir)
				got, err := looked(t, dir)
				if !c.loses && (err != nil || len(got) != 4) || c.loses && !named(err) {
					t.Errorf("cut to %d of %d: %q, %v", keep, size, got, err)
				}
				if c.name == "events.db-wal" {
					mendCut(t, dir, fmt.Sprintf("cut to %d of %d", keep, size))
				}
			}
			t.Logf("%d cuts of the last %d bytes", cuts, size-c.from)
		})
	}
}

// mendCut mends a log that lost the last of four events, and goes on with it.
func mendCut(t *testing.T, dir, what string) {
	t.Helper()
	parts := event.Parts{Run: "r-1", Now: time.Now}
	if _, err := event.Open(t.Context(), dir, parts); !named(err) {
		t.Errorf("%s: an owner took it: %v", what, err)
	}
	m, err := event.Mend(t.Context(), dir, parts)
	if err != nil || m.Last != 3 || m.Lost != 1 {
		t.Errorf("%s: mended %+v, %v", what, m, err)
		return
	}
	s, err := event.Open(t.Context(), dir, parts)
	if err != nil {
		t.Errorf("%s: after mending: %v", what, err)
		return
	}
	defer s.Close()
	warn(t, s, "new")
	got, err := looked(t, dir)
	if err != nil || len(got) != 5 || !slices.Equal(got[:3], []string{"1", "2", "3"}) || got[4] != "new" {
		t.Errorf("%s: after mending it has %q, %v", what, got, err)
	}
}

// JR03: whatever bit is flipped, the whole history is read or the damage is named; and an owner that may go on with it
// finds the same.
func TestFlippedBits(t *testing.T) {
	whole, _ := killed(t)
	flips, seed := 600, uint64(time.Now().UnixNano())
	if everything() {
		flips = 10_000
	}
	random := rand.New(rand.NewPCG(seed, 1))
	dir := filepath.Join(t.TempDir(), "log")
	states := []files{whole, closed(t)}
	read, names := 0, []string{"events.db", "events.db-wal", "head"}
	for i := range flips {
		f := states[i%len(states)]
		name := names[random.IntN(len(names))]
		data := slices.Clone(f[name])
		if len(data) == 0 {
			name, data = "events.db", slices.Clone(f["events.db"])
		}
		bit := random.IntN(len(data) * 8)
		data[bit/8] ^= 1 << (bit % 8)
		f.with(name, data).put(t, dir)
		what := fmt.Sprintf("seed %d, flip %d, bit %d of %s", seed, i, bit, name)
		got, err := looked(t, dir)
		switch {
		case err == nil && slices.Equal(got, []string{"1", "2", "3", "4"}):
			read++
		case !named(err) || name == "head":
			t.Errorf("%s: %q, %v", what, got, err)
		}
		if i%10 == 0 {
			ownFlipped(t, dir, what)
		}
	}
	t.Logf("%d flips: %d read whole, %d named", flips, read, flips-read)
}

// Whatever the head says, the log is read whole, or named as one that lost what the head tells of.
func FuzzHead(f *testing.F) {
	dir := f.TempDir()
	s := open(f, dir)
	warn(f, s, "1", "2")
	if err := s.Close(); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(filepath.Join(dir, "head"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:86])
	f.Add([]byte("7 77"))
	f.Add([]byte(fmt.Sprintf("%020d %064x\n", 9, 9)))
	f.Fuzz(func(t *testing.T, head []byte) {
		if err := os.WriteFile(filepath.Join(dir, "head"), head, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := looked(t, dir)
		if err == nil && len(got) != 2 || err != nil && !named(err) {
			t.Errorf("head %q: %q, %v", head, got, err)
		}
	})
}

// ownFlipped opens a log that may be damaged to append to it: after that it still has all or names its damage.
func ownFlipped(t *testing.T, dir, what string) {
	t.Helper()
	s, err := event.Open(t.Context(), dir, event.Parts{Run: "r-1", Now: time.Now})
	if err != nil {
		if !named(err) {
			t.Errorf("%s: owner: %v", what, err)
		}
		return
	}
	if _, err := s.Append(t.Context(), event.Event{Body: event.Warned{Text: "5"}}); err != nil && !named(err) {
		t.Errorf("%s: append: %v", what, err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("%s: close: %v", what, err)
	}
	got, err := looked(t, dir)
	if err == nil && !slices.Equal(got, []string{"1", "2", "3", "4", "5"}) || err != nil && !named(err) {
		t.Errorf("%s: after an append: %q, %v", what, got, err)
	}
}

// JR03: a log without a byte, one with 512 NUL bytes, one whose file is gone: each is named by reader and owner, and
// nothing is written.
func TestEmptiedAndBlanked(t *testing.T) {
	whole, f := func() (files, files) { w, _ := killed(t); return w, closed(t) }()
	blank := func(data []byte, at int) []byte {
		data = slices.Clone(data)
		clear(data[at : at+512])
		return data
	}
	gone := f.with("events.db", nil)
	delete(gone, "events.db")
	for name, damaged := range map[string]files{
		"no bytes":                 f.with("events.db", nil),
		"no bytes, a write-ahead":  whole.with("events.db", nil),
		"gone":                     gone,
		"NULs at the start":        f.with("events.db", blank(f["events.db"], 0)),
		"NULs where the table is":  f.with("events.db", blank(f["events.db"], 4096)),
		"NULs in the last records": f.with("events.db", blank(f["events.db"], len(f["events.db"])-600)),
		"NULs in the write-ahead":  whole.with("events.db-wal", blank(whole["events.db-wal"], len(whole["events.db-wal"])-600)),
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "log")
			damaged.put(t, dir)
			if got, err := looked(t, dir); !named(err) {
				t.Errorf("reader: %q, %v", got, err)
			}
			s, err := event.Open(t.Context(), dir, event.Parts{Run: "r-1", Now: time.Now})
			if err == nil { // only the last record's checksum is looked at; reading names the rest
				_, err = read(t, s.Read(t.Context(), 0))
				s.Close()
			}
			if !named(err) {
				t.Errorf("owner: %v", err)
			}
			if name == "gone" || name == "no bytes" {
				if after := taken(t, dir); len(after["events.db"]) > 0 {
					t.Errorf("%d bytes were written", len(after["events.db"]))
				}
			}
		})
	}
}
