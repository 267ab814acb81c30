package event_test

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"colony/event"
	"colony/event/eventtest"
)

func TestMemory(t *testing.T) {
	eventtest.Run(t, func(*testing.T) event.Log { return event.NewMemory("r-1", time.Now) })
}

// What a script relies on is every type with its fields. A field that changes changes the golden file: run
// with COLONY_GOLDEN=write, and only ever add.
func TestSchema(t *testing.T) {
	const path = "testdata/schema.golden"
	var out strings.Builder
	for _, name := range event.Types() {
		e := decode(t, fmt.Sprintf(`{"type":%q}`, name))
		if e.Body.Type() != name {
			t.Errorf("%s is read as %s", name, e.Body.Type())
		}
		fmt.Fprintln(&out, name)
		fields(t, &out, "  ", reflect.TypeOf(e.Body))
	}
	if os.Getenv("COLONY_GOLDEN") == "write" {
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("the schema is not %s any more:\n%s", path, out.String())
	}
}

// fields lists the JSON fields of a type, and that none is one that every event has.
func fields(t *testing.T, out *strings.Builder, indent string, typ reflect.Type) {
	for i := range typ.NumField() {
		f := typ.Field(i)
		tag := f.Tag.Get("json")
		if tag == "" {
			t.Errorf("%s.%s has no JSON name", typ, f.Name)
		}
		switch name, _, _ := strings.Cut(tag, ","); name {
		case "id", "seq", "time", "run", "task", "ant", "origin", "type":
			if indent == "  " {
				t.Errorf("%s.%s has a name that every event has", typ, f.Name)
			}
		}
		fmt.Fprintf(out, "%s%s %s\n", indent, tag, strings.ReplaceAll(f.Type.String(), "event.", ""))
		if inner := element(f.Type); inner.Kind() == reflect.Struct && inner.PkgPath() == typ.PkgPath() {
			fields(t, out, indent+"  ", inner)
		}
	}
}

func element(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t
}

func decode(t *testing.T, text string) (e event.Event) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return e
}

