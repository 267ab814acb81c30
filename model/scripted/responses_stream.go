package scripted

import (
	"encoding/json"
	"fmt"
	"strings"

	"colony/model"
)

// telling is a reply on its way over the wire of Responses.
type telling struct {
	events
	output []any // the items that are complete
}

// event appends one of the numbered events.
func (t *telling) event(name string, fields map[string]any) {
	fields["type"], fields["sequence_number"] = name, len(t.list)
	t.add(name, fields)
}

// done ends an item; raw is how it stands in the event, byte for byte.
func (t *telling) done(raw string) {
	t.list = append(t.list, fmt.Sprintf("event: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"sequence_number\":%d,\"output_index\":%d,\"item\":%s}\n\n", len(t.list), len(t.output), raw))
	t.output = append(t.output, json.RawMessage(raw))
}

// tell is a reply as Responses streams it. Only the last event counts tokens.
func (responses) tell(r reply, counted *model.Usage) ([]string, string, error) {
	var t telling
	t.event("response.created", map[string]any{"response": r.whole(&t, "in_progress", nil)})
	t.event("response.in_progress", map[string]any{"response": r.whole(&t, "in_progress", nil)})
	if r.sealed != "" {
		t.event("response.output_item.added", map[string]any{"output_index": 0, "item": map[string]any{"type": "reasoning", "id": "rs", "summary": []any{}}})
		t.done(r.sealed)
	}
	if r.text != "" {
		t.speak(r)
	}
	for i, c := range r.calls {
		t.call(c, r.finish == "length" && i == len(r.calls)-1)
	}
	status := "completed"
	if r.finish == "length" || r.finish == "content_filter" {
		status = "incomplete"
	}
	t.event("response."+status, map[string]any{"response": r.whole(&t, status, counted)})
	last := len(t.list) - 1
	return t.list[:last], t.list[last], t.err
}

func (t *telling) speak(r reply) {
	at := len(t.output)
	text := func(s string) map[string]any {
		return map[string]any{"type": "output_text", "text": s, "annotations": []any{}}
	}
	item := func(status string, parts ...any) map[string]any {
		return map[string]any{"type": "message", "id": fmt.Sprintf("msg_%d", at), "role": "assistant", "status": status, "content": parts}
	}
	t.event("response.output_item.added", map[string]any{"output_index": at, "item": item("in_progress")})
	t.event("response.content_part.added", map[string]any{"output_index": at, "content_index": 0, "part": text("")})
	for _, p := range pieces(r.text) {
		t.event("response.output_text.delta", map[string]any{"output_index": at, "content_index": 0, "delta": p})
	}
	t.event("response.output_text.done", map[string]any{"output_index": at, "content_index": 0, "text": r.text})
	t.event("response.content_part.done", map[string]any{"output_index": at, "content_index": 0, "part": text(r.text)})
	t.doneAs(item("completed", text(r.text)))
}

func (t *telling) call(c wireCall, half bool) {
	at, args := len(t.output), c.Function.Arguments
	item := func(status, args string) map[string]any {
		return map[string]any{"type": "function_call", "id": "fc_" + c.ID, "call_id": c.ID, "name": c.Function.Name, "arguments": args, "status": status}
	}
	t.event("response.output_item.added", map[string]any{"output_index": at, "item": item("in_progress", "")})
	head := upTo(args, len(args)/2)
	for _, p := range []string{head, args[len(head):]} {
		t.event("response.function_call_arguments.delta", map[string]any{"output_index": at, "delta": p})
	}
	if half {
		t.doneAs(item("incomplete", args))
		return
	}
	t.event("response.function_call_arguments.done", map[string]any{"output_index": at, "arguments": args})
	t.doneAs(item("completed", args))
}

func (t *telling) doneAs(item any) {
	data, err := json.Marshal(item)
	if t.err == nil {
		t.err = err
	}
	t.done(string(data))
}

// whole is the response as events carry it.
func (r reply) whole(t *telling, status string, counted *model.Usage) any {
	body := map[string]any{
		"id": "resp_scripted", "object": "response", "created_at": 0, "model": r.model, "status": status,
		"output": append([]any{}, t.output...), "error": nil, "incomplete_details": nil, "usage": nil,
	}
	switch {
	case status != "incomplete":
	case r.finish == "length":
		body["incomplete_details"] = map[string]any{"reason": "max_output_tokens"}
	default:
		body["incomplete_details"] = map[string]any{"reason": "content_filter"}
	}
	if counted != nil {
		body["usage"] = map[string]any{
			"input_tokens": counted.Input(), "output_tokens": counted.Output, "total_tokens": counted.Total(),
			"input_tokens_details":  map[string]any{"cached_tokens": counted.Cached, "cache_write_tokens": counted.CacheWrite},
			"output_tokens_details": map[string]any{"reasoning_tokens": counted.Reasoning},
		}
	}
	return body
}

// whole is a reply that comes at once: the response of the last event.
func (responses) whole(_ reply, _ []string, last string) any {
	_, data, _ := strings.Cut(last, "data: ")
	var event struct {
		Response json.RawMessage `json:"response"`
	}
	_ = json.Unmarshal([]byte(data), &event) // one of our own
	return event.Response
}
