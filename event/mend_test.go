package event_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"colony/event"
)

func mend(t *testing.T, dir string) (event.Mended, error) {
	t.Helper()
	return event.Mend(t.Context(), dir, event.Parts{Run: "r-1", Now: time.Now})
}

// What cannot be mended, and what need not be, stays as it is.
func TestMendLeavesAlone(t *testing.T) {
	for name, statement := range map[string]string{
		"whole":             "SELECT 1",
		"damaged inside":    `UPDATE events SET fields = replace(fields, '"2"', '"9"') WHERE seq = 2`,
		"a gap":             "DELETE FROM events WHERE seq = 2",
		"the first damaged": "UPDATE events SET sum = zeroblob(32) WHERE seq = 1",
		"nothing left":      "DELETE FROM events",
		"no table":          "DROP TABLE events",
		"newer":             "PRAGMA user_version = 9",
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "log")
			closed(t).put(t, dir)
			change(t, dir, statement)
			before := taken(t, dir)
			m, err := mend(t, dir)
			if m != (event.Mended{}) || (name == "whole") != (err == nil) || err != nil && !named(err) {
				t.Errorf("%+v, %v", m, err)
			}
			if after := taken(t, dir); !slices.Equal(after["events.db"], before["events.db"]) || !slices.Equal(after["head"], before["head"]) {
				t.Error("the log was changed")
			}
		})
	}
}

// A damaged last event is cut off; a copy is kept, and the log says it.
func TestMendTheEnd(t *testing.T) {
	for name, statement := range map[string]string{
		"a flipped bit":    `UPDATE events SET fields = replace(fields, '"4"', '"9"') WHERE seq = 4`,
		"a short checksum": "UPDATE events SET sum = zeroblob(3) WHERE seq = 4",
		"lost":             "DELETE FROM events WHERE seq = 4",
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "log")
			closed(t).put(t, dir)
			change(t, dir, statement)
			before := taken(t, dir)
			m, err := mend(t, dir)
			if err != nil || m.Last != 3 || m.Lost != 1 {
				t.Fatalf("%+v, %v", m, err)
			}
			kept, err := os.ReadFile(filepath.Join(m.Copy, "events.db"))
			if err != nil || !slices.Equal(kept, before["events.db"]) {
				t.Errorf("the copy has %d bytes: %v", len(kept), err)
			}
			got := readAll(t, reader(t, dir).Read(t.Context(), 0))
			if len(got) != 4 || !slices.Equal(got[:3], []string{"1", "2", "3"}) || !strings.Contains(got[3], "1 after event 3") {
				t.Errorf("%q", got)
			}
			if m, err := mend(t, dir); err != nil || m != (event.Mended{}) {
				t.Errorf("a second time: %+v, %v", m, err)
			}
		})
	}
}

// A log that a living process appends to is not mended.
func TestMendOwned(t *testing.T) {
	dir := t.TempDir()
	start(t, dir).append(t, "1")
	var owned *event.OwnedError
	if _, err := mend(t, dir); !errors.As(err, &owned) {
		t.Errorf("%v", err)
	}
}