func TestWire(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 5, time.FixedZone("", 3600))
	for _, c := range []struct {
		name string
		e    event.Event
		want string
	}{
		{"all", event.Event{ID: "i", Origin: "o", Seq: 7, Time: at, Run: "r", Task: "t", Ant: "a", Body: event.AntEnded{Reason: "done"}},
			`{"id":"i","seq":7,"time":"2026-11-30T11:00:00.000000005Z","run":"r","task":"t","ant":"a","origin":"o","type":"ant.ended","reason":"done"}`},
		{"no task, no ant, no origin", event.Event{ID: "i", Seq: 1, Time: at, Run: "r", Body: event.TaskReady{Needs: []string{"x"}}},
			`{"id":"i","seq":1,"time":"2026-11-30T11:00:00.000000005Z","run":"r","type":"task.ready","needs":["x"]}`},
		{"unknown", event.Event{ID: "i", Seq: 1, Time: at, Run: "r", Body: event.Raw{Name: "new.one", Fields: json.RawMessage(`{"z":1,"a":{"run":2}}`)}},
			`{"id":"i","seq":1,"time":"2026-11-30T11:00:00.000000005Z","run":"r","type":"new.one","z":1,"a":{"run":2}}`},
		{"unknown and empty", event.Event{ID: "i", Seq: 1, Time: at, Run: "r", Body: event.Raw{Name: "new.one", Fields: json.RawMessage(`{}`)}},
			`{"id":"i","seq":1,"time":"2026-11-30T11:00:00.000000005Z","run":"r","type":"new.one"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := json.Marshal(c.e)
			if err != nil || string(got) != c.want {
				t.Errorf("wrote %s, %v", got, err)
			}
			again, err := json.Marshal(decode(t, c.want))
			if err != nil || string(again) != c.want {
				t.Errorf("read and wrote %s, %v", again, err)
			}
		})
	}
}

func TestWireRefuses(t *testing.T) {
	for _, text := range []string{`{}`, `[]`, `{"type":7}`, `{"type":"ant.ended","reason":7}`, `{"type":"x","seq":-1}`, `{"type":"model.replied","usd":0.0000000000001}`} {
		var e event.Event
		if err := json.Unmarshal([]byte(text), &e); err == nil {
			t.Errorf("%s was read as %+v", text, e)
		}
	}
	for _, e := range []event.Event{{}, {Body: event.Raw{Name: "x"}}, {Body: event.Raw{Name: "x", Fields: json.RawMessage("[]")}}} {
		if data, err := json.Marshal(e); err == nil {
			t.Errorf("%+v was written as %s", e, data)
		}
	}
}

// Fields that this version does not know are passed over.
func TestWireIgnoresUnknownFields(t *testing.T) {
	e := decode(t, `{"type":"ant.ended","reason":"done","mood":"glad"}`)
	if e.Body != (event.AntEnded{Reason: "done"}) {
		t.Errorf("%+v", e.Body)
	}
}

func TestMoneyIsExact(t *testing.T) {
	for text, want := range map[string]event.PicoUSD{
		"0": 0, "1": event.Dollar, "0.0123": 12_300_000_000, "0.000000000001": 1, "-2.5": -5 * event.Dollar / 2, "1e-3": event.Dollar / 1000,
	} {
		var p event.PicoUSD
		if err := json.Unmarshal([]byte(text), &p); err != nil || p != want {
			t.Errorf("%s is %d, %v", text, p, err)
		}
	}
	for _, text := range []string{`"1"`, "0.0000000000001", "9223373", "1e30", "1e999999999", "0.00000000000000000000000000000000000000000"} {
		var p event.PicoUSD
		if err := json.Unmarshal([]byte(text), &p); err == nil {
			t.Errorf("%s is %d", text, p)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		want := event.PicoUSD(rapid.Int64().Draw(t, "pico"))
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got event.PicoUSD
		if err := json.Unmarshal(data, &got); err != nil || got != want {
			t.Fatalf("%d came back as %d from %s, %v", want, got, data, err)
		}
	})
}

// Ids sort in the order of the log whatever the clock does.
func TestIDsSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clock := time.UnixMilli(1_800_000_000_000)
		log := event.NewMemory("r", func() time.Time { return clock })
		last := ""
		for range rapid.IntRange(1, 50).Draw(t, "events") {
			clock = clock.Add(time.Duration(rapid.IntRange(-3, 3).Draw(t, "ms")) * time.Millisecond)
			if _, err := log.Append(t.Context(), event.Event{Body: event.AntEnded{}}); err != nil {
				t.Fatal(err)
			}
		}
		for e, err := range log.Read(t.Context(), 0) {
			if err != nil || e.ID <= last {
				t.Fatalf("%q after %q, %v", e.ID, last, err)
			}
			last = e.ID
		}
	})
}

func FuzzWire(f *testing.F) {
	f.Add(`{"type":"model.replied","usd":0.1,"content":{"a":1}}`)
	f.Add(`{"type":"new","id":"x","b":[1],"":null}`)
	f.Fuzz(func(t *testing.T, text string) {
		var e event.Event
		if json.Unmarshal([]byte(text), &e) != nil {
			return
		}
		first, err := json.Marshal(e)
		if err != nil {
			t.Fatalf("%q was read and not written: %v", text, err)
		}
		second, err := json.Marshal(decode(t, string(first)))
		if err != nil || string(first) != string(second) {
			t.Fatalf("%s became %s, %v", first, second, err)
		}
	})
}

func TestUsageAdds(t *testing.T) {
	got := event.Usage{Requests: 1, Input: 2, Cached: 3, CacheWrite: 4, Output: 5, Reasoning: 6}.Add(event.Usage{Requests: 10, Input: 20, Cached: 30, CacheWrite: 40, Output: 50, Reasoning: 60})
	if want := (event.Usage{Requests: 11, Input: 22, Cached: 33, CacheWrite: 44, Output: 55, Reasoning: 66}); got != want {
		t.Errorf("%+v", got)
	}
}
