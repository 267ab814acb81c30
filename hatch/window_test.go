package hatch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// What local servers say of a model's context is believed, and too little of it is refused with the command that raises it.
func TestLocalServersSayHowMuchContextTheyHave(t *testing.T) {
	cases := []struct {
		provider, path, answer string
		window                 int
		next                   string
	}{
		{"vllm", "/v1/models", `{"data":[{"id":"other","max_model_len":1},{"id":"m","max_model_len":8192}]}`, 8192, "vllm serve m --max-model-len 32768"},
		{"llamacpp", "/props", `{"default_generation_settings":{"n_ctx":4096}}`, 4096, "llama-server --ctx-size 32768"},
		{"lmstudio", "/props", `{"n_ctx":16384}`, 16384, "lms load m --context-length 32768"},
		{"ollama", "/api/show", `{"model_info":{"llama.context_length":8192}}`, 8192, "ollama show m"},
		{"vllm", "/v1/models", `{"data":[{"id":"m","max_model_len":65536}]}`, 65536, ""},
		{"vllm", "/nothing", ``, 0, ""},
		{"openai", "/v1/models", `{"data":[{"id":"m","max_model_len":8192}]}`, 0, ""}, // not the user's to set: not asked
	}
	for _, c := range cases {
		t.Run(fmt.Sprint(c.provider, c.window), func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != c.path {
					http.NotFound(w, r)
					return
				}
				_, _ = fmt.Fprint(w, c.answer)
			}))
			defer server.Close()
			m := chosen{provider: c.provider, name: "m", server: providerSettings{BaseURL: server.URL + "/v1"}}
			if c.provider == "ollama" {
				m.server.Wire, m.window = ollamaWire, 65536
			}
			colony := &Colony{models: map[string]chosen{"worker": m}}
			err := colony.fitWindows(context.Background())
			if got := colony.models["worker"].window; got != c.window {
				t.Errorf("window %d", got)
			}
			var problem *Problem
			switch {
			case c.next == "" && err != nil:
				t.Error(err)
			case c.next != "" && (!errors.As(err, &problem) || problem.Code != "small_context" || !strings.Contains(problem.Next, c.next)):
				t.Errorf("got %+v", err)
			}
		})
	}
}
