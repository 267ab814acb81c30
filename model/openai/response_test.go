package openai_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"colony/model"
	"colony/model/openai"
	"colony/tools"
)

// responding is the parts of a client that speaks Responses.
func responding(url string) openai.Parts {
	p := parts(url)
	p.Wire = openai.Responses
	return p
}

func respond(t *testing.T, events ...string) (model.Reply, error) {
	t.Helper()
	return client(t, responding(says(t, events...))).Complete(t.Context(), hello(), func(model.Delta) {})
}

func itemDone(at int, raw string) string {
	return fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":%s}`, at, raw)
}

func textDelta(at int, text string) string {
	return fmt.Sprintf(`{"type":"response.output_text.delta","output_index":%d,"delta":%q}`, at, text)
}

func functionCall(id, name, args string) string {
	return fmt.Sprintf(`{"type":"function_call","id":"fc_%s","call_id":%q,"name":%q,"arguments":%q,"status":"completed"}`, id, id, name, args)
}

const (
	begun       = `{"type":"response.created","response":{"status":"in_progress","usage":{"input_tokens":99999,"output_tokens":99999}}}`
	end         = `{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":10,"output_tokens":5}}}`
	thought     = `{"id":"rs_1",  "type":"reasoning", "summary":[],"encrypted_content":"a<b>&\u003c\/ü", "new": 1.0e0}`
	second      = `{"encrypted_content":"second","type":"reasoning","id":"rs_2"}`
	commentary  = `{"type":"message","id":"msg_1","role":"assistant","phase":"commentary","status":"completed","content":[{"type":"output_text","text":"I look."}]}`
	plainAnswer = `{"type":"message","id":"msg_2","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Fine."}]}`
)

// Servers send items in their own ways: whole or in pieces, numbered or not, in the last event only.
func TestItemsAreGathered(t *testing.T) {
	last := func(output string) string {
		return `{"type":"response.completed","response":{"status":"completed","output":[` + output + `],"usage":{"input_tokens":10,"output_tokens":5}}}`
	}
	cases := []struct {
		name   string
		events []string
		text   string
		calls  string
		finish model.Finish
	}{
		{"text and calls", []string{begun, textDelta(0, "Fi"), textDelta(0, "ne."), itemDone(0, plainAnswer), itemDone(1, functionCall("a", "read", `{"n":1}`)), itemDone(2, functionCall("b", "find", `{}`)), end}, "Fine.", `a read {"n":1}, b find {}`, model.FinishCalls},
		{"out of order", []string{itemDone(2, functionCall("b", "find", `{}`)), itemDone(1, functionCall("a", "read", `{}`)), end}, "", `a read {}, b find {}`, model.FinishCalls},
		{"all numbered 0", []string{itemDone(0, functionCall("a", "read", `{}`)), itemDone(0, functionCall("b", "find", `{}`)), end}, "", `a read {}, b find {}`, model.FinishCalls},
		{"in the last event only", []string{begun, last(plainAnswer + "," + functionCall("a", "read", `{}`))}, "Fine.", `a read {}`, model.FinishCalls},
		{"more after the last event", []string{itemDone(0, plainAnswer), end, itemDone(1, functionCall("a", "read", `{}`)), `{"type":"error","message":"x"}`}, "Fine.", "", model.FinishStop},
		{"no pieces", []string{itemDone(0, plainAnswer), end}, "Fine.", "", model.FinishStop},
		{"two texts", []string{textDelta(0, "I look."), itemDone(0, commentary), textDelta(1, "Fine."), itemDone(1, plainAnswer), end}, "I look.\n\nFine.", "", model.FinishStop},
		{"no ids", []string{itemDone(0, `{"type":"function_call","name":"read","arguments":"{}"}`), itemDone(1, `{"type":"function_call","name":"read"}`), end}, "", `call_0 read {}, call_1 read {}`, model.FinishCalls},
		{"one id for two", []string{itemDone(0, functionCall("a", "read", `{}`)), itemDone(1, functionCall("a", "read", `{}`)), end}, "", `a read {}, call_1 read {}`, model.FinishCalls},
		{"arguments that are no JSON", []string{itemDone(0, functionCall("a", "read", `{"n": oops`)), end}, "", `a read {"n": oops`, model.FinishCalls},
		{"items that are none", []string{itemDone(0, `null`), itemDone(1, `"x"`), itemDone(2, `[1]`), `{"type":"response.output_item.done"}`, `{"type":"keepalive"}`, end}, "", "", model.FinishStop},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := respond(t, c.events...)
			if err != nil {
				t.Fatal(err)
			}
			if got.Message.Text != c.text || listed(got.Message.Calls) != c.calls || got.Finish != c.finish {
				t.Errorf("got %q, %s, finish %s", got.Message.Text, listed(got.Message.Calls), got.Finish)
			}
			if want := (model.Usage{Fresh: 10, Output: 5}); got.Usage != want || got.Estimated {
				t.Errorf("usage %+v, estimated %v", got.Usage, got.Estimated)
			}
		})
	}
}

