package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"colony/model"
	"colony/model/openai"
	"colony/tools"
)

// says is a server that answers every request with these events.
func says(t *testing.T, events ...string) string {
	t.Helper()
	return answers(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events {
			_, _ = fmt.Fprintf(w, "data: %s\n\n", e)
		}
	})
}

func answers(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

func parts(url string) openai.Parts {
	return openai.Parts{BaseURL: url, Key: "sk-very-secret-key", FirstByte: 10 * time.Second, Idle: 10 * time.Second}
}

func hello() model.Request {
	return model.Request{Model: "any", Grown: true, Attempt: 5, Messages: []model.Message{{Role: model.System, Text: "s"}, {Role: model.User, Text: "u"}}}
}

func complete(t *testing.T, url string) (model.Reply, error) {
	t.Helper()
	return client(t, parts(url)).Complete(t.Context(), hello(), func(model.Delta) {})
}

func modelError(t *testing.T, err error) *model.Error {
	t.Helper()
	var e *model.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, which is no *model.Error", err)
	}
	return e
}

func calls(pieces string) string {
	return `{"choices":[{"index":0,"delta":{"tool_calls":[` + pieces + `]}}]}`
}

const (
	endCalls = `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`
	done     = "[DONE]"
)

// Servers number and name the calls of one reply in their own ways.
func TestCallsAreGathered(t *testing.T) {
	cases := []struct {
		name   string
		events []string
		want   string
	}{
		{"all numbered 0", []string{
			calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"n\":"}}`), calls(`{"index":0,"function":{"arguments":"1}"}}`),
			calls(`{"index":0,"id":"b","function":{"name":"read","arguments":"{\"n\":2}"}}`), endCalls, done,
		}, `a read {"n":1}, b read {"n":2}`},
		{"interleaved", []string{
			calls(`{"index":0,"id":"a","function":{"name":"read","arguments":""}},{"index":1,"id":"b","function":{"name":"find","arguments":""}}`),
			calls(`{"index":1,"function":{"arguments":"{}"}}`), calls(`{"index":0,"function":{"arguments":"{\"x\":[]}"}}`), endCalls,
		}, `a read {"x":[]}, b find {}`},
		{"no ids", []string{
			calls(`{"index":0,"function":{"name":"read","arguments":"{}"}},{"index":1,"function":{"name":"read","arguments":"{}"}}`), endCalls, done,
		}, `call_0 read {}, call_1 read {}`},
		{"one id for two", []string{
			calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}},{"index":1,"id":"a","function":{"name":"read","arguments":"{}"}}`), endCalls,
		}, `a read {}, call_1 read {}`},
		{"name and id repeated", []string{
			calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"n\""}}`), calls(`{"index":0,"id":"a","function":{"name":"read","arguments":":1}"}}`), endCalls,
		}, `a read {"n":1}`},
		{"no arguments, wrong finish", []string{
			calls(`{"index":0,"id":"a","function":{"name":"done"}}`), `{"choices":[{"index":0,"delta":{"content":null},"finish_reason":"stop"}]}`, done,
		}, `a done {}`},
		{"no number", []string{calls(`{"id":"a","function":{"name":"done","arguments":"{}"}}`), endCalls}, `a done {}`},
		{"a number far away", []string{calls(`{"index":1000000000,"id":"a","function":{"name":"done","arguments":"{}"}}`), endCalls}, `a done {}`},
		{"a second choice", []string{`{"choices":[{"index":1,"delta":{"content":"no"}}]}`, calls(`{"index":0,"id":"a","function":{"name":"done"}}`), endCalls}, `a done {}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := complete(t, says(t, c.events...))
			if err != nil {
				t.Fatal(err)
			}
			var all []string
			for _, c := range got.Message.Calls {
				all = append(all, fmt.Sprintf("%s %s %s", c.ID, c.Name, c.Args))
			}
			if list := strings.Join(all, ", "); list != c.want || got.Finish != model.FinishCalls || got.Message.Text != "" {
				t.Errorf("got %s, finish %s, want %s", list, got.Finish, c.want)
			}
		})
	}
}

