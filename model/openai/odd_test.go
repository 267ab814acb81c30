package openai_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"colony/model"
	"colony/model/modeltest"
	"colony/model/openai"
	"colony/model/scripted"
	"colony/tools"
)

// odd is a server that lacks a piece: it refuses what it does not know, and counts what it was asked.
type odd struct {
	refuse func(path string, body map[string]any) (status int, text string) // 0: served
	say    string                                                           // the reply; a stream where it begins with data
	mu     sync.Mutex
	asked  int
}

func (o *odd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	o.asked++
	o.mu.Unlock()
	data, _ := io.ReadAll(r.Body)
	var body map[string]any
	if err := json.Unmarshal(data, &body); err != nil {
		http.Error(w, "no JSON", http.StatusBadRequest)
		return
	}
	if o.refuse != nil {
		if status, text := o.refuse(r.URL.Path, body); status != 0 {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, text)
			return
		}
	}
	if !strings.HasPrefix(o.say, "data") {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
	}
	_, _ = io.WriteString(w, o.say)
}

const (
	wholeChat       = `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Fine.","tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"read","arguments":"{\"n\":1}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":10,"completion_tokens":5}}`
	wholeResponses  = `{"object":"response","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Fine."}]},{"type":"function_call","call_id":"a","name":"read","arguments":"{}","status":"completed"}],"usage":{"input_tokens":10,"output_tokens":5}}`
	responsesStream = `data: {"type":"response.completed","response":` + wholeResponses + "}\n\n"
	finished        = `data: {"choices":[{"index":0,"delta":{"content":"Fine."},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
)

// unless refuses a body in which a field is there, until it is not.
func unless(field string, status int, text string) func(string, map[string]any) (int, string) {
	return func(_ string, body map[string]any) (int, string) {
		if v, ok := body[field]; ok && v != false {
			return status, text
		}
		return 0, ""
	}
}

// unlessSummary refuses a body that asks for a summary of thoughts.
func unlessSummary(text string) func(string, map[string]any) (int, string) {
	return func(_ string, body map[string]any) (int, string) {
		if thoughts, _ := body["reasoning"].(map[string]any); thoughts["summary"] != nil {
			return 400, text
		}
		return 0, ""
	}
}

// What servers lack is recognised at the first refusal, remembered, and done without: two requests take three attempts.
func TestOddServersAreServed(t *testing.T) {
	cases := []struct {
		name      string
		server    odd
		wire      openai.Wire
		asked     int
		calls     int
		estimated bool
	}{
		{"an organisation that is not verified", odd{unless("stream", 400, `{"error":{"message":"Your organization must be verified to stream this model.","param":"stream"}}`), wholeResponses, sync.Mutex{}, 0}, openai.Responses, 3, 1, false},
		{"an organisation that is not verified for summaries", odd{unlessSummary(`{"error":{"message":"Your organization must be verified to generate reasoning summaries. Please go to the settings.","type":"invalid_request_error","param":"reasoning.summary","code":"unsupported_value"}}`), responsesStream, sync.Mutex{}, 0}, openai.Responses, 3, 1, false},
		{"a model without summaries", odd{unlessSummary(`{"error":{"message":"Unsupported parameter: 'reasoning.summary' is not supported with this model."}}`), responsesStream, sync.Mutex{}, 0}, openai.Responses, 3, 1, false},
		{"a gateway without summaries", odd{unlessSummary(`{"detail":[{"loc":["body","reasoning","summary"],"msg":"extra fields not permitted"}]}`), responsesStream, sync.Mutex{}, 0}, openai.Responses, 3, 1, false},
		{"a model without thoughts", odd{unless("include", 400, `{"error":{"message":"Encrypted content is not supported with this model."}}`), responsesStream, sync.Mutex{}, 0}, openai.Responses, 3, 1, false},
		{"neither streams nor summaries", odd{func(_ string, body map[string]any) (int, string) {
			if body["stream"] == true {
				return 400, `{"error":{"message":"Your organization must be verified to stream this model."}}`
			}
			return unlessSummary(`{"error":{"message":"Your organization must be verified to generate reasoning summaries."}}`)("", body)
		}, wholeResponses, sync.Mutex{}, 0}, openai.Responses, 3, 1, false},
		{"the same in chat", odd{unless("stream", 400, `{"error":{"message":"Your organization must be verified to stream this model."}}`), wholeChat, sync.Mutex{}, 0}, openai.Chat, 3, 2, false},
		{"tools and stream at once", odd{unless("stream", 500-1, `{"detail":"tools cannot be used with stream"}`), wholeChat, sync.Mutex{}, 0}, openai.Chat, 3, 2, false},
		{"stream_options", odd{unless("stream_options", 422, `{"detail":[{"loc":["body","stream_options"],"msg":"extra fields not permitted"}]}`), finished, sync.Mutex{}, 0}, openai.Chat, 3, 0, true},
		{"max_tokens", odd{unless("max_tokens", 400, `{"error":{"message":"Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}}`), finished, sync.Mutex{}, 0}, openai.Chat, 3, 0, true},
		{"an effort", odd{unless("reasoning_effort", 400, `{"error":"reasoning_effort is not supported with this model"}`), finished, sync.Mutex{}, 0}, openai.Chat, 3, 0, true},
		{"no Responses", odd{func(path string, _ map[string]any) (int, string) {
			if strings.HasSuffix(path, "/responses") {
				return 404, "404 page not found"
			}
			return 0, ""
		}, finished, sync.Mutex{}, 0}, openai.Responses, 3, 0, true},
		{"no Responses, and all is well", odd{func(path string, _ map[string]any) (int, string) {
			if strings.HasSuffix(path, "/responses") {
				return 200, `{"error":"Unexpected endpoint or method. (POST /v1/responses)"}`
			}
			return 0, ""
		}, wholeChat, sync.Mutex{}, 0}, openai.Responses, 3, 2, false},
		{"a stream that is none", odd{nil, wholeChat, sync.Mutex{}, 0}, openai.Chat, 2, 2, false},
		{"Responses that is no stream", odd{nil, wholeResponses, sync.Mutex{}, 0}, openai.Responses, 2, 1, false},
		{"no usage", odd{nil, finished, sync.Mutex{}, 0}, openai.Chat, 2, 0, true},
	}
	for i := range cases {
		c := &cases[i]
		t.Run(c.name, func(t *testing.T) {
			p := parts(answers(t, c.server.ServeHTTP))
			p.Wire = c.wire
			g, err := model.NewGovernor(model.GovernorParts{Throttled: func(string, time.Time) {}})
			if err != nil {
				t.Fatal(err)
			}
			governed := g.Around(client(t, p))
			for range 2 {
				req := hello()
				req.Attempt, req.OutputLimit, req.Effort = 0, 100, "low"
				req.Tools = []tools.Spec{{Name: "read", Params: json.RawMessage(`{"type":"object"}`)}}
				got, err := governed.Complete(t.Context(), req, nil)
				if err != nil {
					t.Fatal(err)
				}
				if got.Message.Text != "Fine." || len(got.Message.Calls) != c.calls || got.Estimated != c.estimated {
					t.Errorf("got %+v", got)
				}
			}
			if c.server.asked != c.asked {
				t.Errorf("%d requests, want %d", c.server.asked, c.asked)
			}
		})
	}
}

// A call that comes as text counts where the whole reply is calls of tools that were offered, and nowhere else.
func TestCallsThatComeAsText(t *testing.T) {
	cases := map[string]string{
		`{"name":"read","arguments":{"n":1}}`:                                                                         `call_0 read {"n":1}`,
		"```json\n{\"name\":\"read\",\"parameters\":{}}\n```":                                                         `call_0 read {}`,
		`<tool_call>{"name":"read","arguments":{}}</tool_call> <tool_call>{"name":"find","arguments":{}}</tool_call>`: `call_0 read {}, call_1 find {}`,
		`[{"name":"read","arguments":{}}]`:                                                                            `call_0 read {}`,
		`{"name":"sh","arguments":{}}`:                                                                                "",
		`{"name":"read","arguments":[1]}`:                                                                             "",
		`I will call {"name":"read","arguments":{}}`:                                                                  "",
		`{"name":"read","arguments":{}} and then I stop`:                                                              "",
		`[{"name":"read","arguments":{}},{"name":"x","arguments":{}}]`:                                                "",
	}
	for text, want := range cases {
		said, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		url := says(t, fmt.Sprintf(`{"choices":[{"index":0,"delta":{"content":%s},"finish_reason":"stop"}]}`, said))
		req := hello()
		for _, name := range []string{"read", "find"} {
			req.Tools = append(req.Tools, tools.Spec{Name: name, Params: json.RawMessage(`{"type":"object"}`)})
		}
		got, err := client(t, parts(url)).Complete(t.Context(), req, nil)
		if err != nil || listed(got.Message.Calls) != want || got.Message.Recovered != (want != "") || (got.Message.Text == "") != (want != "") {
			t.Errorf("%s: got %+v, %v", text, got.Message, err)
		}
	}
}

// What a provider shows of thoughts is kept for people, the beginning of it, and never sent.
func TestThoughtsAreShown(t *testing.T) {
	long := strings.Repeat("ü", 2000)
	item := fmt.Sprintf(`{"type":"reasoning","id":"rs_1","encrypted_content":"x","summary":[{"type":"summary_text","text":"I look."},{"type":"summary_text","text":%q}]}`, long)
	cases := map[openai.Wire]string{
		openai.Responses: says(t, begun, itemDone(0, item), itemDone(1, plainAnswer), end),
		openai.Chat:      says(t, fmt.Sprintf(`{"choices":[{"index":0,"delta":{"reasoning_content":"I look.\n%s"}}]}`, long), `{"choices":[{"index":0,"delta":{"content":"Fine."},"finish_reason":"stop"}]}`),
	}
	for wire, url := range cases {
		p := parts(url)
		p.Wire = wire
		got, err := client(t, p).Complete(t.Context(), hello(), nil)
		want := "I look.\n" + strings.Repeat("ü", 1020)
		if err != nil || got.Message.Thought != want || got.Message.Text != "Fine." {
			t.Errorf("%s: got %q, %v", wire, got.Message.Thought, err)
		}
		var body map[string]any
		p.BaseURL = received(t, &body, new(http.Header))
		req := hello()
		req.Messages = append(req.Messages, model.Message{Role: model.Assistant, Text: "Fine.", Thought: "secret thought"})
		_, _ = client(t, p).Complete(t.Context(), req, nil) // the answer is one of the other wire
		if sent := fmt.Sprint(body); len(body) == 0 || strings.Contains(sent, "secret thought") {
			t.Errorf("%s: sent %s", wire, sent)
		}
	}
}

// OpenAI's own models from gpt-5.6 on are asked why the cache did not serve, once there is a reply to compare with.
func TestCacheMissesAreAskedFor(t *testing.T) {
	const missed = `{"type":"response.completed","response":{"id":"resp_7","status":"completed","usage":{"input_tokens":10,"output_tokens":5},"prompt_cache_diagnostics":{"type":"cache_miss","reason":"tools_changed","cache_missed_tokens":9}}}`
	for _, c := range []struct {
		base, model string
		refused     bool
		asked       string // of two requests, what the second one asks
		requests    int
	}{
		{"https://api.openai.com/v1", "gpt-5.6", false, `{"comparison_response_id":"resp_7"}`, 2},
		{"https://api.openai.com/v1", "gpt-6-mini", false, `{"comparison_response_id":"resp_7"}`, 2},
		{"https://api.openai.com/v1", "gpt-5.6", true, `null`, 3},
		{"https://api.openai.com/v1", "gpt-5.2", false, `null`, 2},
		{"https://api.openai.com/v1", "o3", false, `null`, 2},
		{"https://gateway.test/v1", "gpt-5.6", false, `null`, 2},
	} {
		var last string
		requests := 0
		p := responding(c.base)
		p.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			var body struct {
				Options json.RawMessage `json:"prompt_cache_options"`
			}
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				return nil, err
			}
			requests++
			last = "null"
			answer := &http.Response{StatusCode: 200, Header: http.Header{}, Request: r, Body: io.NopCloser(strings.NewReader("data: " + itemDone(0, plainAnswer) + "\n\ndata: " + missed + "\n\n"))}
			if body.Options != nil {
				last = string(body.Options)
				if c.refused {
					answer.StatusCode, answer.Body = 400, io.NopCloser(strings.NewReader(`{"error":{"message":"Unknown parameter: 'prompt_cache_options'."}}`))
				}
			}
			return answer, nil
		})
		g, err := model.NewGovernor(model.GovernorParts{Throttled: func(string, time.Time) {}})
		if err != nil {
			t.Fatal(err)
		}
		governed, req := g.Around(client(t, p)), hello()
		req.Model, req.Attempt = c.model, 0
		for range 2 {
			got, err := governed.Complete(t.Context(), req, nil)
			if err != nil || got.Message.Text != "Fine." || got.Miss != (model.Miss{Reason: "tools_changed", Tokens: 9}) {
				t.Fatalf("%+v: got %+v, %v", c, got, err)
			}
			req.Messages = append(req.Messages, got.Message, model.Message{Role: model.User, Text: "Go on."})
		}
		if last != c.asked || requests != c.requests {
			t.Errorf("%+v: asked %s in %d requests", c, last, requests)
		}
	}
}

