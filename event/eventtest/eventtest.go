// Package eventtest is what every log must hold, as one suite.
package eventtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"colony/event"
)

// Run checks a log. Each call of open gives an empty log of the run "r-1".
func Run(t *testing.T, open func(t *testing.T) event.Log) {
	for _, c := range []struct {
		name  string
		check func(*testing.T, event.Log)
	}{
		{"appended is read", appendedIsRead},
		{"every type", everyType},
		{"all or none", allOrNone},
		{"what is noted is read", notedIsRead},
		{"read ends where the log did", readEnds},
		{"read from anywhere", readFrom},
		{"follow goes on", followGoesOn},
		{"appends side by side", sideBySide},
		{"a done context adds nothing", doneContext},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t, open(t)) })
	}
}

// Events is everything that a log holds. An error of the log fails the test.
func Events(t *testing.T, log event.Log) []event.Event {
	t.Helper()
	return from(t, log, 0)
}

func from(t *testing.T, log event.Log, after event.Seq) (all []event.Event) {
	t.Helper()
	for e, err := range log.Read(t.Context(), after) {
		if err != nil {
			t.Fatalf("read after %d: %v", after, err)
		}
		all = append(all, e)
	}
	return all
}

func add(t *testing.T, log event.Log, events ...event.Event) event.Seq {
	t.Helper()
	seq, err := log.Append(t.Context(), events...)
	if err != nil {
		t.Fatalf("append: %v", err)
	}
	return seq
}

func told(text string) event.Event { return event.Event{Ant: "a", Body: event.AntTold{Text: text}} }

func appendedIsRead(t *testing.T, log event.Log) {
	before := time.Now().Add(-time.Second)
	if seq := add(t, log, event.Event{Task: "t", Ant: "a", Body: event.AntTold{Kind: "task", Text: "a <b> & \"c\"\n\u2028"}}); seq != 1 {
		t.Errorf("the first place is %d", seq)
	}
	if seq := add(t, log, event.Event{Run: "r-2", Origin: "elsewhere", Body: event.AntEnded{Reason: "done"}}, told("x")); seq != 3 {
		t.Errorf("the last place of three is %d", seq)
	}
	all := Events(t, log)
	if len(all) != 3 {
		t.Fatalf("%d events of 3", len(all))
	}
	for i, e := range all {
		if e.Seq != event.Seq(i+1) || e.Time.Before(before) || e.Time.Location() != time.UTC {
			t.Errorf("event %d: seq %d, time %v", i, e.Seq, e.Time)
		}
		if i > 0 && e.ID <= all[i-1].ID {
			t.Errorf("id %q does not sort after %q", e.ID, all[i-1].ID)
		}
	}
	all[0].ID, all[0].Time = "", time.Time{}
	want := event.Event{Seq: 1, Run: "r-1", Task: "t", Ant: "a", Body: event.AntTold{Kind: "task", Text: "a <b> & \"c\"\n\u2028"}}
	if !reflect.DeepEqual(all[0], want) {
		t.Errorf("read %+v, appended %+v", all[0], want)
	}
	if all[1].Run != "r-2" || all[1].Origin != "elsewhere" {
		t.Errorf("run %q, origin %q", all[1].Run, all[1].Origin)
	}
}

func everyType(t *testing.T, log event.Log) {
	var bodies []event.Body
	for _, name := range append(event.Types(), "tomorrow.made") {
		var e event.Event
		if err := json.Unmarshal(fmt.Appendf(nil, `{"type":%q,"id":"x","why":"w","n":[1, 2]}`, name), &e); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		bodies = append(bodies, e.Body)
		add(t, log, e)
	}
	for i, e := range Events(t, log) {
		want, _ := json.Marshal(event.Event{Body: bodies[i]})
		got, _ := json.Marshal(event.Event{Body: e.Body})
		if string(got) != string(want) || e.Body.Type() != bodies[i].Type() {
			t.Errorf("%s %s came back as %s %s", bodies[i].Type(), want, e.Body.Type(), got)
		}
	}
}

func allOrNone(t *testing.T, log event.Log) {
	for _, bad := range []event.Body{nil, event.ModelReplied{Content: json.RawMessage("{")}, event.Raw{Name: "x", Fields: json.RawMessage("7")}} {
		if _, err := log.Append(t.Context(), told("before"), event.Event{Body: bad}); err == nil {
			t.Errorf("%#v was appended", bad)
		}
	}
	if all := Events(t, log); len(all) != 0 {
		t.Errorf("%d events of a batch that was refused", len(all))
	}
	if seq := add(t, log, told("after")); seq != 1 {
		t.Errorf("the place after a refused batch is %d", seq)
	}
	if seq := add(t, log); seq != 1 {
		t.Errorf("the place after an empty batch is %d", seq)
	}
}

