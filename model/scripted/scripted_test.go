package scripted_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"colony/model/scripted"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const story = `
name: story
cards:
  worker:
    one:
      - text: First.
        calls:
          - {tool: write, args: {path: a.go, content: "package a\n\nfunc A() {}\n"}}
          - {tool: edit, args: {path: b.go, old: x, new: "y := 1"}}
          - {tool: sh, args: {command: make}}
          - {tool: read, args: {path: c.go}}
      - text: Second.
      - text: Third.
    flaky:
      - text: Fine.
        tokens: {input: 100, cached: 40, output: 7, reasoning: 2}
        faults: [{status: 429, retry_after: "1", times: 2}, {status: 500}]
    gone:
      - faults: [{status: 401, times: -1}]
  "*":
    "*": [{text: For all.}]
`

type msg = map[string]any

func start(t *testing.T, texts ...string) *scripted.Server {
	t.Helper()
	p := scripted.Parts{Record: true}
	for _, text := range texts {
		s, err := scripted.Parse("test.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		p.Scenarios = append(p.Scenarios, s)
	}
	server, err := scripted.Serve(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// said is what came back: text and calls joined in one line each.
type said struct {
	status int
	text   string
	calls  []string
	finish string
	usage  json.RawMessage
	wire   []msg // the calls as an assistant message holds them
}

func ask(t *testing.T, s *scripted.Server, model string, messages ...msg) said {
	t.Helper()
	body, err := json.Marshal(msg{"model": model, "messages": messages, "stream": true, "stream_options": msg{"include_usage": true}})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(s.URL+"/chat/completions", "application/json", strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	out := said{status: resp.StatusCode}
	if resp.StatusCode != 200 {
		data, _ := io.ReadAll(resp.Body)
		out.text = string(data)
		return out
	}
	out.read(t, resp.Body)
	return out
}

func (s *said) read(t *testing.T, body io.Reader) {
	t.Helper()
	type call struct{ id, name, args string }
	var calls []call
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var chunk struct {
			Choices []struct {
				Delta struct {
					Content string
					Calls   []struct {
						Index    int
						ID       string
						Function struct{ Name, Arguments string }
					} `json:"tool_calls"`
				}
				Finish string `json:"finish_reason"`
			}
			Usage json.RawMessage
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			t.Fatal(err)
		}
		if len(chunk.Choices) == 0 {
			s.usage = chunk.Usage
			continue
		}
		s.text += chunk.Choices[0].Delta.Content
		s.finish += chunk.Choices[0].Finish
		for _, c := range chunk.Choices[0].Delta.Calls {
			if c.Index == len(calls) {
				calls = append(calls, call{id: c.ID, name: c.Function.Name})
			}
			calls[c.Index].args += c.Function.Arguments
		}
	}
	for _, c := range calls {
		s.calls = append(s.calls, c.name+" "+c.args)
		s.wire = append(s.wire, msg{"id": c.id, "type": "function", "function": msg{"name": c.name, "arguments": c.args}})
	}
}

func opening(card, task string) []msg {
	return []msg{
		{"role": "system", "content": "Card: " + card + "\nmore"},
		{"role": "user", "content": "Task " + task + ": title\nmore"},
	}
}

// answered appends what the model said and the results of its calls.
func answered(messages []msg, s said, results ...string) []msg {
	messages = append(messages, msg{"role": "assistant", "content": s.text, "tool_calls": s.wire})
	for i, r := range results {
		messages = append(messages, msg{"role": "tool", "tool_call_id": s.wire[i]["id"], "content": r})
	}
	return messages
}

func TestSelection(t *testing.T) {
	s := start(t, story, strings.ReplaceAll(story, "name: story", "name: other"))
	cases := []struct{ model, card, task, want string }{
		{"story", "worker", "one", "First."},
		{"scripted/other", "worker", "one", "First."},
		{"story", "worker", "two", "For all."},
		{"story", "queen", "one", "For all."},
		{"story", "", "", "For all."},
	}
	for _, c := range cases {
		if got := ask(t, s, c.model, opening(c.card, c.task)...); got.text != c.want {
			t.Errorf("%+v: got %+v", c, got)
		}
	}
	if got := ask(t, s, "nobody", opening("worker", "one")...); got.status != 404 || !strings.Contains(got.text, "model_not_found") {
		t.Errorf("unknown scenario: %+v", got)
	}
}

// The conversation alone says where a script stands: told texts between the turns change nothing.
func TestTurnsFollowTheConversation(t *testing.T) {
	s := start(t, story)
	conversation := opening("worker", "one")
	first := ask(t, s, "story", conversation...)
	if again := ask(t, s, "story", conversation...); !reflect.DeepEqual(first, again) {
		t.Errorf("%+v, then %+v", first, again)
	}
	conversation = answered(conversation, first, "ok", "ok", "ok", "error: it was interrupted")
	conversation = append(conversation, msg{"role": "user", "content": "Go on."})
	for _, want := range []string{"Second.", "Third.", "I have nothing more to say."} {
		got := ask(t, s, "story", conversation...)
		if got.text != want {
			t.Errorf("got %q, want %q", got.text, want)
		}
		conversation = answered(conversation, got)
	}
}

// After interrupted results the model looks at what is there, then repeats what is missing.
func TestInterruptedIsRepeated(t *testing.T) {
	const unknown = "interrupted: whether it happened is unknown"
	cases := []struct {
		name     string
		results  [4]string
		look     []string
		seen     []string
		repeated []string
	}{
		{name: "all is well", results: [4]string{"ok", "ok", "ok", "ok"}},
		{name: "happened", results: [4]string{"interrupted: it happened", "ok", "ok", "ok"}},
		{name: "did not happen", results: [4]string{"interrupted: it did not happen", "ok", "ok", "ok"},
			repeated: []string{`write {"content":"package a\n\nfunc A() {}\n","path":"a.go"}`}},
		{name: "read only", results: [4]string{"ok", "ok", "ok", "interrupted"}, repeated: []string{`read {"path":"c.go"}`}},
		{name: "looked at and there", results: [4]string{"interrupted", "ok", "ok", "ok"}, look: []string{`read {"path":"a.go"}`},
			seen: []string{"1\tpackage a\n2\t\n3\tfunc A() {}"}},
		{name: "looked at and missing", results: [4]string{"interrupted", "ok", "ok", "ok"}, look: []string{`read {"path":"a.go"}`},
			seen: []string{"there is no file a.go"}, repeated: []string{`write {"content":"package a\n\nfunc A() {}\n","path":"a.go"}`}},
		{name: "several", results: [4]string{"ok", "error: interrupted", "interrupted", "interrupted"},
			look: []string{`read {"path":"b.go"}`, `sh {"command":"git status --short"}`}, seen: []string{"1\ty := 1", " M b.go"},
			repeated: []string{`sh {"command":"make"}`, `read {"path":"c.go"}`}},
		{name: "unknown", results: [4]string{"ok", "ok", unknown, "ok"}, look: []string{`sh {"command":"git status --short"}`},
			seen: []string{""}, repeated: []string{`sh {"command":"make"}`}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, story)
			talk := opening("worker", "one")
			talk = answered(talk, ask(t, s, "story", talk...), c.results[:]...)
			for _, step := range []struct{ want, results []string }{{c.look, c.seen}, {c.repeated, []string{"ok", "ok", "ok"}}} {
				if len(step.want) == 0 {
					continue
				}
				got := ask(t, s, "story", talk...)
				if !reflect.DeepEqual(got.calls, step.want) {
					t.Fatalf("got %q, want %q", got.calls, step.want)
				}
				talk = answered(talk, got, step.results[:len(step.want)]...)
			}
			if got := ask(t, s, "story", talk...); got.text != "Second." {
				t.Errorf("then %q %q", got.text, got.calls)
			}
		})
	}
}

func TestStrictProvider(t *testing.T) {
	s := start(t, story)
	open := opening("worker", "one")
	call := func(id, name string) msg {
		return msg{"id": id, "type": "function", "function": msg{"name": name, "arguments": "{}"}}
	}
	said := func(calls ...msg) msg { return msg{"role": "assistant", "content": nil, "tool_calls": calls} }
	result := func(id string) msg { return msg{"role": "tool", "tool_call_id": id, "content": "x"} }
	cases := map[string][]msg{
		"nothing":            {},
		"no answer":          {said(call("a", "read"))},
		"one of two answers": {said(call("a", "read"), call("b", "read")), result("a"), msg{"role": "user", "content": "x"}},
		"no call":            {result("a")},
		"two answers":        {said(call("a", "read")), result("a"), result("a")},
		"same id twice":      {said(call("a", "read"), call("a", "read")), result("a")},
		"no id":              {said(call("", "read"))},
		"odd name":           {said(call("a", "read.file")), result("a")},
		"odd role":           {msg{"role": "prophet", "content": "x"}},
	}
	for name, more := range cases {
		messages := append(append([]msg{}, open...), more...)
		if name == "nothing" {
			messages = nil
		}
		if got := ask(t, s, "story", messages...); got.status != 400 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	good := append(open, said(call("a", "read"), call("b", "read")), result("b"), result("a"))
	if got := ask(t, s, "story", good...); got.status != 200 {
		t.Errorf("out of order: %+v", got)
	}
}

func TestFaultsAndCounts(t *testing.T) {
	s := start(t, story)
	for _, want := range []int{429, 429, 500, 200, 200} {
		if got := ask(t, s, "story", opening("worker", "flaky")...); got.status != want {
			t.Fatalf("got %d, want %d", got.status, want)
		}
	}
	for range 3 {
		if got := ask(t, s, "story", opening("worker", "gone")...); got.status != 401 {
			t.Errorf("got %d", got.status)
		}
	}
	want := scripted.Counts{Peak: 1, Rows: []scripted.Count{
		{Model: "story", Card: "worker", Task: "flaky", Requests: 5, Replies: 2, Refused: 3, Input: 200, Cached: 80, Output: 14, Reasoning: 4},
		{Model: "story", Card: "worker", Task: "gone", Requests: 3, Refused: 3},
	}}
	if got := s.Counts(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	resp, err := http.Get(strings.TrimSuffix(s.URL, "/v1") + "/counts")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var over scripted.Counts
	if err := json.NewDecoder(resp.Body).Decode(&over); err != nil || !reflect.DeepEqual(over, want) {
		t.Errorf("over HTTP %+v, %v", over, err)
	}
	if got := s.Received(); len(got) != 8 || got[1].Attempt != 1 || got[7].Task != "gone" || !strings.Contains(string(got[0].Body), "Task flaky") {
		t.Errorf("received %d", len(got))
	}
}

// What is not given is counted: four bytes a token of the request and of the reply.
func TestTokensAreCounted(t *testing.T) {
	s := start(t, story)
	got := ask(t, s, "story", opening("queen", "x")...)
	body := s.Received()[0].Body
	if !strings.Contains(string(got.usage), `"completion_tokens":2,`) || !strings.Contains(string(got.usage), fmt.Sprintf(`"prompt_tokens":%d,`, (len(body)+3)/4)) {
		t.Errorf("usage %s for %d bytes", got.usage, len(body))
	}
}

func TestManyAtOnce(t *testing.T) {
	s := start(t, strings.ReplaceAll(story, "{text: For all.}", "{text: For all., latency: 100ms}"))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { ask(t, s, "story", opening("queen", "x")...) })
	}
	all.Wait()
	if c := s.Counts(); c.Peak < 2 || c.Rows[0].Replies != 8 {
		t.Errorf("got %+v", c)
	}
}

func TestParseRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"no name":       "cards: {a: {b: []}}",
		"no cards":      "name: x",
		"unknown key":   "name: x\ncards: {a: {b: [{tekst: y}]}}",
		"duplicate key": "name: x\nname: y\ncards: {a: {b: []}}",
		"finish":        "name: x\ncards: {a: {b: [{finish: never}]}}",
		"fault":         "name: x\ncards: {a: {b: [{faults: [{kind: odd}]}]}}",
		"empty fault":   "name: x\ncards: {a: {b: [{faults: [{}]}]}}",
		"no tool":       "name: x\ncards: {a: {b: [{calls: [{args: {}}]}]}}",
		"args and raw":  "name: x\ncards: {a: {b: [{calls: [{tool: t, args: {}, raw: x}]}]}}",
	} {
		if _, err := scripted.Parse("bad.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), "bad.yaml") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestServeRefuses(t *testing.T) {
	one, err := scripted.Parse("x.yaml", []byte(story))
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]scripted.Parts{"none": {}, "twice": {Scenarios: []scripted.Scenario{one, one}}} {
		if _, err := scripted.Serve(t.Context(), p); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(story))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := scripted.Parse("x.yaml", data)
		if err == nil && s.Name == "" {
			t.Error("a scenario without a name")
		}
	})
}
