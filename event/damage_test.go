package event_test

import (
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"colony/event"
)

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
