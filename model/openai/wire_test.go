package openai_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"colony/model"
	"colony/model/openai"
	"colony/tools"
)

// received answers with a short reply and hands out what came.
func received(t *testing.T, got *map[string]any, header *http.Header) string {
	return answers(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, got); err != nil {
			t.Error(err)
		}
		*header = r.Header
		_, _ = fmt.Fprintf(w, "data: %s\n\n", `{"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}`)
	})
}

// Nothing of the environment reaches the wire, and nothing that other servers may not know.
func TestRequestOnTheWire(t *testing.T) {
	for _, name := range []string{"API_KEY", "ORG_ID", "PROJECT_ID", "ADMIN_KEY", "WEBHOOK_SECRET"} {
		t.Setenv("OPENAI_"+name, "leaked")
	}
	t.Setenv("OPENAI_BASE_URL", "http://leaked.invalid")
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Leaked: leaked")
	var body map[string]any
	var header http.Header
	p := parts(received(t, &body, &header))
	req := hello()
	req.OutputLimit, req.Effort, req.CacheKey = 77, "low", "worker"
	for _, key := range []string{"the-key", ""} {
		p.Key = key
		if _, err := client(t, p).Complete(t.Context(), req, nil); err != nil {
			t.Fatal(err)
		}
		if all := fmt.Sprint(header, body); strings.Contains(strings.ToLower(all), "leaked") {
			t.Errorf("the environment is in %s", all)
		}
		want := ""
		if key != "" {
			want = "Bearer " + key
		}
		if got := header.Get("Authorization"); got != want {
			t.Errorf("authorization %q", got)
		}
	}
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"max_tokens":77,"messages":[{"content":"s","role":"system"},{"content":"u","role":"user"}],"model":"any","reasoning_effort":"low","stream":true,"stream_options":{"include_usage":true}}`
	if string(data) != want {
		t.Errorf("got  %s\nwant %s", data, want)
	}
}

// roundTrip is the network.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// OpenAI's own endpoint is spoken to in Responses unless another wire is set, whatever its region; no other is.
func TestOfficialEndpoint(t *testing.T) {
	cases := []struct {
		base string
		wire openai.Wire
		path string
		has  string
		not  string
	}{
		{"https://api.openai.com/v1", "", "/v1/responses", `"prompt_cache_key":"worker"`, `"max_tokens"`},
		{"https://api.openai.com/v1", "", "/v1/responses", `"reasoning":{"summary":"auto"}`, `"effort"`},
		{"https://EU.api.openai.com/v1", "", "/v1/responses", `"prompt_cache_key":"worker"`, `"max_tokens"`},
		{"https://api.openai.com/v1", openai.Chat, "/v1/chat/completions", `"max_completion_tokens":77`, `"max_tokens"`},
		{"https://api.openai.com/v1", openai.Chat, "/v1/chat/completions", `"prompt_cache_key":"worker"`, `"max_tokens"`},
		{"https://api.openai.com.example.test/v1", "", "/v1/chat/completions", `"max_tokens":77`, `"prompt_cache_key"`},
		{"https://fakeapi.openai.com/v1", "", "/v1/chat/completions", `"max_tokens":77`, `"prompt_cache_key"`},
		{"https://example.test/v1", openai.Responses, "/v1/responses", `"max_output_tokens":77`, `"prompt_cache_key"`},
	}
	for _, c := range cases {
		var body, path string
		p := parts(c.base)
		p.Wire = c.wire
		p.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			data, err := io.ReadAll(r.Body)
			body, path = string(data), r.URL.Path
			return nil, errors.Join(err, &net.OpError{Op: "dial", Err: errors.New("no network here")})
		})
		req := hello()
		req.OutputLimit, req.CacheKey = 77, "worker"
		_, err := client(t, p).Complete(t.Context(), req, nil)
		if e := modelError(t, err); e.Kind != model.Transport || e.Sent {
			t.Errorf("%s: got %+v", c.base, e)
		}
		if path != c.path || !strings.Contains(body, c.has) || strings.Contains(body, c.not) {
			t.Errorf("%s: %s got %s", c.base, path, body)
		}
	}
}

// A tool has a name that the wire allows, the same in every request, and its own in the registry.
func TestToolNamesAreReversible(t *testing.T) {
	names := []string{"read", "mcp__git.hub__list", "mcp__git_hub__list", "mcp__git-hub__list", "ünï", "a b", "", strings.Repeat("long_", 20) + "1", strings.Repeat("long_", 20) + "2"}
	req := hello()
	for _, name := range names {
		req.Tools = append(req.Tools, tools.Spec{Name: name, Params: json.RawMessage(`{"type":"object"}`)})
	}
	url := answers(t, func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Tools []struct{ Function struct{ Name string } }
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		for i, tool := range body.Tools {
			name := tool.Function.Name
			if name == "" || len(name) > 64 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
				t.Errorf("%q on the wire", name)
			}
			_, _ = fmt.Fprintf(w, "data: %s\n\n", calls(fmt.Sprintf(`{"index":%d,"id":"c%d","function":{"name":%q,"arguments":"{}"}}`, i, i, name)))
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\n", endCalls)
	})
	got, err := client(t, parts(url)).Complete(t.Context(), req, nil)
	if err != nil || len(got.Message.Calls) != len(names) {
		t.Fatalf("%d calls, %v", len(got.Message.Calls), err)
	}
	for i, c := range got.Message.Calls {
		if c.Name != names[i] {
			t.Errorf("%q came back as %q", names[i], c.Name)
		}
	}
}

// law 12: what was sent before is sent again byte for byte, and what is new comes after it.
func TestPromptsOnlyGrow(t *testing.T) {
	var bodies []string
	url := answers(t, func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Messages, Tools json.RawMessage }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		bodies = append(bodies, string(body.Tools)+strings.TrimSuffix(string(body.Messages), "]"))
		_, _ = fmt.Fprintf(w, "data: %s\n\n", calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{ \"b\":1, \"a\": 2 }"}}`))
		_, _ = fmt.Fprintf(w, "data: %s\n\n", endCalls)
	})
	req := hello()
	req.Tools = []tools.Spec{{Name: "read", Params: json.RawMessage(`{"type":"object","properties":{"z":{},"a":{}}}`)}}
	c := client(t, parts(url))
	for range 5 {
		got, err := c.Complete(t.Context(), req, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Messages = append(req.Messages, got.Message, model.Message{Role: model.Tool, CallID: "a", Text: "r"})
	}
	for i := 1; i < len(bodies); i++ {
		if !strings.HasPrefix(bodies[i], bodies[i-1]) {
			t.Errorf("%s\ndoes not begin with\n%s", bodies[i], bodies[i-1])
		}
	}
}

// A server knows the key: what it says must not carry it into the log, a file or another sink.
func TestKeyDoesNotComeBack(t *testing.T) {
	const key = "a-key-of-some-length"
	p := parts(answers(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, "data: %s\n\n", `{"choices":[{"index":0,"delta":{"content":"it is `+key+`","tool_calls":[{"index":0,"id":"`+key+
			`","function":{"name":"`+key+`","arguments":"{\"content\":\"`+key+`\"}"}}]},"finish_reason":"tool_calls"}]}`)
	}))
	p.Key = key
	reply, err := client(t, p).Complete(t.Context(), hello(), nil)
	if err != nil || len(reply.Message.Calls) != 1 {
		t.Fatal(reply, err)
	}
	if all := fmt.Sprint(reply.Message.Text, reply.Message.Calls[0].ID, reply.Message.Calls[0].Name, string(reply.Message.Calls[0].Args)); strings.Contains(all, key) {
		t.Error(all)
	}
}
