package event_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"colony/event"
)

// What SQLite answers to a disk that is full, and to one that goes wrong.
const (
	full    = 13
	ioError = 10
)

// told is what a log holds, its pauses as "paused".
func told(t testing.TB, dir string) []string {
	t.Helper()
	var texts []string
	for e, err := range reader(t, dir).Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		switch b := e.Body.(type) {
		case event.Warned:
			texts = append(texts, b.Text)
		case event.RunPaused:
			texts = append(texts, "paused")
		}
	}
	return texts
}

// Whichever operation of the disk goes wrong while a log is opened and appended to, what was acknowledged is there, and
// the log goes on when the disk does.
func TestEachOperationOnceWrong(t *testing.T) {
	d, err := under()
	if err != nil {
		t.Fatal(err)
	}
	for op, code := range map[string]int32{"open": 14, "write": full, "sync": ioError, "truncate": ioError, "map": ioError, "delete": ioError} {
		t.Run(op, func(t *testing.T) {
			n, reached := 1, true
			for ; reached && n < 200; n++ {
				var count atomic.Int64
				d.goes(t, func(o string) int32 {
					if o == op && count.Add(1) == int64(n) {
						return code
					}
					return 0
				})
				dir := t.TempDir()
				appendThrough(t, d, dir, fmt.Sprintf("%s %d", op, n))
				reached = count.Load() >= int64(n)
			}
			t.Logf("%s: %d places", op, n-2)
			if reached {
				t.Error("it never ends")
			}
		})
	}
}

// appendThrough appends while an operation goes wrong, and again after a restart, and looks at what is there.
func appendThrough(t *testing.T, d *disk, dir, what string) {
	t.Helper()
	var acked []string
	parts := event.Parts{Run: "r-1", Now: time.Now}
	for life := range 2 {
		s, err := event.Open(t.Context(), dir, parts)
		if err != nil {
			continue // nothing was promised; the next life finds the disk well
		}
		for i := range 3 {
			text := fmt.Sprint(life, i)
			if _, err := s.Append(t.Context(), event.Event{Body: event.Warned{Text: text}}, event.Event{Body: event.AntEnded{}}); err != nil {
				t.Fatalf("%s: append: %v", what, err)
			}
			acked = append(acked, text)
		}
		if err := s.Close(); err != nil {
			t.Logf("%s: close: %v", what, err)
		}
	}
	d.fault.Store(nil)
	got := slices.DeleteFunc(told(t, dir), func(s string) bool { return s == "paused" })
	if !slices.Equal(got, acked) || len(acked) == 0 {
		t.Errorf("%s: the log has %q, acknowledged were %q", what, got, acked)
	}
}

// A disk that stays wrong is waited for; the log says so when it goes on, and a follower sees each event once.
func TestPause(t *testing.T) {
	d, err := under()
	if err != nil {
		t.Fatal(err)
	}
	for name, code := range map[string]int32{"full": full, "error": ioError} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var tries atomic.Int64
			first := make(chan *event.StuckError, 1)
			s, err := event.Open(t.Context(), dir, event.Parts{Run: "r-1", Now: time.Now, Stuck: func(e *event.StuckError) bool {
				if tries.Add(1) == 1 {
					first <- e
				}
				if tries.Load() == 3 {
					d.fault.Store(nil)
				}
				return true
			}})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			warn(t, s, "1")
			d.goes(t, func(op string) int32 {
				if op == "write" {
					return code
				}
				return 0
			})
			seq, err := s.Append(t.Context(), event.Event{Body: event.Warned{Text: "2"}})
			if err != nil || seq != 3 {
				t.Errorf("append: %d, %v", seq, err)
			}
			stuck := <-first
			if stuck.Full() != (name == "full") || stuck.Log != dir || stuck.Since.IsZero() || !strings.Contains(stuck.Error(), "cannot be written") {
				t.Errorf("%+v", stuck)
			}
			warn(t, s, "3")
			if got := told(t, dir); !slices.Equal(got, []string{"1", "paused", "2", "3"}) {
				t.Errorf("%q", got)
			}
			if got := told(t, dir); tries.Load() != 3 {
				t.Errorf("%d tries, %q", tries.Load(), got)
			}
		})
	}
}

// Where nobody waits for the disk any more, and where the log is closed, what waits is answered with a StuckError, and
// is not in the log.
func TestGiveUp(t *testing.T) {
	d, err := under()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"asked", "closed"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			waiting := make(chan bool, 1)
			s, err := event.Open(t.Context(), dir, event.Parts{Run: "r-1", Now: time.Now, Stuck: func(*event.StuckError) bool {
				select {
				case waiting <- true:
				default:
				}
				return name == "closed"
			}})
			if err != nil {
				t.Fatal(err)
			}
			warn(t, s, "1")
			d.goes(t, func(op string) int32 {
				if op == "sync" {
					return ioError
				}
				return 0
			})
			done := make(chan error)
			go func() {
				_, err := s.Append(context.Background(), event.Event{Body: event.Warned{Text: "2"}})
				done <- err
			}()
			<-waiting
			if name == "closed" {
				s.Close()
			}
			var stuck *event.StuckError
			if err := <-done; !errors.As(err, &stuck) || stuck.Full() {
				t.Errorf("%v", err)
			}
			if name == "asked" {
				if _, err := s.Append(t.Context(), event.Event{Body: event.Warned{Text: "3"}}); !errors.As(err, &stuck) {
					t.Errorf("later: %v", err)
				}
			}
			d.fault.Store(nil)
			s.Close()
			s = open(t, dir)
			warn(t, s, "4")
			got := told(t, dir)
			got = slices.DeleteFunc(got, func(s string) bool { return s == "2" }) // its flush went wrong: it may be there
			if !slices.Equal(got, []string{"1", "4"}) {
				t.Errorf("%q", got)
			}
		})
	}
}
