package openai

import (
	"encoding/json"
	"strings"

	sdk "github.com/openai/openai-go/v3"

	"colony/model"
	"colony/tools"
)

// reply gathers a streamed Chat Completions reply. Servers differ in how they number and name the calls of one
// reply, so nothing is taken for granted but the order in which the pieces come.
type reply struct {
	*heard
	calls   []*call
	byIndex map[int64]*call
}

type call struct {
	id, name string
	args     strings.Builder
}

func (r *reply) add(chunk sdk.ChatCompletionChunk) {
	r.begin()
	u := chunk.Usage
	if u := usage(u.PromptTokens, u.PromptTokensDetails.CachedTokens, u.PromptTokensDetails.CacheWriteTokens,
		u.CompletionTokens, u.CompletionTokensDetails.ReasoningTokens); u.Total() > 0 {
		r.usage = u
	}
	for _, choice := range chunk.Choices {
		if choice.Index != 0 {
			continue
		}
		r.say(choice.Delta.Content)
		r.decline(choice.Delta.Refusal)
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

func (r *reply) finish(names *nameTable) model.Reply { return r.as(r.whole(names), nil) }

// whole is the calls that arrived whole, each with an id of its own. After a cut for length a call whose
// arguments do not parse is a half one; otherwise such arguments are passed on as they are.
func (r *reply) whole(names *nameTable) []tools.Call {
	var calls []tools.Call
	ids := newIDs{}
	for i, c := range r.calls {
		args := c.args.String()
		if r.reason == "length" && !json.Valid([]byte(args)) {
			continue
		}
		calls = append(calls, tools.Call{ID: ids.give(c.id, i), Name: names.tool(c.name), Args: argsOf(args)})
	}
	return calls
}
