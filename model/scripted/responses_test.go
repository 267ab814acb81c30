package scripted_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"colony/model/scripted"
)

const thinker = `
name: thinker
cards:
  worker:
    one:
      - text: "First, a text long enough to come in several pieces."
        calls: [{tool: read, args: {path: a}}, {tool: read, args: {path: b}}]
        tokens: {input: 100, cached: 20, cache_write: 30, output: 40, reasoning: 5}
      - text: Second.
        tokens: {input: 10, output: 20, reasoning: 5}
      - {text: Third., tokens: {input: 10, output: 20}}
    flaky: [{text: Fine., tokens: {input: 7, output: 3}, faults: [{status: 429}, {status: 500}]}]
`

// answer is what came back over Responses: the items as they were sent, and the last event's response.
type answer struct {
	status int
	body   string
	items  []json.RawMessage
	whole  struct {
		Status     string
		Usage      json.RawMessage
		Incomplete struct{ Reason string } `json:"incomplete_details"`
	}
}

func respond(t *testing.T, s *scripted.Server, more msg, input ...any) answer {
	t.Helper()
	request := msg{"model": "thinker", "input": input, "stream": true, "store": false, "include": []string{"reasoning.encrypted_content"}}
	for k, v := range more {
		request[k] = v
	}
	var body strings.Builder
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	if err := e.Encode(request); err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(s.URL+"/responses", "application/json", strings.NewReader(body.String()))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	out := answer{status: resp.StatusCode}
	if resp.StatusCode != 200 {
		data, _ := io.ReadAll(resp.Body)
		out.body = string(data)
		return out
	}
	out.read(t, resp.Body)
	return out
}

func (a *answer) read(t *testing.T, body io.Reader) {
	t.Helper()
	lines := bufio.NewScanner(body)
	for n := 0; lines.Scan(); {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type     string
			Number   int `json:"sequence_number"`
			Item     json.RawMessage
			Response json.RawMessage
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil || e.Number != n {
			t.Fatalf("event %d: %s, %v", n, data, err)
		}
		n++
		if e.Type == "response.output_item.done" {
			a.items = append(a.items, e.Item)
		}
		if e.Response != nil {
			if err := json.Unmarshal(e.Response, &a.whole); err != nil {
				t.Fatal(err)
			}
			if last := a.whole.Status != "in_progress"; last == (string(a.whole.Usage) == "null") {
				t.Errorf("%s counts %s", a.whole.Status, a.whole.Usage)
			}
		}
	}
}

func question() []any {
	return []any{
		msg{"role": "system", "content": "Card: worker"},
		msg{"type": "message", "role": "user", "content": []msg{{"type": "input_text", "text": "Task one: x"}}},
	}
}

// again are the items as encoding/json writes them, which changes those that are spelt oddly: the thoughts.
func again(items []json.RawMessage, thoughts bool) []any {
	var all []any
	for _, i := range items {
		if thoughts || !strings.Contains(string(i), `"reasoning"`) {
			all = append(all, i)
		}
	}
	return all
}

func output(id string) msg { return msg{"type": "function_call_output", "call_id": id, "output": "r"} }

// The same scenario over both wires: the same turns, the same counts.
func TestBothWiresSayTheSame(t *testing.T) {
	one, two := start(t, thinker), start(t, thinker)
	talk := opening("worker", "one")
	for i := range 3 {
		got := ask(t, one, "thinker", talk...)
		results := []string{"r", "r"}[:len(got.wire)]
		talk = answered(talk, got, results...)
		if i < 2 && got.status != 200 {
			t.Fatalf("%+v", got)
		}
	}
	input := question()
	for _, want := range []int{4, 2, 1} { // the first two think
		got := respond(t, two, nil, input...)
		if got.status != 200 || len(got.items) != want || got.whole.Status != "completed" {
			t.Fatalf("got %+v", got)
		}
		input = append(input, again(got.items, false)...)
		if want == 4 {
			input = append(input, output("call_0_0"), output("call_0_1"))
		}
	}
	if a, b := one.Counts(), two.Counts(); !reflect.DeepEqual(a, b) || a.Rows[0].CacheWrite != 30 || a.Rows[0].Reasoning != 10 {
		t.Errorf("%+v\n%+v", a, b)
	}
}

// What a strict provider of Responses refuses.
func TestStrictResponses(t *testing.T) {
	s := start(t, thinker)
	first := respond(t, s, nil, question()...)
	if first.status != 200 || len(first.items) != 4 {
		t.Fatalf("%+v", first)
	}
	call := func(id string) msg {
		return msg{"type": "function_call", "call_id": id, "name": "read", "arguments": "{}"}
	}
	cases := map[string]struct {
		more  msg
		input []any
	}{
		"kept":                   {msg{"store": true}, nil},
		"kept by default":        {msg{"store": nil}, nil},
		"continued":              {msg{"previous_response_id": "resp_1"}, nil},
		"a tool of another type": {msg{"tools": []msg{{"type": "web_search"}}}, nil},
		"an odd tool":            {msg{"tools": []msg{{"type": "function", "name": "a.b"}}}, nil},
		"an odd item":            {nil, []any{msg{"type": "item_reference", "id": "x"}}},
		"no answer":              {nil, []any{call("a")}},
		"no call":                {nil, []any{output("a")}},
		"a changed thought":      {nil, append(again(first.items, true), output("call_0_0"), output("call_0_1"))},
		"an odd thought":         {nil, []any{msg{"type": "reasoning", "id": "mine"}}},
		"no input":               {msg{"input": 7}, nil},
	}
	for name, c := range cases {
		got := respond(t, s, c.more, append(question(), c.input...)...)
		if got.status != 400 || (name == "a changed thought") != strings.Contains(got.body, `\"rs_0\" could not be verified`) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := respond(t, s, msg{"input": "hi", "instructions": "Card: worker"}); got.status != 400 || !strings.Contains(got.body, `task \"\"`) {
		t.Errorf("a text as input: %+v", got)
	}
}

func TestResponsesFaults(t *testing.T) {
	s := start(t, thinker)
	for _, want := range []int{429, 500, 200} {
		got := respond(t, s, nil, msg{"role": "system", "content": "Card: worker"}, msg{"role": "user", "content": "Task flaky: x"})
		if got.status != want {
			t.Fatalf("got %d, want %d", got.status, want)
		}
	}
	limited := respond(t, s, msg{"max_output_tokens": 2}, question()...)
	if limited.whole.Status != "incomplete" || limited.whole.Incomplete.Reason != "max_output_tokens" {
		t.Errorf("got %+v", limited.whole)
	}
}