// LG02 and numbers that cannot be: nothing is counted twice, nothing is below zero.
func TestUsageIsTakenApart(t *testing.T) {
	cases := []struct {
		name, usage string
		want        model.Usage
		estimated   bool
	}{
		{"LG02", `{"prompt_tokens":1000,"completion_tokens":500,"total_tokens":1500,"prompt_tokens_details":{"cached_tokens":800},"completion_tokens_details":{"reasoning_tokens":300}}`, model.Usage{Fresh: 200, Cached: 800, Output: 500, Reasoning: 300}, false},
		{"bare", `{"prompt_tokens":7,"completion_tokens":3}`, model.Usage{Fresh: 7, Output: 3}, false},
		{"more cached than there is", `{"prompt_tokens":10,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":80,"cache_write_tokens":5}}`, model.Usage{Cached: 10, Output: 3}, false},
		{"more reasoning than output", `{"prompt_tokens":10,"completion_tokens":3,"completion_tokens_details":{"reasoning_tokens":30}}`, model.Usage{Fresh: 10, Output: 3, Reasoning: 3}, false},
		{"below zero", `{"prompt_tokens":-10,"completion_tokens":-3}`, model.Usage{Fresh: 1, Output: 1}, true},
		{"no output counted", `{"prompt_tokens":10,"completion_tokens":0}`, model.Usage{Fresh: 10, Output: 1}, true},
		{"null", `null`, model.Usage{Fresh: 1, Output: 1}, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := complete(t, says(t, `{"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}`, `{"choices":[],"usage":`+c.usage+`}`, done))
			if err != nil || got.Usage != c.want || got.Estimated != c.estimated {
				t.Errorf("got %+v, estimated %v, %v", got.Usage, got.Estimated, err)
			}
		})
	}
}

