package anthropic

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"

	"colony/model"
	"colony/model/wire"
	"colony/tools"
)

// reply gathers a streamed reply.
type reply struct {
	*wire.Heard
	model  string
	id     string
	blocks map[int64]*piece
	spoke  int64
	used   used
}

// used is the usage so far: every count is that of the whole reply, so the last one holds.
type used struct{ fresh, read, written, long, output, thought int64 }

// piece is a block while it comes.
type piece struct {
	kind, id, name  string
	text            strings.Builder // of a thought, a text, or arguments
	signature, data string
	ended           bool
}

func (r *reply) add(e sdk.MessageStreamEventUnion) {
	switch e.Type {
	case "message_start":
		r.id = e.Message.ID
		r.begun(e.Message)
	case "content_block_start":
		r.Begin()
		r.open(e)
	case "content_block_delta":
		r.Begin()
		r.grow(e)
	case "content_block_stop":
		r.Pace(true)
		if b := r.blocks[e.Index]; b != nil {
			b.ended = true
		}
	case "message_delta":
		r.counted(e.Usage)
		r.ended(e.Delta.StopReason)
	}
}

// begun reads what is known before anything is said.
func (r *reply) begun(m sdk.Message) {
	r.Pace(true)
	u := m.Usage
	r.Served = string(u.ServiceTier)
	if u.Speed == "fast" {
		r.Served = "fast"
	}
	r.used = used{fresh: u.InputTokens, read: u.CacheReadInputTokens, output: u.OutputTokens, thought: u.OutputTokensDetails.ThinkingTokens}
	r.used.long = u.CacheCreation.Ephemeral1hInputTokens
	r.used.written = max(u.CacheCreationInputTokens, u.CacheCreation.Ephemeral5mInputTokens+r.used.long)
	var told struct {
		Diagnostics struct {
			Reason struct {
				Type   string `json:"type"`
				Missed int64  `json:"cache_missed_input_tokens"`
			} `json:"cache_miss_reason"`
		} `json:"diagnostics"`
	}
	_ = json.Unmarshal([]byte(m.RawJSON()), &told) // what is missing or of another type says nothing
	r.Missed(told.Diagnostics.Reason.Type, told.Diagnostics.Reason.Missed)
	r.sum()
}

// counted takes the counts that are there: each is the whole reply's.
func (r *reply) counted(u sdk.MessageDeltaUsage) {
	r.used.output = max(r.used.output, u.OutputTokens)
	if u.JSON.InputTokens.Valid() {
		r.used.fresh = u.InputTokens
	}
	if u.JSON.CacheReadInputTokens.Valid() {
		r.used.read = u.CacheReadInputTokens
	}
	if u.JSON.CacheCreationInputTokens.Valid() && u.CacheCreationInputTokens > 0 {
		r.used.written = u.CacheCreationInputTokens
	}
	if u.JSON.OutputTokensDetails.Valid() {
		r.used.thought = u.OutputTokensDetails.ThinkingTokens
	}
	r.sum()
}

func (r *reply) sum() {
	u := r.used
	r.Usage = wire.UsageBeside(u.fresh, u.read, u.written, u.output, u.thought)
	r.Usage.CacheWriteLong = min(max(u.long, 0), r.Usage.CacheWrite)
}

// ended reads why the reply ended. A window that is full is a fault of the request, not an answer.
func (r *reply) ended(reason sdk.StopReason) {
	switch reason {
	case "":
	case sdk.StopReasonMaxTokens:
		r.Reason = wire.Cut
	case sdk.StopReasonRefusal:
		r.Reason = wire.Filtered
	case sdk.StopReasonModelContextWindowExceeded:
		r.Failed = &model.Error{Kind: model.ContextTooLong, Text: "the context window was full before the reply ended"}
	default:
		r.Reason = wire.Stopped
	}
}

func (r *reply) open(e sdk.MessageStreamEventUnion) {
	if r.blocks == nil {
		r.blocks = map[int64]*piece{}
	}
	c := e.ContentBlock
	b := &piece{kind: c.Type, id: c.ID, name: c.Name, signature: c.Signature, data: c.Data}
	r.blocks[e.Index] = b
	r.Pace(c.Type == "thinking" || c.Type == "redacted_thinking")
	switch c.Type {
	case "text":
		r.speak(e.Index, b, c.Text)
	case "thinking":
		b.text.WriteString(c.Thinking)
	case "tool_use":
		r.Bytes += len(b.name)
		var whole struct {
			Input json.RawMessage `json:"input"`
		}
		_ = json.Unmarshal([]byte(c.RawJSON()), &whole) // arguments that come in pieces are not there
		if text := string(whole.Input); text != "{}" && wire.IsObject(text) {
			b.text.WriteString(text)
		}
	}
}

func (r *reply) grow(e sdk.MessageStreamEventUnion) {
	b := r.blocks[e.Index]
	if b == nil {
		return
	}
	switch e.Delta.Type {
	case "text_delta":
		r.speak(e.Index, b, e.Delta.Text)
	case "input_json_delta":
		b.text.WriteString(e.Delta.PartialJSON)
		r.Bytes += len(e.Delta.PartialJSON)
	case "thinking_delta":
		b.text.WriteString(e.Delta.Thinking)
		r.Think(e.Delta.Thinking)
	case "signature_delta":
		b.signature += e.Delta.Signature
	}
}

// speak sets the texts of two blocks apart.
func (r *reply) speak(at int64, b *piece, text string) {
	if text == "" {
		return
	}
	if r.Said() && at != r.spoke {
		r.Say("\n\n")
	}
	r.spoke = at
	r.Say(text)
	b.text.WriteString(text)
}

// finish is the reply as the conversation holds it. After a cut for length the last call is a half one.
func (r *reply) finish(names *wire.Names) model.Reply {
	var calls []tools.Call
	var items []wire.Kept
	ids, plain := wire.IDs{}, true
	for i, at := range slices.Sorted(maps.Keys(r.blocks)) {
		b := r.blocks[at]
		switch b.kind {
		case "tool_use":
			if r.Reason == wire.Cut && (!b.ended || !json.Valid(wire.ArgsOf(b.text.String()))) {
				continue
			}
			n := len(calls)
			calls = append(calls, tools.Call{ID: ids.Give(b.id, i), Name: names.Tool(b.name), Args: wire.ArgsOf(b.text.String())})
			items = append(items, wire.Kept{Call: &n})
		case "thinking", "redacted_thinking":
			if kept, ok := b.thought(); ok {
				items, plain = append(items, kept), false
			}
		case "text":
			if one, err := texts(b.text.String()); err == nil && len(one) > 0 {
				items = append(items, wire.Kept{Raw: string(one[0])})
			}
		}
	}
	if r.Reason == "" {
		r.Partly, r.Usage.Output = true, max(r.Usage.Output, model.EstimateTokens(r.Bytes))
	}
	if plain && (r.id == "" || len(items) == 0) {
		items = nil
	}
	return r.As(calls, wire.Pack(Messages, r.model, r.id, items))
}

// thought is a block that only its own model can read; it goes back as it came.
func (b *piece) thought() (wire.Kept, bool) {
	var v any = struct {
		Type      string `json:"type"`
		Thinking  string `json:"thinking"`
		Signature string `json:"signature"`
	}{b.kind, b.text.String(), b.signature}
	if b.kind == "redacted_thinking" {
		v = struct {
			Type string `json:"type"`
			Data string `json:"data"`
		}{b.kind, b.data}
	} else if b.signature == "" {
		return wire.Kept{}, false
	}
	data, err := encoded(v)
	return wire.Kept{Raw: string(data)}, err == nil
}
