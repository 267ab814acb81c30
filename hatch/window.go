package hatch

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// leastWindow is the context that an ant needs: its tools and rules take a part of it, and a file or two have to fit.
const leastWindow = 32768

// askLimit bounds the question to a local server how much context a model has.
const askLimit = 2 * time.Second

// fitWindows asks local servers how much context their models have, and refuses one that is too small for an ant.
func (c *Colony) fitWindows(ctx context.Context) error {
	for card, m := range c.models {
		if told := c.told(ctx, m); told > 0 && (m.window == 0 || told < m.window) {
			m.window = told
			c.models[card] = m
		}
		if m.window > 0 && m.window < leastWindow && c.local(m) {
			return &Problem{
				Exit: 2, Code: "small_context", Message: fmt.Sprintf("%s has %d tokens of context, and an ant needs %d", m, m.window, leastWindow), Next: m.widen(),
			}
		}
	}
	return nil
}

// local reports whether a provider's context is its user's to set.
func (c *Colony) local(m chosen) bool {
	switch m.provider {
	case "ollama", "llamacpp", "lmstudio", "vllm":
		return true
	}
	return m.server.wire() == ollamaWire
}

// widen is the command that gives a model more context.
func (m chosen) widen() string {
	switch {
	case m.provider == "llamacpp":
		return fmt.Sprintf("start it with llama-server --ctx-size %d", leastWindow)
	case m.provider == "lmstudio":
		return fmt.Sprintf("lms load %s --context-length %d", m.name, leastWindow)
	case m.provider == "vllm":
		return fmt.Sprintf("vllm serve %s --max-model-len %d", m.name, leastWindow)
	case m.server.Window > 0 && m.server.Window < leastWindow:
		return fmt.Sprintf("set providers.%s.window to %d in your config.yaml", m.provider, leastWindow)
	}
	return fmt.Sprintf("choose a model that was made for more: ollama show %s says what it takes; for others OLLAMA_CONTEXT_LENGTH=%d ollama serve", m.name, leastWindow)
}

// told is the context that a local server says a model has; 0 where it does not say it, or does not answer.
func (c *Colony) told(ctx context.Context, m chosen) int {
	base := strings.TrimRight(m.server.BaseURL, "/")
	root := strings.TrimSuffix(base, "/v1")
	switch {
	case !c.local(m):
		return 0
	case m.server.wire() == ollamaWire:
		var shown struct {
			Info map[string]any `json:"model_info"`
		}
		m.fetch(ctx, http.MethodPost, root+"/api/show", map[string]string{"model": m.name}, &shown)
		for key, value := range shown.Info {
			if n, ok := value.(float64); ok && strings.HasSuffix(key, ".context_length") {
				return int(n)
			}
		}
		return 0
	}
	var list struct {
		Data []struct {
			ID  string `json:"id"`
			Max int    `json:"max_model_len"`
		} `json:"data"`
	}
	m.fetch(ctx, http.MethodGet, base+"/models", nil, &list)
	for _, one := range list.Data {
		if one.ID == m.name && one.Max > 0 {
			return one.Max
		}
	}
	var props struct {
		Settings struct {
			Context int `json:"n_ctx"`
		} `json:"default_generation_settings"`
		Context int `json:"n_ctx"`
	}
	m.fetch(ctx, http.MethodGet, root+"/props", nil, &props)
	return cmp.Or(props.Settings.Context, props.Context)
}

// fetch reads a JSON answer into what; whatever goes wrong leaves it as it is.
func (m chosen) fetch(ctx context.Context, method, url string, body, what any) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	var sent io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return
		}
		sent = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, url, sent)
	if err != nil {
		return
	}
	if m.key != "" {
		req.Header.Set("Authorization", "Bearer "+m.key)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	reply, err := client.Do(req)
	if err != nil {
		return
	}
	defer reply.Body.Close()
	if reply.StatusCode == http.StatusOK {
		_ = json.NewDecoder(io.LimitReader(reply.Body, 1<<20)).Decode(what) // what is no JSON says nothing
	}
}
