package event_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"colony/event"
)

// What Select yields is what Read does of these types, without what was said, from any place and whatever the texts hold.
func TestSelectIsReadWithoutTheRest(outer *testing.T) {
	dir := outer.TempDir()
	n := 0
	rapid.Check(outer, func(t *rapid.T) {
		n++
		at := fmt.Sprintf("%s/%d", dir, n)
		store, err := event.Open(outer.Context(), at, event.Parts{Run: "r", Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		word := rapid.OneOf(rapid.StringMatching(`[a-z0-9.]{0,8}`), rapid.String())
		count := rapid.Int64Range(0, 1<<40)
		usd := func(name string) *event.PicoUSD {
			if rapid.Bool().Draw(t, name) {
				return nil
			}
			p := event.PicoUSD(rapid.Int64().Draw(t, name))
			return &p
		}
		var batch []event.Event
		for range rapid.IntRange(1, 12).Draw(t, "events") {
			e := event.Event{Task: word.Draw(t, "task"), Ant: word.Draw(t, "ant")}
			switch rapid.IntRange(0, 3).Draw(t, "type") {
			case 0:
				e.Body = event.ModelRequested{Request: word.Draw(t, "request"), Attempt: 1, Provider: word.Draw(t, "provider"), Model: "m", ReservedUSD: usd("reserved"), ReservedTokens: count.Draw(t, "tokens"), OutputLimit: 3}
			case 1:
				e.Body = event.ModelReplied{Request: word.Draw(t, "request"), Content: json.RawMessage(`{"a":["}\"",{"b":1}],"c":"\\"}`), USD: usd("usd"), Price: event.Known, Rate: word.Draw(t, "rate"),
					Service: word.Draw(t, "service"), CacheMiss: word.Draw(t, "miss"), CacheMissed: count.Draw(t, "missed"), Estimated: rapid.Bool().Draw(t, "estimated"), Usage: event.Usage{Input: count.Draw(t, "input"), CacheWriteLong: count.Draw(t, "long")}}
			case 2:
				e.Body = event.ToolDone{Tool: word.Draw(t, "tool")}
			default:
				e.Body = event.Warned{Code: "x"}
			}
			batch = append(batch, e)
		}
		last, err := store.Append(outer.Context(), batch...)
		if err == nil {
			err = store.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		r, err := event.OpenReader(at)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		types := []string{"model.requested", "model.replied", "tool.done"}
		after := event.Seq(rapid.IntRange(0, int(last)).Draw(t, "after"))
		var want, got []string
		for e, err := range r.Read(outer.Context(), after) {
			if err != nil {
				t.Fatal(err)
			}
			if m, ok := e.Body.(event.ModelReplied); ok {
				m.Content = nil
				e.Body = m
			}
			if slices.Contains(types, e.Body.Type()) {
				want = append(want, line(t, e))
			}
		}
		for e, err := range r.Select(outer.Context(), after, types...) {
			if err != nil {
				t.Fatal(err)
			}
			if m, ok := e.Body.(event.ModelReplied); ok {
				m.Content = nil // where the quick way was not gone
				e.Body = m
			}
			got = append(got, line(t, e))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %q\nwant %q", got, want)
		}
	})
}

func line(t *rapid.T, e event.Event) string {
	data, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A log of several chunks comes in order, and damage in any of them is named with its place, after what is before it.
func TestSelectOfManyChunks(t *testing.T) {
	const events = 20_000
	dir := t.TempDir()
	store, err := event.Open(t.Context(), dir, event.Parts{Run: "r", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	batch := make([]event.Event, events)
	for i := range batch {
		batch[i].Body = event.ToolDone{Call: fmt.Sprint(i + 1)}
	}
	if _, err := store.Append(t.Context(), batch...); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	count := func() (n int, err error) {
		r, err := event.OpenReader(dir)
		if err != nil {
			return 0, err
		}
		defer r.Close()
		for e, err := range r.Select(t.Context(), 0, "tool.done") {
			if err != nil {
				return n, err
			}
			if n++; e.Seq != event.Seq(n) {
				t.Fatalf("event %d came as number %d", e.Seq, n)
			}
		}
		return n, nil
	}
	if n, err := count(); n != events || err != nil {
		t.Fatalf("%d events, %v", n, err)
	}
	change(t, dir, "UPDATE events SET fields = CAST(replace(fields, '\"bytes\":0', '\"bytes\":7') AS BLOB) WHERE seq = 13000")
	n, err := count()
	var corrupt *event.CorruptError
	if !errors.As(err, &corrupt) || corrupt.Seq != 13000 || n != 12999 {
		t.Errorf("%d events, then %v", n, err)
	}
}
