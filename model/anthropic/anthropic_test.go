package anthropic_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"colony/model"
	"colony/model/anthropic"
	"colony/model/modeltest"
	"colony/model/scripted"
	"colony/tools"
)

func client(t *testing.T, url string) *anthropic.Client {
	t.Helper()
	c, err := anthropic.New(anthropic.Parts{
		BaseURL: url, Key: "sk-ant-very-secret", FirstByte: 10 * time.Second, Idle: 10 * time.Second, Transport: modeltest.Transport(t),
		Blob: func(string) ([]byte, error) { return []byte("pixels"), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func answers(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

func sse(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		var typed struct{ Type string }
		_ = json.Unmarshal([]byte(e), &typed)
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", typed.Type, e)
	}
	return b.String()
}

func hello() model.Request {
	return model.Request{
		Model: "any", Attempt: 5, Grown: true, OutputLimit: 77, Effort: "low", CacheKey: "worker",
		Messages: []model.Message{{Role: model.System, Text: "s"}, {Role: model.User, Text: "u"}},
		Tools:    []tools.Spec{{Name: "a.b", Description: "d", Params: json.RawMessage(`{"type":"object"}`)}},
	}
}

const done = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}`

// Nothing of the environment reaches the wire; breakpoints stand after the tools, the system prompt and the last block.
func TestRequestOnTheWire(t *testing.T) {
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE"} {
		t.Setenv(name, "leaked")
	}
	t.Setenv("ANTHROPIC_BASE_URL", "http://leaked.invalid")
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Leaked: leaked")
	var body []byte
	var header http.Header
	url := answers(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		header = r.Header
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, sse(`{"type":"message_start","message":{"id":"m","usage":{"input_tokens":3,"output_tokens":1}}}`, done))
	})
	if _, err := client(t, url).Complete(t.Context(), hello(), nil); err != nil {
		t.Fatal(err)
	}
	if all := fmt.Sprint(header, string(body)); strings.Contains(all, "leaked") || header.Get("Traceparent") != "" {
		t.Errorf("the environment is in %s", all)
	}
	want := `{"model":"any","max_tokens":77,"stream":true,"cache_control":{"type":"ephemeral"},"thinking":{"type":"adaptive"},"output_config":{"effort":"low"},"tools":[{"name":"a_b_` +
		`","description":"d","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}],"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"u"}]}]}`
	got := string(body)
	if i := strings.Index(got, "a_b_"); i > 0 {
		got = got[:i+4] + got[i+12:] // the hash
	}
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Usage is that of the last event for each count, cached and written tokens beside the fresh ones; what is kept for an hour
// is told apart, and so is a creation that stands only in the nested object.
func TestUsageIsTheLastOfEachCount(t *testing.T) {
	cases := map[string]struct {
		events []string
		want   model.Usage
	}{
		"cumulative": {[]string{
			`{"type":"message_start","message":{"id":"m","usage":{"input_tokens":10,"cache_read_input_tokens":100,"cache_creation_input_tokens":50,"output_tokens":1}}}`,
			`{"type":"message_delta","delta":{},"usage":{"output_tokens":20}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":30,"input_tokens":11,"output_tokens_details":{"thinking_tokens":7}}}`,
		}, model.Usage{Fresh: 11, Cached: 100, CacheWrite: 50, Output: 30, Reasoning: 7}},
		"another service": {[]string{
			`{"type":"message_start","message":{"id":"m","usage":{"input_tokens":10,"output_tokens":1,"service_tier":"priority","speed":"standard"}}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":30}}`,
		}, model.Usage{Fresh: 10, Output: 30, Service: "priority"}},
		"fast": {[]string{
			`{"type":"message_start","message":{"id":"m","usage":{"input_tokens":10,"output_tokens":1,"service_tier":"standard","speed":"fast"}}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":30}}`,
		}, model.Usage{Fresh: 10, Output: 30, Service: "fast"}},
		"nested creation": {[]string{
			`{"type":"message_start","message":{"id":"m","usage":{"input_tokens":10,"cache_creation":{"ephemeral_5m_input_tokens":30,"ephemeral_1h_input_tokens":20},"output_tokens":1}}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":30}}`,
		}, model.Usage{Fresh: 10, CacheWrite: 50, CacheWriteLong: 20, Output: 30}},
	}
	for name, c := range cases {
		url := answers(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, sse(c.events...))
		})
		got, err := client(t, url).Complete(t.Context(), hello(), nil)
		if err != nil || got.Usage != c.want || got.Estimated {
			t.Errorf("%s: got %+v, estimated %v, %v", name, got.Usage, got.Estimated, err)
		}
	}
}

// Why the cache did not serve is said where the provider says it. Colony asks only Anthropic itself, by the id of the
// model's last reply.
func TestWhyTheCacheMissed(t *testing.T) {
	url := answers(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, sse(`{"type":"message_start","message":{"id":"m","diagnostics":{"cache_miss_reason":{"type":"tools_changed","cache_missed_input_tokens":9}},"usage":{"input_tokens":3,"output_tokens":1}}}`, done))
	})
	if got, err := client(t, url).Complete(t.Context(), hello(), nil); err != nil || got.Miss != (model.Miss{Reason: "tools_changed", Tokens: 9}) {
		t.Errorf("got %+v, %v", got.Miss, err)
	}
	for base, want := range map[string][2]string{"https://api.anthropic.com": {`"diagnostics":{"previous_message_id":null}`, `"previous_message_id":"msg_7"`}, "https://gateway.test/v1": {"", ""}} {
		var body string
		c, err := anthropic.New(anthropic.Parts{BaseURL: base, FirstByte: time.Second, Idle: time.Second, Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			sent, err := io.ReadAll(r.Body)
			body = string(sent)
			return nil, errors.Join(err, errors.New("no network"))
		})})
		if err != nil {
			t.Fatal(err)
		}
		req := hello()
		for i, want := range want {
			_, _ = c.Complete(t.Context(), req, nil) // only what is sent is looked at
			if want != "" && !strings.Contains(body, want) || want == "" && strings.Contains(body, "diagnostics") {
				t.Errorf("%s, %d: %s", base, i, body)
			}
			req.Messages = append(req.Messages, model.Message{Role: model.Assistant, Text: "x", Opaque: json.RawMessage(`{"wire":"messages","model":"any","id":"msg_7","items":[]}`)})
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Blocks may come in turns; they stand in the order of their numbers.
func TestBlocksMayComeInTurns(t *testing.T) {
	url := answers(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, sse(
			`{"type":"message_start","message":{"id":"m","usage":{"input_tokens":3,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"b","name":"a_b","input":{}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"x","input":{"whole":true}}}`,
			`{"type":"content_block_start","index":2,"content_block":{"type":"redacted_thinking","data":"sealed"}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"n\":"}}`,
			`{"type":"content_block_delta","index":7,"delta":{"type":"text_delta","text":"of no block"}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"1}"}}`,
			`{"type":"content_block_stop","index":1}`,
			`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":5}}`,
		))
	})
	got, err := client(t, url).Complete(t.Context(), hello(), nil)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("%s %s", got.Message.Calls, got.Message.Opaque)
	if want := `[{a x {"whole":true}} {b a_b {"n":1}}]`; !strings.HasPrefix(text, want) || !strings.Contains(text, `sealed`) {
		t.Errorf("got %s", text)
	}
}

// An effort that a model refuses is left out from then on.
func TestAnEffortThatIsRefusedIsLeftOut(t *testing.T) {
	asked := 0
	url := answers(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "effort") {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"type":"error","error":{"type":"invalid_request_error","message":"This model does not support the effort parameter."}}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, sse(`{"type":"message_start","message":{"id":"m","usage":{"input_tokens":3,"output_tokens":1}}}`, done))
	})
	g, err := model.NewGovernor(model.GovernorParts{Throttled: func(string, time.Time) {}})
	if err != nil {
		t.Fatal(err)
	}
	p := g.Around(client(t, url))
	for range 2 {
		req := hello()
		req.Attempt = 0
		if _, err := p.Complete(t.Context(), req, nil); err != nil {
			t.Fatal(err)
		}
	}
	if asked != 3 {
		t.Errorf("%d requests, want 3", asked)
	}
}

