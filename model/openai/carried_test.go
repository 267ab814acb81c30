package openai_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"colony/model"
	"colony/tools"
)

// exchanged completes a turn of which the reply is these items and returns what the next request brings back.
func exchanged(t *testing.T, between func(*model.Message), items ...string) string {
	t.Helper()
	var input string
	p := responding("http://127.0.0.1:1/v1")
	p.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		_, after, _ := strings.Cut(string(body), `{"type":"message","role":"user","content":"u"}`)
		input, _, _ = strings.Cut(after, `],"model":`)
		var events strings.Builder
		for i, raw := range items {
			fmt.Fprintf(&events, "data: %s\n\n", itemDone(i, raw))
		}
		fmt.Fprintf(&events, "data: %s\n\n", end)
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(events.String())), Request: r}, err
	})
	c := client(t, p)
	req := hello()
	got, err := c.Complete(t.Context(), req, nil)
	if err != nil {
		t.Fatal(err)
	}
	logged, err := json.Marshal(got.Message)
	if err != nil {
		t.Fatal(err)
	}
	var m model.Message
	if err := json.Unmarshal(logged, &m); err != nil {
		t.Fatal(err)
	}
	between(&m)
	req.Messages = append(req.Messages, m)
	if _, err := c.Complete(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(input, ",")
}

// What a model thought goes back to it byte for byte and in its place, also through the log; to no other model.
func TestThoughtsAreCarriedBack(t *testing.T) {
	sent := func(id, args string) string {
		return fmt.Sprintf(`{"type":"function_call","call_id":%q,"name":"read","arguments":%q}`, id, args)
	}
	said := `{"type":"message","role":"assistant","content":"Fine."}`
	bare := `{"type":"reasoning","id":"rs_0","summary":[],"encrypted_content":null}`
	open := `{"type":"reasoning","id":"rs_0","summary":[],"content":[{"type":"reasoning_text","text":"Hm."}]}`
	a, b := functionCall("a", "read", `{"x":"<"}`), functionCall("b", "read", `{}`)
	as := func(*model.Message) {}
	cases := []struct {
		name    string
		between func(*model.Message)
		items   []string
		want    []string
	}{
		{"thoughts between calls", as, []string{thought, a, second, commentary, b}, []string{thought, sent("a", `{"x":"<"}`), second, commentary, sent("b", `{}`)}},
		{"nothing but text", as, []string{plainAnswer, a}, []string{said, sent("a", `{"x":"<"}`)}},
		{"a thought at the end", as, []string{thought, a, second}, []string{thought, sent("a", `{"x":"<"}`)}},
		{"nothing but a thought", as, []string{thought}, nil},
		{"a thought that only the server could read", as, []string{bare, a}, []string{sent("a", `{"x":"<"}`)}},
		{"a thought in the open", as, []string{open, a}, []string{open, sent("a", `{"x":"<"}`)}},
		{"another model", func(m *model.Message) { m.Opaque = swap(m.Opaque, `"any"`, `"other"`) }, []string{thought, plainAnswer, a}, []string{said, sent("a", `{"x":"<"}`)}},
		{"another wire", func(m *model.Message) { m.Opaque = swap(m.Opaque, `"responses"`, `"messages"`) }, []string{thought, plainAnswer, a}, []string{said, sent("a", `{"x":"<"}`)}},
		{"a call is missing", func(m *model.Message) { m.Calls = m.Calls[:1] }, []string{thought, a, b}, []string{sent("a", `{"x":"<"}`)}},
		{"a call too many", func(m *model.Message) { m.Calls = append(m.Calls, m.Calls[0]) }, []string{thought, b}, []string{sent("b", `{}`), sent("b", `{}`)}},
		{"no JSON", func(m *model.Message) { m.Opaque = swap(m.Opaque, `{\"encrypted`, `{encrypted`) }, []string{second, a}, []string{sent("a", `{"x":"<"}`)}},
		{"not ours", func(m *model.Message) { m.Opaque = json.RawMessage(`[1,"x"]`) }, []string{second, a}, []string{sent("a", `{"x":"<"}`)}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got, want := exchanged(t, c.between, c.items...), strings.Join(c.want, ","); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func swap(data json.RawMessage, from, to string) json.RawMessage {
	return json.RawMessage(strings.Replace(string(data), from, to, 1))
}

// Whatever items a reply has, those that are carried come back with their bytes and in their order.
func TestCarriedItemsKeepTheirBytes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(rt, "items")
		var items, want []string
		for i := range n {
			odd, err := json.Marshal(rapid.String().Draw(rt, "content"))
			if err != nil {
				rt.Fatal(err)
			}
			gap := strings.Repeat(" ", rapid.IntRange(0, 2).Draw(rt, "gap"))
			raw := fmt.Sprintf(`{"type":"reasoning",%s"encrypted_content":"x","odd":%s}`, gap, odd)
			if rapid.Bool().Draw(rt, "call") || i == n-1 {
				raw = functionCall(fmt.Sprint(i), "read", `{}`)
				want = append(want, fmt.Sprintf(`{"type":"function_call","call_id":"%d","name":"read","arguments":"{}"}`, i))
			} else {
				want = append(want, raw)
			}
			items = append(items, raw)
		}
		if got := exchanged(t, func(*model.Message) {}, items...); got != strings.Join(want, ",") {
			rt.Fatalf("got  %s\nwant %s", got, strings.Join(want, ","))
		}
	})
}

// Whatever stands in a log as Opaque, the request is JSON and no call gets lost.
func FuzzOpaque(f *testing.F) {
	f.Add([]byte(`{"wire":"responses","model":"any","items":[{"raw":"{}"},{"call":0}]}`))
	f.Add([]byte(`{"wire":"responses","model":"any","items":[{"raw":"{}],\"x\":[{}"},{"call":0},{"call":0}]}`))
	f.Add([]byte(`{"wire":"responses","model":"any","items":[{"call":-1}]}`))
	f.Fuzz(func(t *testing.T, opaque []byte) {
		p := responding("http://127.0.0.1:1/v1")
		p.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			var sent struct {
				Input []struct {
					CallID string `json:"call_id"`
				}
			}
			if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
				t.Errorf("%q: %v", opaque, err)
			}
			found := 0
			for _, i := range sent.Input {
				if i.CallID == "the-call" {
					found++
				}
			}
			if found == 0 {
				t.Errorf("%q: the call is lost", opaque)
			}
			return nil, io.EOF
		})
		req := hello()
		req.Messages = append(req.Messages, model.Message{Role: model.Assistant, Opaque: opaque, Calls: []tools.Call{{ID: "the-call", Name: "read", Args: json.RawMessage(`{}`)}}})
		_, _ = client(t, p).Complete(t.Context(), req, nil)
	})
}
