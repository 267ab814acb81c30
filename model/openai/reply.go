package openai

import (
	"encoding/json"
	"strings"

	sdk "github.com/openai/openai-go/v3"

	"colony/model"
	"colony/model/wire"
	"colony/tools"
)

// reply gathers a streamed Chat Completions reply. Servers differ in how they number and name the calls of one
// reply, so nothing is taken for granted but the order in which the pieces come.
type reply struct {
	*wire.Heard
	calls   []*call
	byIndex map[int64]*call
}

type call struct {
	id, name string
	args     strings.Builder
}

func (r *reply) add(chunk sdk.ChatCompletionChunk) {
	r.Begin()
	u := chunk.Usage
	if u := wire.UsageWithin(u.PromptTokens, u.PromptTokensDetails.CachedTokens, u.PromptTokensDetails.CacheWriteTokens,
		u.CompletionTokens, u.CompletionTokensDetails.ReasoningTokens); u.Total() > 0 {
		r.Usage = u
	}
	if chunk.ServiceTier != "" {
		r.Served = string(chunk.ServiceTier)
	}
	for _, choice := range chunk.Choices {
		if choice.Index != 0 {
			continue
		}
		r.Say(choice.Delta.Content)
		for _, name := range []string{"reasoning_content", "reasoning"} { // what a server adds of its model's thoughts
			var text string
			if json.Unmarshal([]byte(choice.Delta.JSON.ExtraFields[name].Raw()), &text) == nil { // what is no text is none
				r.Think(text)
			}
		}
		r.Decline(choice.Delta.Refusal)
		for _, piece := range choice.Delta.ToolCalls {
			r.addCall(piece)
		}
		if choice.FinishReason == "error" {
			r.Failed = wire.Within("", "the server ended the reply with an error")
		} else if choice.FinishReason != "" {
			r.Reason = choice.FinishReason
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
	r.Bytes += len(piece.Function.Name) + len(piece.Function.Arguments)
}

func (r *reply) finish(names *wire.Names) model.Reply { return r.As(r.whole(names), nil) }

// whole is the calls that arrived whole, each with an id of its own. After a cut for length a call whose
// arguments do not parse is a half one; otherwise such arguments are passed on as they are.
func (r *reply) whole(names *wire.Names) []tools.Call {
	var calls []tools.Call
	ids := wire.IDs{}
	for i, c := range r.calls {
		args := c.args.String()
		if r.Reason == "length" && !json.Valid([]byte(args)) {
			continue
		}
		calls = append(calls, tools.Call{ID: ids.Give(c.id, i), Name: names.Tool(c.name), Args: wire.ArgsOf(args)})
	}
	return calls
}