// What Anthropic says of an account, a key and its limits.
func TestRefusalsOfMessages(t *testing.T) {
	cases := []struct {
		status int
		body   string
		kind   model.Kind
	}{
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`, model.Quota},
		{402, `{"type":"error","error":{"type":"billing_error","message":"x"}}`, model.Quota},
		{401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, model.Auth},
		{404, `{"type":"error","error":{"type":"not_found_error","message":"model: any"}}`, model.NoModel},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, model.ContextTooLong},
		{529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, model.Overloaded},
		{429, `{"type":"error","error":{"type":"rate_limit_error","message":"x"}}`, model.RateLimited},
	}
	for _, c := range cases {
		url := answers(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Anthropic-Ratelimit-Requests-Remaining", "3")
			w.Header().Set("Anthropic-Ratelimit-Requests-Reset", time.Now().Add(time.Minute).Format(time.RFC3339))
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		})
		_, err := client(t, url).Complete(t.Context(), hello(), nil)
		e, ok := err.(*model.Error)
		if !ok || e.Kind != c.kind {
			t.Errorf("%s: got %v", c.body, err)
			continue
		}
		if l := e.Limits.Requests; !l.Known || l.Left != 3 || l.Reset < 50*time.Second {
			t.Errorf("limits %+v", e.Limits)
		}
	}
	// within a stream
	url := answers(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n")
	})
	if _, err := client(t, url).Complete(t.Context(), hello(), nil); err == nil || err.(*model.Error).Kind != model.Overloaded {
		t.Errorf("got %v", err)
	}
}

// law 12: over 20 turns every prompt is an exact extension of the last, and the cache serves at least 99 parts in a hundred of
// what was sent before; images and thoughts are part of it.
func TestPromptsOnlyGrowAndAreServed(t *testing.T) {
	scenario := scripted.Scenario{Name: "any", Cache: true, Cards: map[string]map[string][]scripted.Turn{"worker": {"*": nil}}}
	for range 20 {
		out := int64(20)
		scenario.Cards["worker"]["*"] = append(scenario.Cards["worker"]["*"], scripted.Turn{
			Text: "On.", Calls: []scripted.Call{{Tool: "read"}, {Tool: "read"}}, Tokens: scripted.Tokens{Output: &out, Reasoning: 5},
		})
	}
	server := modeltest.Serve(t, scripted.Parts{Scenarios: []scripted.Scenario{scenario}, Record: true})
	c := client(t, server.URL)
	req := hello()
	req.Messages[0].Text, req.Messages[1].Text = "Card: worker\n"+strings.Repeat("A rule. ", 400), "Task a: work"
	req.Tools[0].Name = "read"
	var before model.Usage
	for turn := range 20 {
		got, err := c.Complete(t.Context(), req, nil)
		if err != nil {
			t.Fatal(err)
		}
		if served := float64(got.Usage.Cached) / float64(max(before.Cached+before.CacheWrite, 1)); turn > 0 && served < 0.99 {
			t.Errorf("turn %d: %.3f of what was kept before was served", turn, served)
		}
		if kept := float64(got.Usage.Cached+got.Usage.CacheWrite) / float64(got.Usage.Input()); kept < 0.8 {
			t.Errorf("turn %d: %.2f of the prompt is kept", turn, kept)
		}
		before = got.Usage
		req.Messages = append(req.Messages, got.Message)
		for i, call := range got.Message.Calls {
			m := model.Message{Role: model.Tool, CallID: call.ID, Text: "result <&>"}
			if i == 0 {
				m.Images = []tools.BlobRef{{SHA256: "x", Media: "image/png"}}
			}
			req.Messages = append(req.Messages, m)
		}
	}
	last := ""
	for i, r := range server.Received() {
		prompt := strings.TrimSuffix(string(r.Body), "]}")
		if i > 0 && !strings.HasPrefix(prompt, last) {
			t.Fatalf("request %d does not extend the one before", i)
		}
		last = prompt
	}
}
