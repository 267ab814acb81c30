package scripted

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"colony/model"
)

// reply is one turn made ready for the wire.
type reply struct {
	model  string
	text   string
	calls  []wireCall
	finish string
	usage  model.Usage
	id     string
	sealed string // a thought that the reader carries back; empty where the wire knows none
}

// compose makes the reply to a request of which the body has size bytes. A reply over the request's limit is
// cut as a provider cuts it: with a half call at its end, if need be.
func compose(req request, t Turn, size, answered int, format wire) (reply, error) {
	r := reply{model: req.Model, id: fmt.Sprint(answered), text: t.Text, finish: t.Finish}
	bytes := len(t.Text)
	for i, c := range t.Calls {
		args, err := c.arguments()
		if err != nil {
			return r, err
		}
		w := wireCall{Index: &i, ID: fmt.Sprintf("call_%d_%d", answered, i), Type: "function"}
		w.Function.Name, w.Function.Arguments = c.Tool, args
		r.calls = append(r.calls, w)
		bytes += len(c.Tool) + len(args)
	}
	if r.finish == "" {
		r.finish = "stop"
		if len(r.calls) > 0 {
			r.finish = "tool_calls"
		}
	}
	output := max(model.EstimateTokens(bytes), 1)
	if t.Tokens.Output != nil {
		output = *t.Tokens.Output
	}
	if limit := req.limit(); limit > 0 && output > limit {
		output, r.finish = limit, "length"
		r.text = upTo(r.text, int(limit*4))
	}
	if r.finish == "length" {
		r.halve()
	}
	r.usage = usage(t.Tokens, size, output)
	if card, task := req.who(); req.sealing && r.usage.Reasoning > 0 {
		r.sealed = format.thought(card, task, answered)
	}
	return r, nil
}

func usage(t Tokens, size int, output int64) model.Usage {
	input := model.EstimateTokens(size)
	if t.Input != nil {
		input = *t.Input
	}
	cached := min(t.Cached, input)
	written := min(t.CacheWrite, input-cached)
	return model.Usage{Fresh: input - cached - written, Cached: cached, CacheWrite: written, Output: output, Reasoning: min(t.Reasoning, output)}
}

// halve leaves the last call half said.
func (r *reply) halve() {
	if len(r.calls) > 0 {
		last := &r.calls[len(r.calls)-1].Function
		last.Arguments = upTo(last.Arguments, len(last.Arguments)/2)
	}
}

// spoil makes the arguments of the last call what a fault makes of them.
func (r *reply) spoil(kind string) {
	if len(r.calls) == 0 {
		return
	}
	last := &r.calls[len(r.calls)-1].Function
	switch kind {
	case kindHalfArgs:
		r.halve()
	case kindBadArgs:
		last.Arguments = "{oops " + last.Arguments
	}
}

func upTo(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// delta is what one chunk adds.
type delta struct {
	Role      string     `json:"role,omitempty"`
	Content   string     `json:"content,omitempty"`
	ToolCalls []wireCall `json:"tool_calls,omitempty"`
}

const piece = 24 // bytes of text in a chunk

func pieces(text string) []string {
	var all []string
	for text != "" {
		head := upTo(text, piece)
		if head == "" {
			head = text
		}
		all = append(all, head)
		text = text[len(head):]
	}
	return all
}

// deltas is the reply in pieces; the pieces of several calls come in turns.
func (r reply) deltas() []delta {
	all := []delta{{Role: "assistant"}}
	for _, text := range pieces(r.text) {
		all = append(all, delta{Content: text})
	}
	var tails []delta
	for _, c := range r.calls {
		whole := c.Function.Arguments
		head := upTo(whole, len(whole)/2)
		c.Function.Arguments = head
		all = append(all, delta{ToolCalls: []wireCall{c}})
		tail := wireCall{Index: c.Index}
		tail.Function.Arguments = whole[len(head):]
		tails = append(tails, delta{ToolCalls: []wireCall{tail}})
	}
	return append(all, tails...)
}

// events is what goes over the wire, one after the other.
type events struct {
	list []string
	err  error // the first
}

// add appends an event; one without a name has none on the wire either.
func (e *events) add(name string, body any) {
	data, err := json.Marshal(body)
	if e.err == nil {
		e.err = err
	}
	if name != "" {
		name = "event: " + name + "\n"
	}
	e.list = append(e.list, fmt.Sprintf("%sdata: %s\n\n", name, data))
}

// tell is a reply as Chat Completions streams it.
func (chat) tell(r reply, counted *model.Usage) ([]string, string, error) {
	var e events
	for _, d := range r.deltas() {
		e.add("", r.chunk([]any{choice{Delta: d}}, nil))
	}
	e.add("", r.chunk([]any{choice{Finish: &r.finish}}, nil))
	if counted != nil {
		e.add("", r.chunk([]any{}, wireUsage(*counted)))
	}
	return e.list, "data: [DONE]\n\n", e.err
}

// whole is a reply that comes at once; what it counts stands in the last of the events.
func (chat) whole(r reply, events []string, _ string) any {
	var counted struct {
		Usage json.RawMessage `json:"usage"`
	}
	_ = json.Unmarshal([]byte(strings.TrimPrefix(events[len(events)-1], "data: ")), &counted) // one of our own
	said := map[string]any{"role": "assistant", "content": r.text}
	if len(r.calls) > 0 {
		said["tool_calls"] = r.calls
	}
	return map[string]any{
		"id": "chatcmpl-scripted", "object": "chat.completion", "created": 0, "model": r.model, "usage": counted.Usage,
		"choices": []any{map[string]any{"index": 0, "message": said, "finish_reason": r.finish}},
	}
}

func (chat) refusal(code, text string) any { return openAIRefusal(code, text) }

func (chat) thought(string, string, int) string { return "" }

type choice struct {
	Index  int     `json:"index"`
	Delta  delta   `json:"delta"`
	Finish *string `json:"finish_reason"`
}

func (r reply) chunk(choices []any, usage any) any {
	return map[string]any{
		"id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 0, "model": r.model, "choices": choices, "usage": usage,
	}
}

func wireUsage(u model.Usage) any {
	return map[string]any{
		"prompt_tokens": u.Input(), "completion_tokens": u.Output, "total_tokens": u.Total(),
		"prompt_tokens_details":     map[string]any{"cached_tokens": u.Cached, "cache_write_tokens": u.CacheWrite},
		"completion_tokens_details": map[string]any{"reasoning_tokens": u.Reasoning},
	}
}
