package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/openai/openai-go/v3"

	"colony/model"
	"colony/tools"
)

// reply gathers a streamed reply. Servers differ in how they number and name the calls of one reply, so
// nothing is taken for granted but the order in which the pieces come.
type reply struct {
	text, refusal strings.Builder
	calls         []*call
	byIndex       map[int64]*call
	reason        string
	chunks, bytes int
	usage         model.Usage
}

type call struct {
	id, name string
	args     strings.Builder
}

func (r *reply) add(chunk sdk.ChatCompletionChunk, show func(model.Delta)) {
	if r.chunks++; r.chunks == 1 && show != nil {
		show(model.Delta{})
	}
	if u := usageOf(chunk.Usage); u.Total() > 0 {
		r.usage = u
	}
	for _, choice := range chunk.Choices {
		if choice.Index != 0 {
			continue
		}
		if text := choice.Delta.Content; text != "" {
			r.text.WriteString(text)
			r.bytes += len(text)
			if show != nil {
				show(model.Delta{Text: text})
			}
		}
		r.refusal.WriteString(choice.Delta.Refusal)
		r.bytes += len(choice.Delta.Refusal)
		for _, piece := range choice.Delta.ToolCalls {
			r.addCall(piece)
		}
		if choice.FinishReason != "" {
			r.reason = choice.FinishReason
		}
	}
}

// addCall adds a piece of a call. A new id under an index that is taken is a new call: some servers number
// all calls 0.
func (r *reply) addCall(piece sdk.ChatCompletionChunkChoiceDeltaToolCall) {
	c := r.byIndex[piece.Index]
	if c == nil || (piece.ID != "" && c.id != "" && piece.ID != c.id) {
		c = &call{}
		r.calls = append(r.calls, c)
		if r.byIndex == nil {
			r.byIndex = map[int64]*call{}
		}
		r.byIndex[piece.Index] = c
	}
	if c.id == "" {
		c.id = piece.ID
	}
	if name := piece.Function.Name; name != c.name {
		c.name += name
	}
	c.args.WriteString(piece.Function.Arguments)
	r.bytes += len(piece.Function.Name) + len(piece.Function.Arguments)
}

// finish is the reply as the conversation holds it.
func (r *reply) finish(names *nameTable) model.Reply {
	out := model.Reply{Usage: r.usage, Finish: model.FinishStop}
	out.Message = model.Message{Role: model.Assistant, Text: r.text.String(), Calls: r.whole(names)}
	switch {
	case r.reason == "length":
		out.Finish = model.FinishLength
	case r.reason == "content_filter" || r.refusal.Len() > 0:
		out.Finish = model.FinishRefusal
		if out.Message.Text == "" {
			out.Message.Text = r.refusal.String()
		}
	case len(out.Message.Calls) > 0:
		out.Finish = model.FinishCalls
	}
	return out
}

// whole is the calls that arrived whole, each with an id of its own. After a cut for length a call whose
// arguments do not parse is a half one; otherwise such arguments are passed on as they are.
func (r *reply) whole(names *nameTable) []tools.Call {
	var calls []tools.Call
	taken := map[string]bool{}
	for i, c := range r.calls {
		args := c.args.String()
		if r.reason == "length" && !json.Valid([]byte(args)) {
			continue
		}
		if strings.TrimSpace(args) == "" {
			args = "{}"
		}
		id := c.id
		for n := i; id == "" || taken[id]; n++ {
			id = fmt.Sprintf("call_%d", n)
		}
		taken[id] = true
		calls = append(calls, tools.Call{ID: id, Name: names.tool(c.name), Args: json.RawMessage(args)})
	}
	return calls
}

// usageOf takes the kinds of tokens apart: the wire counts cached and written tokens within the input. What
// cannot be is not believed.
func usageOf(u sdk.CompletionUsage) model.Usage {
	const most = 1 << 40
	bound := func(n, top int64) int64 { return min(max(n, 0), top) }
	input := bound(u.PromptTokens, most)
	output := bound(u.CompletionTokens, most)
	if input == 0 {
		return model.Usage{}
	}
	cached := bound(u.PromptTokensDetails.CachedTokens, input)
	written := bound(u.PromptTokensDetails.CacheWriteTokens, input-cached)
	return model.Usage{
		Fresh: input - cached - written, Cached: cached, CacheWrite: written,
		Output: output, Reasoning: bound(u.CompletionTokensDetails.ReasoningTokens, output),
	}
}