func listed(calls []tools.Call) string {
	var all []string
	for _, c := range calls {
		all = append(all, fmt.Sprintf("%s %s %s", c.ID, c.Name, c.Args))
	}
	return strings.Join(all, ", ")
}

func TestHowResponsesEnd(t *testing.T) {
	incomplete := func(reason string) string {
		return `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"` + reason + `"},"usage":{"input_tokens":10,"output_tokens":5}}}`
	}
	half := `{"type":"function_call","call_id":"b","name":"read","arguments":"{\"pa","status":"incomplete"}`
	refusal := `{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"I will not."}]}`
	cases := []struct {
		name   string
		events []string
		text   string
		calls  string
		finish model.Finish
	}{
		{"length", []string{textDelta(0, "Fi"), itemDone(1, functionCall("a", "read", `{}`)), itemDone(2, half), incomplete("max_output_tokens")}, "Fi", "a read {}", model.FinishLength},
		{"length in a call that looks whole", []string{itemDone(0, strings.Replace(half, `{\"pa`, `{}`, 1)), incomplete("max_output_tokens")}, "", "", model.FinishLength},
		{"length in a thought", []string{itemDone(0, thought), incomplete("max_output_tokens")}, "", "", model.FinishLength},
		{"filtered", []string{textDelta(0, "Fi"), incomplete("content_filter")}, "Fi", "", model.FinishRefusal},
		{"a new reason", []string{textDelta(0, "Fi"), incomplete("steered")}, "Fi", "", model.FinishLength},
		{"refused in pieces", []string{`{"type":"response.refusal.delta","delta":"I will "}`, `{"type":"response.refusal.delta","delta":"not."}`, itemDone(0, refusal), end}, "I will not.", "", model.FinishRefusal},
		{"refused", []string{itemDone(0, refusal), end}, "I will not.", "", model.FinishRefusal},
		{"complete, and not", []string{textDelta(0, "Fi"), strings.Replace(incomplete("max_output_tokens"), "response.incomplete", "response.completed", 1)}, "Fi", "", model.FinishLength},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := respond(t, append([]string{begun}, c.events...)...)
			if err != nil || got.Message.Text != c.text || listed(got.Message.Calls) != c.calls || got.Finish != c.finish || got.Estimated {
				t.Errorf("got %+v, %v", got, err)
			}
			if len(got.Message.Opaque) > 0 {
				t.Errorf("carries %s", got.Message.Opaque)
			}
		})
	}
}

// What goes wrong after a stream began has no status: the code says what it is.
func TestFailuresWithinResponses(t *testing.T) {
	failed := func(code, text string) string {
		return fmt.Sprintf(`{"type":"response.failed","response":{"status":"failed","error":{"code":%q,"message":%q}}}`, code, text)
	}
	cases := []struct {
		event string
		kind  model.Kind
		text  string
	}{
		{failed("server_error", "It broke"), model.Transport, "It broke"},
		{failed("server_error", "We are overloaded"), model.Overloaded, "We are overloaded"},
		{failed("rate_limit_exceeded", "Slow\ndown"), model.RateLimited, "Slow down"},
		{failed("insufficient_quota", "You exceeded your current quota"), model.Quota, "You exceeded your current quota"},
		{failed("invalid_prompt", "No sk-very-secret-key"), model.BadRequest, "No [key]"},
		{failed("bio_policy", ""), model.BadRequest, "bio_policy"},
		{failed("context_length_exceeded", "Too long"), model.ContextTooLong, "Too long"},
		{`{"type":"response.failed","response":{"status":"failed"}}`, model.Transport, "the reply ended as failed"},
		{`{"type":"response.cancelled","response":{"status":"cancelled"}}`, model.Transport, "the reply ended as cancelled"},
		{`{"type":"error","code":"rate_limit_exceeded","message":"Slow down"}`, model.RateLimited, "Slow down"},
		{`{"type":"error"}`, model.Transport, "no reason given"},
		{`{"type":"error","error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"Too long"}}`, model.ContextTooLong, "Too long"},
		{`{"type":"error","error":{"type":"server_error","message":"It broke"}}`, model.Transport, "It broke"},
	}
	for _, c := range cases {
		got, err := respond(t, begun, textDelta(0, "hi"), itemDone(1, functionCall("a", "read", `{}`)), c.event)
		if e := modelError(t, err); e.Kind != c.kind || e.Text != c.text || !e.Sent {
			t.Errorf("%s: got %+v", c.event, e)
		}
		if got.Message.Text != "hi" || len(got.Message.Calls) > 0 || !got.Estimated {
			t.Errorf("%s: arrived %+v", c.event, got)
		}
	}
}

