package scripted

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"colony/model"
)

// messages is the wire of Messages, as strict as its provider.
type messages struct{}

// told is what is read of a Messages request.
type told struct {
	Model     string          `json:"model"`
	MaxTokens int64           `json:"max_tokens"`
	Stream    bool            `json:"stream"`
	System    json.RawMessage `json:"system"`
	Cache     json.RawMessage `json:"cache_control"`
	Tools     []struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"input_schema"`
		Cache  json.RawMessage `json:"cache_control"`
	} `json:"tools"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
}

// toldBlock is a block of a message.
type toldBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	Call      string          `json:"tool_use_id"`
	Content   content         `json:"content"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Cache     json.RawMessage `json:"cache_control"`
}

const mostMarks = 4

func (messages) read(body []byte) (request, error) {
	var a told
	if err := json.Unmarshal(body, &a); err != nil {
		return request{}, err
	}
	r := request{Model: a.Model, Stream: a.Stream, MaxTokens: a.MaxTokens, sealing: true}
	r.StreamOptions.IncludeUsage = true
	if a.MaxTokens < 1 {
		return request{}, fmt.Errorf("max_tokens: field required")
	}
	marks := 0
	for _, t := range a.Tools {
		if !strings.HasPrefix(strings.TrimSpace(string(t.Schema)), "{") {
			return request{}, fmt.Errorf("tools: input_schema: field required")
		}
		var named tool
		named.Function.Name = t.Name
		r.Tools = append(r.Tools, named)
		r.pass(string(t.Schema)+t.Name, t.Cache)
		marks += marked(t.Cache)
	}
	system, err := blocksOf(a.System)
	if err != nil {
		return request{}, fmt.Errorf("system: %w", err)
	}
	for _, b := range system {
		r.Messages = append(r.Messages, message{Role: "system", Content: content(b.Text)})
		r.pass(b.Text, b.Cache)
		marks += marked(b.Cache)
	}
	for i, m := range a.Messages {
		if (m.Role != "user" && m.Role != "assistant") || (i == 0 && m.Role != "user") {
			return request{}, fmt.Errorf("messages.%d: unexpected role %q", i, m.Role)
		}
		blocks, err := blocksOf(m.Content)
		if err != nil || len(blocks) == 0 {
			return request{}, fmt.Errorf("messages.%d: all messages must have non-empty content (%v)", i, err)
		}
		for j, b := range blocks {
			if err := r.takeBlock(m.Role, b); err != nil {
				return request{}, fmt.Errorf("messages.%d.content.%d: %w", i, j, err)
			}
			bare := b
			bare.Cache = nil
			raw, _ := json.Marshal(bare) // blocks that were read can be written
			top := a.Cache
			if i != len(a.Messages)-1 || j != len(blocks)-1 {
				top = nil
			}
			r.pass(m.Role+string(raw), append(b.Cache, top...))
			marks += marked(b.Cache)
		}
	}
	if marks+marked(a.Cache) > mostMarks {
		return request{}, fmt.Errorf("a maximum of %d blocks with cache_control may be provided", mostMarks)
	}
	if err := r.check(); err != nil {
		return request{}, err
	}
	return r, r.checkSigned()
}

func marked(raw json.RawMessage) int {
	if len(raw) > 0 && string(raw) != "null" {
		return 1
	}
	return 0
}

// blocksOf is content, written as blocks or as a text.
func blocksOf(raw json.RawMessage) ([]toldBlock, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []toldBlock{{Type: "text", Text: text}}, nil
	}
	var blocks []toldBlock
	return blocks, json.Unmarshal(raw, &blocks)
}

var callID = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// takeBlock appends a block to the conversation: all that the model said at once is one message.
func (r *request) takeBlock(role string, b toldBlock) error {
	switch {
	case b.Type == "text" && strings.TrimSpace(b.Text) == "":
		return fmt.Errorf("text content blocks must contain non-whitespace text")
	case b.Type == "text" && role == "assistant":
		r.said().Content += content(b.Text)
	case b.Type == "text":
		r.Messages = append(r.Messages, message{Role: "user", Content: content(b.Text)})
	case b.Type == "tool_result" && role == "user":
		r.Messages = append(r.Messages, message{Role: "tool", ToolCallID: b.Call, Content: b.Content})
	case b.Type == "thinking" && role == "assistant":
		r.said().thought += b.Signature + "\n" + b.Thinking + "\n"
	case b.Type == "tool_use" && role == "assistant":
		if !callID.MatchString(b.ID) || !strings.HasPrefix(string(b.Input), "{") {
			return fmt.Errorf("tool_use: the id %q or the input is not valid", b.ID)
		}
		call := wireCall{ID: b.ID}
		call.Function.Name, call.Function.Arguments = b.Name, string(b.Input)
		r.said().ToolCalls = append(r.said().ToolCalls, call)
	default:
		return fmt.Errorf("a block of the type %q is not valid for %s", b.Type, role)
	}
	return nil
}

// checkSigned refuses a thought of which a letter was changed or that is out of order.
func (r request) checkSigned() error {
	card, task := r.who()
	last := -1
	for _, m := range r.Messages {
		if m.thought == "" {
			continue
		}
		n := 0
		if _, err := fmt.Sscanf(m.thought, "sig_%d_", &n); err != nil || n <= last {
			return fmt.Errorf("invalid signature in thinking block")
		}
		text, signature := signed(card, task, n)
		if m.thought != signature+"\n"+text+"\n" {
			return fmt.Errorf("invalid signature in thinking block")
		}
		last = n
	}
	return nil
}

// signed is the thought before the nth reply, and its signature.
func signed(card, task string, n int) (text, signature string) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %d", card, task, n))
	return fmt.Sprintf("I think, for the %dth time: <&\u2028é>", n), fmt.Sprintf("sig_%d_%s", n, base64.StdEncoding.EncodeToString(sum[:]))
}

// tell is a reply as Messages streams it. Usage in message_delta is that of the whole reply.
func (messages) tell(r reply, counted *model.Usage) ([]string, string, error) {
	var e events
	event := func(name string, fields map[string]any) {
		fields["type"] = name
		e.add(name, fields)
	}
	begun, whole := any(nil), any(nil)
	if counted != nil {
		begun = messagesUsage(*counted, min(counted.Output, 1), true)
		whole = messagesUsage(*counted, counted.Output, false)
	}
	event("message_start", map[string]any{"message": map[string]any{
		"id": "msg_" + r.id, "type": "message", "role": "assistant", "model": r.model, "content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": begun,
	}})
	e.add("ping", map[string]any{"type": "ping"})
	at := 0
	block := func(start map[string]any, deltas ...map[string]any) {
		event("content_block_start", map[string]any{"index": at, "content_block": start})
		for _, d := range deltas {
			event("content_block_delta", map[string]any{"index": at, "delta": d})
		}
		event("content_block_stop", map[string]any{"index": at})
		at++
	}
	if r.sealed != "" {
		signature, text, _ := strings.Cut(r.sealed, "\n")
		block(map[string]any{"type": "thinking", "thinking": "", "signature": ""},
			map[string]any{"type": "thinking_delta", "thinking": text}, map[string]any{"type": "signature_delta", "signature": signature})
	}
	if r.text != "" {
		var deltas []map[string]any
		for _, p := range pieces(r.text) {
			deltas = append(deltas, map[string]any{"type": "text_delta", "text": p})
		}
		block(map[string]any{"type": "text", "text": ""}, deltas...)
	}
	for _, c := range r.calls {
		args := c.Function.Arguments
		head := upTo(args, len(args)/2)
		block(map[string]any{"type": "tool_use", "id": c.ID, "name": c.Function.Name, "input": map[string]any{}},
			map[string]any{"type": "input_json_delta", "partial_json": head}, map[string]any{"type": "input_json_delta", "partial_json": args[len(head):]})
	}
	event("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stopReasons[r.finish], "stop_sequence": nil}, "usage": whole})
	return e.list, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n", e.err
}

var stopReasons = map[string]string{"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"}

// messagesUsage is what is counted so far; by how long it is kept is said only where the reply begins.
func messagesUsage(u model.Usage, output int64, kept bool) any {
	all := map[string]any{
		"input_tokens": u.Fresh, "cache_read_input_tokens": u.Cached, "cache_creation_input_tokens": u.CacheWrite,
		"output_tokens": output, "output_tokens_details": map[string]any{"thinking_tokens": u.Reasoning},
	}
	if kept {
		all["cache_creation"] = map[string]any{"ephemeral_5m_input_tokens": u.CacheWrite - u.CacheWriteLong, "ephemeral_1h_input_tokens": u.CacheWriteLong}
	}
	return all
}

func (messages) whole(reply, []string, string) any { return nil } // such a request is refused

func (messages) refusal(code, text string) any {
	return map[string]any{"type": "error", "error": map[string]any{"type": code, "message": text}}
}

func (messages) thought(card, task string, n int) string {
	text, signature := signed(card, task, n)
	return signature + "\n" + text
}