// What was noted stands in the log in its place once something is appended, and without that soon.
func notedIsRead(t *testing.T, log event.Log) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(log.Note(told("one"), told("two")))
	if seq := add(t, log, told("three")); seq != 3 {
		t.Errorf("the place after two notes is %d", seq)
	}
	for i, want := range []string{"one", "two", "three"} {
		if got := Events(t, log)[i].Body.(event.AntTold).Text; got != want {
			t.Errorf("event %d says %q, want %q", i+1, got, want)
		}
	}
	must(log.Note(told("four")))
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	for e, err := range log.Follow(ctx, 3) {
		must(err)
		if e.Seq != 4 || e.Body.(event.AntTold).Text != "four" {
			t.Errorf("followed %+v", e)
		}
		return
	}
	t.Error("what was noted was never read")
}

func readEnds(t *testing.T, log event.Log) {
	for range log.Read(t.Context(), 0) {
		t.Fatal("an empty log has an event")
	}
	add(t, log, told("1"), told("2"))
	n := 0
	for _, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		add(t, log, told("later"))
	}
	if n != 2 {
		t.Errorf("%d events of the 2 that were there", n)
	}
}

func readFrom(t *testing.T, log event.Log) {
	var batch []event.Event
	for i := range 600 {
		batch = append(batch, told(fmt.Sprint(i)))
	}
	add(t, log, batch...)
	for _, after := range []event.Seq{0, 1, 2, 255, 256, 257, 511, 599, 600, 601, 9000} {
		all := from(t, log, after)
		if want := max(600-int(after), 0); len(all) != want {
			t.Fatalf("%d events after %d of 600", len(all), after)
		}
		if len(all) > 0 && all[0].Seq != after+1 {
			t.Errorf("the first event after %d is %d", after, all[0].Seq)
		}
	}
	for e, err := range log.Read(t.Context(), 3) {
		if e.Seq != 4 || err != nil {
			t.Errorf("event %d, %v", e.Seq, err)
		}
		break
	}
}

func followGoesOn(t *testing.T, log event.Log) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	add(t, log, told("1"), told("2"), told("3"))
	more, ended := make(chan bool), make(chan bool)
	go func() {
		defer close(ended)
		for range more {
			if _, err := log.Append(ctx, told("more")); err != nil {
				t.Errorf("append: %v", err)
			}
		}
	}()
	next, last := event.Seq(2), error(nil)
	for e, err := range log.Follow(ctx, 1) {
		if last = err; err != nil {
			continue
		}
		if e.Seq != next {
			t.Errorf("event %d where %d follows", e.Seq, next)
		}
		switch next++; {
		case e.Seq >= 3 && e.Seq < 20:
			more <- true
		case e.Seq == 20:
			cancel()
		}
	}
	close(more)
	<-ended
	if next != 21 || !errors.Is(last, context.Canceled) {
		t.Errorf("followed up to %d, ended with %v", next-1, last)
	}
	soon, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	for e, err := range log.Follow(soon, 20) {
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("event %d, %v", e.Seq, err)
		}
	}
}

func sideBySide(t *testing.T, log event.Log) {
	const writers, each = 8, 10
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range each {
				name := fmt.Sprintf("%d-%d", w, i)
				seq, err := log.Append(t.Context(), told(name), told(name))
				if err != nil || seq < 2 {
					t.Errorf("append: %d, %v", seq, err)
				}
			}
		})
	}
	group.Wait()
	all, ids := Events(t, log), map[string]bool{}
	if len(all) != 2*writers*each {
		t.Fatalf("%d events", len(all))
	}
	for i := 0; i < len(all); i += 2 {
		if all[i].Body != all[i+1].Body {
			t.Errorf("the pair at %d was torn", i)
		}
		ids[all[i].ID], ids[all[i+1].ID] = true, true
	}
	if len(ids) != len(all) {
		t.Errorf("%d ids of %d events", len(ids), len(all))
	}
}

func doneContext(t *testing.T, log event.Log) {
	add(t, log, told("1"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := log.Append(ctx, told("2")); !errors.Is(err, context.Canceled) {
		t.Errorf("append: %v", err)
	}
	for _, events := range []func(context.Context, event.Seq) func(func(event.Event, error) bool){
		func(c context.Context, s event.Seq) func(func(event.Event, error) bool) { return log.Read(c, s) },
		func(c context.Context, s event.Seq) func(func(event.Event, error) bool) { return log.Follow(c, s) },
	} {
		for _, err := range events(ctx, 0) {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("read: %v", err)
			}
		}
	}
	if n := len(Events(t, log)); n != 1 {
		t.Errorf("%d events", n)
	}
}
