//go:build failpoints

package event_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"colony/event"
)

// points are those that an owner passes.
var points = []string{
	"event.own.before", "event.own.after", "event.append.before", "event.flush.before", "event.flush.after",
	"event.head.before", "event.head.after", "event.answer.before",
}

// acknowledged is what an owner that is another process acknowledges of six texts, while a point does what is asked.
func acknowledged(t *testing.T, dir, asked string) (acked []string) {
	t.Helper()
	o := exec.Command(os.Args[0])
	o.Env = append(os.Environ(), "EVENT_TEST_OWNER="+dir, "COLONY_FAILPOINT="+asked)
	in, err := o.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := o.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		o.Process.Kill()
		o.Wait()
	}()
	said := bufio.NewScanner(out)
	if !said.Scan() || said.Text() != "open" {
		return nil
	}
	for i := range 6 {
		if _, err := fmt.Fprintln(in, i); err != nil || !said.Scan() || said.Text() != "appended" {
			return acked
		}
		acked = append(acked, fmt.Sprint(i))
	}
	return acked
}

// R1: killed before or after each write, an owner has lost nothing that it acknowledged, has at most the one event more
// that it was about to acknowledge, and another goes on.
func TestKilledAtEachPoint(t *testing.T) {
	for _, point := range points {
		for n := 1; n <= 6; n++ {
			asked := fmt.Sprintf("%s:%d", point, n)
			dir := t.TempDir()
			acked := acknowledged(t, dir, asked)
			s := open(t, dir)
			got := readAll(t, s.Read(t.Context(), 0))
			if len(got) > len(acked)+1 || len(got) < len(acked) || !slices.Equal(got[:len(acked)], acked) {
				t.Errorf("%s: %q, acknowledged were %q", asked, got, acked)
			}
			warn(t, s, "after")
			if own := strings.HasPrefix(point, "event.own"); own && n == 1 && len(acked) > 0 || !own && len(acked) != n-1 {
				t.Errorf("%s: %d acknowledged", asked, len(acked))
			}
		}
	}
}

// R3: where an operation fails once, all is acknowledged and there once; an owner that could not begin left nothing.
func TestFailedAtEachPoint(t *testing.T) {
	for _, point := range points {
		for n := 1; n <= 6; n++ {
			for _, what := range []string{"eio", "enospc"} {
				asked := fmt.Sprintf("%s:%d:%s", point, n, what)
				dir := t.TempDir()
				acked := acknowledged(t, dir, asked)
				if own := strings.HasPrefix(point, "event.own"); len(acked) != 6 && !(own && n == 1) {
					t.Errorf("%s: %d acknowledged", asked, len(acked))
				}
				s := open(t, dir)
				var got []string
				for e, err := range s.Read(t.Context(), 0) {
					if err != nil {
						t.Fatal(err)
					}
					if b, ok := e.Body.(event.Warned); ok {
						got = append(got, b.Text)
					}
				}
				if !slices.Equal(got, acked) {
					t.Errorf("%s: %q, acknowledged were %q", asked, got, acked)
				}
			}
		}
	}
}

// A wish whose leaving failed is there whole or not at all; one whose taking failed is still there or was taken.
func TestDeskAtEachPoint(t *testing.T) {
	for _, point := range []string{"event.leave.before", "event.rename.before", "event.rename.after", "event.take.before", "event.take.after"} {
		dir := t.TempDir()
		t.Setenv("COLONY_FAILPOINT", point+":1:eio")
		left := event.Leave(dir, event.Wish{Kind: "steer", Text: "a"})
		_, took := takeAll(dir)
		if !errors.Is(errors.Join(left, took), syscall.EIO) {
			t.Errorf("%s: %v, %v", point, left, took)
		}
		t.Setenv("COLONY_FAILPOINT", "")
		if err := event.Leave(dir, event.Wish{Kind: "stop"}); err != nil {
			t.Fatal(err)
		}
		wishes, err := takeAll(dir)
		if err != nil || len(wishes) == 0 || wishes[len(wishes)-1].Kind != "stop" {
			t.Errorf("%s: %+v, %v", point, wishes, err)
		}
		if point == "event.take.before" && len(wishes) != 2 {
			t.Errorf("%s: the wish is gone: %+v", point, wishes)
		}
	}
}

// Mending that was cut short is done by the next one, and the first copy is kept.
func TestMendAtEachPoint(t *testing.T) {
	for _, point := range []string{"event.mend.before", "event.mend.after", "event.head.before"} {
		dir := filepath.Join(t.TempDir(), "log")
		closed(t).put(t, dir)
		change(t, dir, "DELETE FROM events WHERE seq = 4")
		at := time.Now()
		tick := func() time.Time { at = at.Add(time.Second); return at }
		parts := event.Parts{Run: "r-1", Now: tick, Stuck: func(*event.StuckError) bool { return true }}
		t.Setenv("COLONY_FAILPOINT", point+":1:eio")
		if _, err := event.Mend(context.Background(), dir, parts); !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %v", point, err)
		}
		t.Setenv("COLONY_FAILPOINT", "")
		if _, err := looked(t, dir); err == nil {
			t.Errorf("%s: it reads as whole", point)
		}
		// the head, which comes last, still tells of the event that is gone
		if m, err := event.Mend(context.Background(), dir, parts); err != nil || m.Lost != 1 {
			t.Errorf("%s: again: %+v, %v", point, m, err)
		}
	}
}