// A failure that counts its tokens is billed by them.
func TestAFailureMayCount(t *testing.T) {
	got, err := respond(t, begun, textDelta(0, "hi"), `{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"x"},"usage":{"input_tokens":70,"output_tokens":7}}}`)
	if e := modelError(t, err); e.Kind != model.Transport || got.Estimated || got.Usage != (model.Usage{Fresh: 70, Output: 7}) {
		t.Errorf("got %+v, %+v", e, got)
	}
}

// A stream that ends without its last event was cut: what arrived is estimated, whatever an event before said of usage.
func TestResponsesThatAreCut(t *testing.T) {
	for name, events := range map[string][]string{
		"at once":         {},
		"before an item":  {begun},
		"in a text":       {begun, textDelta(0, "Fi")},
		"after all items": {begun, itemDone(0, thought), itemDone(1, functionCall("a", "read", `{}`))},
	} {
		got, err := respond(t, events...)
		e := modelError(t, err)
		if e.Kind != model.Transport || !e.Sent || !got.Estimated || got.Usage.Input() != 1 || len(got.Message.Calls)+len(got.Message.Opaque) > 0 {
			t.Errorf("%s: got %+v, %+v", name, e, got)
		}
	}
}

// LG02 on the other wire: tokens are taken apart as in Chat Completions.
func TestResponsesUsage(t *testing.T) {
	for usage, want := range map[string]model.Usage{
		`{"input_tokens":1000,"input_tokens_details":{"cached_tokens":800},"output_tokens":500,"output_tokens_details":{"reasoning_tokens":300},"total_tokens":1500}`: {Fresh: 200, Cached: 800, Output: 500, Reasoning: 300},
		`{"input_tokens":100,"input_tokens_details":{"cached_tokens":20,"cache_write_tokens":30},"output_tokens":1}`:                                                  {Fresh: 50, Cached: 20, CacheWrite: 30, Output: 1},
		`{"input_tokens":10,"input_tokens_details":{"cached_tokens":80},"output_tokens":3,"output_tokens_details":{"reasoning_tokens":30}}`:                           {Cached: 10, Output: 3, Reasoning: 3},
	} {
		got, err := respond(t, begun, textDelta(0, "hi"), `{"type":"response.completed","response":{"status":"completed","usage":`+usage+`}}`)
		if err != nil || got.Usage != want || got.Estimated {
			t.Errorf("got %+v, estimated %v, %v", got.Usage, got.Estimated, err)
		}
	}
}

// A model that thinks is silent for as long as a first byte may take; one that speaks is not.
func TestThoughtsMayTakeTime(t *testing.T) {
	stalled := func(events ...string) string {
		return answers(t, func(w http.ResponseWriter, r *http.Request) {
			for _, e := range events[:len(events)-1] {
				_, _ = fmt.Fprintf(w, "data: %s\n\n", e)
			}
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
			case <-time.After(300 * time.Millisecond):
				_, _ = fmt.Fprintf(w, "data: %s\n\n", events[len(events)-1])
			}
		})
	}
	thinks := `{"type":"response.output_item.added","item":{"type":"reasoning"}}`
	speaks := `{"type":"response.output_item.added","item":{"type":"message"}}`
	for name, c := range map[string]struct {
		events []string
		cut    bool
	}{
		"before the first item": {[]string{begun, end}, false},
		"in a thought":          {[]string{begun, thinks, end}, false},
		"after an item":         {[]string{begun, speaks, textDelta(0, "hi"), itemDone(0, plainAnswer), end}, false},
		"in a text":             {[]string{begun, thinks, itemDone(0, thought), speaks, textDelta(1, "hi"), end}, true},
	} {
		p := responding(stalled(c.events...))
		p.Idle = 100 * time.Millisecond
		_, err := client(t, p).Complete(t.Context(), hello(), nil)
		if (err != nil) != c.cut {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// law 12: what was sent before is sent again byte for byte, and what is new comes after it, in this wire too.
func TestResponsesOnlyGrow(t *testing.T) {
	var bodies []string
	p := responding("http://127.0.0.1:1/v1")
	p.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		before, after, _ := strings.Cut(string(body), `],"model":`)
		bodies = append(bodies, after, before)
		events := "data: " + itemDone(0, thought) + "\n\ndata: " + itemDone(1, functionCall("a", "read", `{ "b":1, "a": 2 }`)) + "\n\ndata: " + end + "\n\n"
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(events)), Request: r}, err
	})
	req := hello()
	req.Tools = []tools.Spec{{Name: "read", Params: json.RawMessage(`{"type":"object","properties":{"z":{},"a":{}}}`)}}
	c := client(t, p)
	for range 4 {
		got, err := c.Complete(t.Context(), req, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Messages = append(req.Messages, got.Message, model.Message{Role: model.Tool, CallID: "a", Text: "r"})
	}
	for i := 2; i < len(bodies); i++ {
		if !strings.HasPrefix(bodies[i], bodies[i-2]) {
			t.Errorf("%s\ndoes not begin with\n%s", bodies[i], bodies[i-2])
		}
	}
}

