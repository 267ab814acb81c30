package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"colony/model"
	"colony/tools"
)

// heard is what is gathered of a reply on either wire.
type heard struct {
	show          func(model.Delta) // may be nil
	pace          func(slow bool)
	begun         bool
	text, refusal strings.Builder
	reason        string // why it ended, in the words of Chat Completions; empty while it has not
	bytes         int
	usage         model.Usage
	failed        *model.Error // what the server said went wrong
}

// begin says that the reply begins, once.
func (h *heard) begin() {
	if !h.begun && h.show != nil {
		h.show(model.Delta{})
	}
	h.begun = true
}

func (h *heard) say(text string) {
	if text == "" {
		return
	}
	h.text.WriteString(text)
	h.bytes += len(text)
	if h.show != nil {
		h.show(model.Delta{Text: text})
	}
}

func (h *heard) decline(text string) {
	h.refusal.WriteString(text)
	h.bytes += len(text)
}

// as is the reply as the conversation holds it.
func (h *heard) as(calls []tools.Call, opaque json.RawMessage) model.Reply {
	out := model.Reply{Usage: h.usage, Finish: model.FinishStop}
	out.Message = model.Message{Role: model.Assistant, Text: h.text.String(), Calls: calls, Opaque: opaque}
	switch {
	case h.reason == "length":
		out.Finish = model.FinishLength
	case h.reason == "content_filter" || h.refusal.Len() > 0:
		out.Finish = model.FinishRefusal
		if out.Message.Text == "" {
			out.Message.Text = h.refusal.String()
		}
	case len(calls) > 0:
		out.Finish = model.FinishCalls
	}
	return out
}

// newIDs sees to it that each call of a reply has an id of its own.
type newIDs map[string]bool

func (taken newIDs) give(id string, n int) string {
	for ; id == "" || taken[id]; n++ {
		id = fmt.Sprintf("call_%d", n)
	}
	taken[id] = true
	return id
}

// argsOf is a call's arguments; none are an empty object.
func argsOf(text string) json.RawMessage {
	if strings.TrimSpace(text) == "" {
		text = "{}"
	}
	return json.RawMessage(text)
}

// usage takes the kinds of tokens apart: the wires count cached and written tokens within the input. What cannot be is
// not believed.
func usage(input, cached, written, output, reasoning int64) model.Usage {
	const most = 1 << 40
	bound := func(n, top int64) int64 { return min(max(n, 0), top) }
	input, output = bound(input, most), bound(output, most)
	if input == 0 {
		return model.Usage{}
	}
	cached = bound(cached, input)
	written = bound(written, input-cached)
	return model.Usage{
		Fresh: input - cached - written, Cached: cached, CacheWrite: written,
		Output: output, Reasoning: bound(reasoning, output),
	}
}
