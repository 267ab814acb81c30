package scripted

import (
	"encoding/json"
	"fmt"

	"colony/model"
)

// chatting is the wire of Ollama's own chat: a line of JSON for each piece, calls without ids.
type chatting struct{}

func (chatting) read(body []byte) (request, error) {
	var a struct {
		Model    string `json:"model"`
		Stream   *bool  `json:"stream"`
		Tools    []tool `json:"tools"`
		Messages []struct {
			Role    string `json:"role"`
			Content string `json:"content"`
			Calls   []struct {
				Function struct {
					Name string          `json:"name"`
					Args json.RawMessage `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"messages"`
		Options struct {
			Context int64 `json:"num_ctx"`
			Predict int64 `json:"num_predict"`
		} `json:"options"`
	}
	if err := json.Unmarshal(body, &a); err != nil {
		return request{}, err
	}
	r := request{Model: a.Model, Stream: a.Stream == nil || *a.Stream, MaxTokens: a.Options.Predict, Tools: a.Tools, window: a.Options.Context}
	r.StreamOptions.IncludeUsage = true
	open := []string{}
	for i, m := range a.Messages {
		out := message{Role: m.Role, Content: content(m.Content)}
		for j, c := range m.Calls {
			if len(c.Function.Args) == 0 || c.Function.Args[0] != '{' {
				return request{}, fmt.Errorf("messages[%d]: the arguments of a call must be an object", i)
			}
			call := wireCall{ID: fmt.Sprintf("call_%d_%d", i, j)}
			call.Function.Name, call.Function.Arguments = c.Function.Name, string(c.Function.Args)
			out.ToolCalls = append(out.ToolCalls, call)
			open = append(open, call.ID)
		}
		if m.Role == "tool" && len(open) > 0 {
			out.ToolCallID, open = open[0], open[1:]
		}
		r.Messages = append(r.Messages, out)
	}
	return r, r.check()
}

// tell is a reply as Ollama streams it.
func (chatting) tell(r reply, counted *model.Usage) ([]string, string, error) {
	var lines []string
	var first error
	line := func(v map[string]any) string {
		v["model"], v["created_at"] = r.model, "2026-01-01T00:00:00Z"
		data, err := json.Marshal(v)
		if first == nil {
			first = err
		}
		return string(data) + "\n"
	}
	for _, p := range pieces(r.text) {
		lines = append(lines, line(map[string]any{"message": map[string]any{"role": "assistant", "content": p}, "done": false}))
	}
	for _, c := range r.calls {
		args := json.RawMessage(c.Function.Arguments)
		if !json.Valid(args) {
			args, _ = json.Marshal(c.Function.Arguments) // a string always is JSON
		}
		call := map[string]any{"function": map[string]any{"name": c.Function.Name, "arguments": args}}
		lines = append(lines, line(map[string]any{"message": map[string]any{"role": "assistant", "content": "", "tool_calls": []any{call}}, "done": false}))
	}
	reason := "stop"
	if r.finish == "length" {
		reason = "length"
	}
	last := map[string]any{"message": map[string]any{"role": "assistant", "content": ""}, "done": true, "done_reason": reason}
	if counted != nil {
		last["prompt_eval_count"], last["eval_count"] = counted.Input(), counted.Output
	}
	return lines, line(last), first
}

func (chatting) whole(reply, []string, string) any { return nil } // such a request is refused

func (chatting) refusal(_, text string) any { return map[string]any{"error": text} }

func (chatting) thought(string, string, int) string { return "" }