// The whole request: nothing is kept by the server, and a model that cannot think is not asked for thoughts.
func TestResponsesRequest(t *testing.T) {
	var body map[string]any
	var header http.Header
	url := received(t, &body, &header)
	req := hello()
	req.OutputLimit, req.Effort, req.CacheKey = 77, "low", "worker"
	req.Tools = []tools.Spec{{Name: "read", Description: "Reads.", Params: json.RawMessage(`{"type":"object"}`)}}
	req.Messages = append(req.Messages,
		model.Message{Role: model.Assistant, Text: "t", Calls: []tools.Call{{ID: "c", Name: "read", Args: json.RawMessage(`{}`)}}},
		model.Message{Role: model.Tool, CallID: "c", Text: "no", IsError: true})
	for name, include := range map[string]string{
		"gpt-5-mini": `"include":["reasoning.encrypted_content"],`, "o3": `"include":["reasoning.encrypted_content"],`, "openai/gpt-4.1": "", "gpt-4o": "",
	} {
		summary := ""
		if include != "" {
			summary = `,"summary":"auto"`
		}
		body, req.Model = nil, name
		_, _ = client(t, responding(url)).Complete(t.Context(), req, nil) // the answer is one of the other wire
		data, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		want := `{` + include + `"input":[{"content":"s","role":"system","type":"message"},{"content":"u","role":"user","type":"message"},` +
			`{"content":"t","role":"assistant","type":"message"},{"arguments":"{}","call_id":"c","name":"read","type":"function_call"},` +
			`{"call_id":"c","output":"error: no","type":"function_call_output"}],"max_output_tokens":77,"model":"` + name + `",` +
			`"reasoning":{"effort":"low"` + summary + `},"store":false,"stream":true,"tools":[{"description":"Reads.","name":"read","parameters":{"type":"object"},"strict":false,"type":"function"}]}`
		if string(data) != want {
			t.Errorf("got  %s\nwant %s", data, want)
		}
	}
}

// Whatever a server sends, the client ends with a reply or a classified error, no call is half, and what it carries can
// be sent.
func FuzzResponse(f *testing.F) {
	for _, e := range []string{begun, end, textDelta(0, "hi"), itemDone(0, thought), itemDone(1, functionCall("a", "read", `{}`)), itemDone(0, commentary)} {
		f.Add(e, end)
	}
	f.Add(`{"type":"response.incomplete","response":{"output":[{"type":"function_call","arguments":7}],"usage":{"input_tokens":1e99}}}`, `{"type":"error","code":{}}`)
	f.Fuzz(func(t *testing.T, first, last string) {
		p := responding("http://127.0.0.1:1/v1")
		body := "data: " + first + "\n\ndata: " + last + "\n\n"
		p.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			if sent, err := io.ReadAll(r.Body); err != nil || !json.Valid(sent) {
				t.Errorf("sent %q, %v", sent, err)
			}
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
		})
		c, req := client(t, p), hello()
		got, err := c.Complete(t.Context(), req, nil)
		u := got.Usage
		if min(u.Fresh, u.Cached, u.CacheWrite, u.Output, u.Reasoning) < 0 || u.Reasoning > u.Output {
			t.Errorf("usage %+v", u)
		}
		if err != nil {
			if e := modelError(t, err); e.Kind == "" || e.Text == "" || len(got.Message.Calls)+len(got.Message.Opaque) > 0 {
				t.Errorf("%+v with %+v", e, got)
			}
			return
		}
		ids := map[string]bool{}
		for _, call := range got.Message.Calls {
			if call.ID == "" || ids[call.ID] || (got.Finish == model.FinishLength && !json.Valid(call.Args)) {
				t.Errorf("call %+v", call)
			}
			ids[call.ID] = true
		}
		req.Messages = append(req.Messages, got.Message)
		_, _ = c.Complete(t.Context(), req, nil) // the round trip looks at what is sent
	})
}