func TestRefusalsAreClassified(t *testing.T) {
	cases := []struct {
		name, body string
		status     int
		header     string
		kind       model.Kind
		text       string
		wait       time.Duration
	}{
		{name: "text body", status: 502, body: "<html>bad\x1b[2J gateway", kind: model.Transport, text: "<html>bad [2J gateway"},
		{name: "empty body", status: 500, kind: model.Transport, text: "Internal Server Error"},
		{name: "error is a text", status: 404, body: `{"error":"model 'x' not found"}`, kind: model.NoModel, text: "model 'x' not found"},
		{name: "code is a number", status: 400, body: `{"error":{"message":"bad","code":400}}`, kind: model.BadRequest, text: "bad"},
		{name: "message at the top", status: 422, body: `{"message":"no"}`, kind: model.BadRequest, text: "no"},
		{name: "the key comes back", status: 401, body: `{"error":{"message":"wrong key sk-very-secret-key, also sk-abcdefgh***wxyz"}}`, kind: model.Auth, text: "wrong key [key], also [key]"},
		{name: "payment", status: 402, kind: model.Quota, text: "Payment Required"},
		{name: "context of llama.cpp", status: 500, body: `{"error":{"message":"the request exceeds the available context size"}}`, kind: model.ContextTooLong, text: "the request exceeds the available context size"},
		{name: "seconds", status: 429, header: "1.5", kind: model.RateLimited, text: "Too Many Requests", wait: 1500 * time.Millisecond},
		{name: "1e9 seconds", status: 429, header: "1e9", kind: model.RateLimited, text: "Too Many Requests", wait: 365 * 24 * time.Hour},
		{name: "below zero", status: 429, header: "-5", kind: model.RateLimited, text: "Too Many Requests"},
		{name: "no number", status: 429, header: "NaN", kind: model.RateLimited, text: "Too Many Requests"},
		{name: "garbage", status: 429, header: "soon", kind: model.RateLimited, text: "Too Many Requests"},
		{name: "a date gone by", status: 429, header: "Mon, 02 Jan 2006 15:04:05 GMT", kind: model.RateLimited, text: "Too Many Requests"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			url := answers(t, func(w http.ResponseWriter, _ *http.Request) {
				if c.header != "" {
					w.Header().Set("Retry-After", c.header)
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			_, err := complete(t, url)
			if e := modelError(t, err); e.Kind != c.kind || e.Status != c.status || e.Text != c.text || e.RetryAfter != c.wait {
				t.Errorf("got %+v", e)
			}
		})
	}
}

func TestRetryAfterAsADate(t *testing.T) {
	url := answers(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
		w.Header().Set("X-Ratelimit-Remaining-Requests", "0")
		w.Header().Set("X-Ratelimit-Reset-Requests", "6m0s")
		w.Header().Set("X-Ratelimit-Remaining-Tokens", "many")
		w.WriteHeader(429)
	})
	_, err := complete(t, url)
	e := modelError(t, err)
	if e.RetryAfter < 59*time.Minute || e.RetryAfter > time.Hour {
		t.Errorf("wait %v", e.RetryAfter)
	}
	if want := (model.Limits{Requests: model.Limit{Known: true, Reset: 6 * time.Minute}}); e.Limits != want {
		t.Errorf("limits %+v", e.Limits)
	}
}

func TestErrorWithinAStream(t *testing.T) {
	for said, kind := range map[string]model.Kind{"Overloaded, come back": model.Overloaded, "it broke": model.Transport} {
		got, err := complete(t, says(t, `{"choices":[{"index":0,"delta":{"content":"hi"}}]}`, `{"error":{"message":"`+said+`"}}`))
		if e := modelError(t, err); e.Kind != kind || !e.Sent || got.Message.Text != "hi" || !got.Estimated {
			t.Errorf("got %+v, %+v", e, got)
		}
	}
}

// A reply that went on after its finish is whole, even where what follows is broken.
func TestWhatFollowsTheFinishMayBreak(t *testing.T) {
	got, err := complete(t, says(t, `{"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}`, `{"choices":`))
	if err != nil || got.Message.Text != "hi" || !got.Estimated {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestReplyIsBounded(t *testing.T) {
	url := answers(t, func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"more and more"}}]}`+"\n\n"); err != nil {
				return
			}
		}
	})
	p := parts(url)
	p.MaxBytes = 1 << 20
	got, err := client(t, p).Complete(t.Context(), hello(), nil)
	if e := modelError(t, err); e.Kind != model.BadRequest || !strings.Contains(e.Text, "too long") || len(got.Message.Text) > 1<<20 {
		t.Errorf("got %+v", e)
	}
}

// An endpoint where nobody listens is known as one to which nothing was sent.
func TestNobodyListens(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + listener.Addr().String() + "/v1"
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := complete(t, url)
	if e := modelError(t, err); e.Kind != model.Transport || e.Sent || e.Status != 0 || got.Usage != (model.Usage{}) {
		t.Errorf("got %+v, %+v", e, got.Usage)
	}
}

// A key is not carried to where an answer points.
func TestRedirectIsNotFollowed(t *testing.T) {
	asked := false
	other := answers(t, func(http.ResponseWriter, *http.Request) { asked = true })
	url := answers(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other, http.StatusTemporaryRedirect) })
	_, err := complete(t, url)
	if e := modelError(t, err); e.Kind != model.BadRequest || asked {
		t.Errorf("got %+v, asked %v", e, asked)
	}
}

func TestRequestsThatAreNotSent(t *testing.T) {
	url := says(t, done)
	object := json.RawMessage(`{"type":"object"}`)
	cases := map[string]func(*model.Request){
		"image":     func(r *model.Request) { r.Messages[1].Images = []tools.BlobRef{{SHA256: "x"}} },
		"no schema": func(r *model.Request) { r.Tools = []tools.Spec{{Name: "a"}} },
		"same name": func(r *model.Request) {
			r.Tools = []tools.Spec{{Name: "a", Params: object}, {Name: "a", Params: object}}
		},
		"unheard role": func(r *model.Request) { r.Messages[1].Role = "prophet" },
	}
	for name, change := range cases {
		for _, wire := range wires {
			req, p := hello(), parts(url)
			p.Wire = wire
			change(&req)
			_, err := client(t, p).Complete(t.Context(), req, nil)
			if e := modelError(t, err); e.Kind != model.BadRequest || e.Sent || e.Status != 0 {
				t.Errorf("%s, %s: %+v", name, wire, e)
			}
		}
	}
}

func TestCancelledBeforeItIsSent(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	got, err := client(t, parts(says(t, done))).Complete(ctx, hello(), nil)
	if e := modelError(t, err); e.Kind != model.Aborted || e.Sent || got.Usage != (model.Usage{}) {
		t.Errorf("got %+v", e)
	}
}

func TestNewRefuses(t *testing.T) {
	for name, change := range map[string]func(*openai.Parts){
		"no scheme":     func(p *openai.Parts) { p.BaseURL = "localhost:11434/v1" },
		"a file":        func(p *openai.Parts) { p.BaseURL = "file:///etc/passwd" },
		"a user":        func(p *openai.Parts) { p.BaseURL = "http://me:pw@host/v1" },
		"no first byte": func(p *openai.Parts) { p.FirstByte = 0 },
		"no idle":       func(p *openai.Parts) { p.Idle = 0 },
		"a wire":        func(p *openai.Parts) { p.Wire = "telex" },
		"a split key":   func(p *openai.Parts) { p.Key = "a\nb" },
	} {
		p := parts("http://127.0.0.1:1/v1")
		change(&p)
		if _, err := openai.New(p); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// Whatever a server sends, the client ends with a reply or a classified error, and no call is half.
func FuzzReply(f *testing.F) {
	f.Add(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":-1,"id":1}]},"finish_reason":"length"}],"usage":{"prompt_tokens":1e99}}`, 200)
	f.Add(`{"error":{"message":[],"code":{}}}`, 429)
	f.Add("[DONE]", 204)
	f.Fuzz(func(t *testing.T, event string, status int) {
		if status < 200 || status > 599 {
			return
		}
		p := parts("http://127.0.0.1:1/v1")
		p.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			body := "data: " + event + "\n\ndata: " + event + "\n\n"
			return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
		})
		got, err := client(t, p).Complete(t.Context(), hello(), nil)
		u := got.Usage
		if min(u.Fresh, u.Cached, u.CacheWrite, u.Output, u.Reasoning) < 0 || u.Reasoning > u.Output {
			t.Errorf("usage %+v", u)
		}
		if err != nil {
			if e := modelError(t, err); e.Kind == "" || e.Text == "" || len(got.Message.Calls) > 0 {
				t.Errorf("%+v with %+v", e, got)
			}
			return
		}
		for _, c := range got.Message.Calls {
			if c.ID == "" || (got.Finish == model.FinishLength && !json.Valid(c.Args)) {
				t.Errorf("call %+v", c)
			}
		}
	})
}