// Servers and gateways refuse in words and shapes of their own.
func TestServersRefuseInTheirOwnWords(t *testing.T) {
	for _, c := range []struct {
		server string
		status int
		body   string
		kind   model.Kind
	}{
		{"llama.cpp", 400, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}`, model.ContextTooLong},
		{"llama.cpp", 503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, model.Overloaded},
		{"llama.cpp", 401, `{"error":{"code":401,"message":"Invalid API Key","type":"authentication_error"}}`, model.Auth},
		{"vLLM", 400, `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 9000 tokens.","type":"BadRequestError","param":null,"code":400}`, model.ContextTooLong},
		{"vLLM", 404, `{"object":"error","message":"The model x does not exist.","type":"NotFoundError","param":null,"code":404}`, model.NoModel},
		{"vLLM", 400, `{"error":{"message":"auto tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","param":null,"code":400}}`, model.BadRequest},
		{"LM Studio", 200, `{"error":"No models loaded. Please load a model in the developer page or use the lms load command."}`, model.BadRequest},
		{"LM Studio", 400, `{"error":"The number of tokens to keep from the initial prompt is greater than the context length: context size 4096"}`, model.ContextTooLong},
		{"OpenRouter", 402, `{"error":{"code":402,"message":"This request requires more credits, or fewer max_tokens."},"user_id":"u"}`, model.Quota},
		{"OpenRouter", 200, `{"error":{"code":429,"message":"Provider returned error","metadata":{"provider_name":"x"}},"user_id":"u"}`, model.RateLimited},
		{"LiteLLM", 429, `{"error":{"message":"litellm.RateLimitError: RateLimitError: slow down","type":"throttling_error","param":"None","code":"429"}}`, model.RateLimited},
		{"LiteLLM", 400, `{"error":{"message":"litellm.ContextWindowExceededError: ContextWindowExceededError: too much","type":"None","param":"None","code":"400"}}`, model.ContextTooLong},
		{"LiteLLM", 400, `{"error":{"message":"ExceededBudget: Budget has been exceeded! Current cost: 1.2, Max budget: 1.0","type":"budget_exceeded","param":null,"code":"400"}}`, model.Quota},
	} {
		for _, wire := range wires {
			p := parts(answers(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			p.Wire = wire
			_, err := client(t, p).Complete(t.Context(), hello(), nil)
			if e := modelError(t, err); e.Kind != c.kind || e.Sent || strings.Contains(e.Text, "{") {
				t.Errorf("%s over %s: %s\ngot %+v", c.server, wire, c.body, e)
			}
		}
	}
	for code, kind := range map[string]model.Kind{"429": model.RateLimited, "502": model.Transport, "402": model.Quota, `"429"`: model.RateLimited} {
		_, err := complete(t, says(t, `{"choices":[{"index":0,"delta":{"content":"hi"}}]}`, `{"error":{"code":`+code+`,"message":"Provider returned error"}}`))
		if e := modelError(t, err); e.Kind != kind || !e.Sent {
			t.Errorf("%s within a stream: %+v", code, e)
		}
	}
}

// A reply that comes whole has its first byte with its last: it may take longer than one that streams.
func TestAWholeReplyMayTakeLonger(t *testing.T) {
	scenario, err := scripted.Parse("whole.yaml", []byte("name: whole\nunverified: [stream]\ncards: {worker: {a: [{text: Fine., latency: 400ms}]}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, wire := range wires {
		p := parts(modeltest.Serve(t, scripted.Parts{Scenarios: []scripted.Scenario{scenario}}).URL)
		p.Wire, p.FirstByte, p.Idle = wire, 100*time.Millisecond, 100*time.Millisecond
		got, err := governed(t, client(t, p)).Complete(t.Context(), model.Request{Model: "whole", Messages: []model.Message{
			{Role: model.System, Text: "Card: worker"}, {Role: model.User, Text: "Task a: x"},
		}}, func(model.Delta) {})
		if err != nil || got.Message.Text != "Fine." {
			t.Errorf("%s: got %+v, %v", wire, got.Message, err)
		}
	}
}
