package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"colony/model"
	"colony/tools"
)

// The words in which Heard keeps why a reply ended: those of Chat Completions.
const (
	Stopped  = "stop"
	Cut      = "length"
	Filtered = "content_filter"
)

// Heard is what is gathered of a reply on any wire.
type Heard struct {
	Reason string // why it ended, in the words above or others; empty while it has not
	Bytes  int
	Usage  model.Usage
	Failed *model.Error // what the server said went wrong
	Partly bool         // Usage is that of a reply which had not ended
	Miss   model.Miss
	Served string // the service that it came by, where the provider says

	show          func(model.Delta) // may be nil
	watch         *Exchange
	begun         bool
	text, refusal strings.Builder
	thought       strings.Builder
}

// Hear gathers the reply of an exchange.
func (w *Exchange) Hear(show func(model.Delta)) *Heard { return &Heard{show: show, watch: w} }

// Pace says whether the model is thinking, in silence.
func (h *Heard) Pace(slow bool) { h.watch.pace(slow) }

// Begin says that the reply begins, once.
func (h *Heard) Begin() {
	if !h.begun && h.show != nil {
		h.show(model.Delta{})
	}
	h.begun = true
}

// Say is a piece of the text.
func (h *Heard) Say(text string) {
	if text == "" {
		return
	}
	h.text.WriteString(text)
	h.Bytes += len(text)
	if h.show != nil {
		h.show(model.Delta{Text: text})
	}
}

// Decline is a piece of a refusal.
func (h *Heard) Decline(text string) {
	h.refusal.WriteString(text)
	h.Bytes += len(text)
}

// mostThought is how much is kept of what a provider shows of thoughts.
const mostThought = 2 << 10

// Think is a piece of what the provider shows of the model's thoughts.
func (h *Heard) Think(text string) {
	h.Bytes += len(text)
	if h.thought.Len() < mostThought {
		h.thought.WriteString(text)
	}
}

// Missed is what the provider says of its cache.
func (h *Heard) Missed(reason string, tokens int64) {
	h.Miss = model.Miss{Reason: reason, Tokens: bound(tokens, most)}
}

// Said reports whether anything was said or refused.
func (h *Heard) Said() bool { return h.text.Len() > 0 || h.refusal.Len() > 0 }

// As is the reply as the conversation holds it.
func (h *Heard) As(calls []tools.Call, opaque json.RawMessage) model.Reply {
	out := model.Reply{Usage: h.Usage, Finish: model.FinishStop, Miss: h.Miss}
	if !slices.Contains([]string{"auto", "default", "standard"}, h.Served) {
		out.Usage.Service = h.Served
	}
	out.Message = model.Message{Role: model.Assistant, Text: h.text.String(), Calls: calls, Opaque: opaque}
	if h.Said() || len(calls) > 0 {
		out.Message.Thought = strings.TrimSpace(strings.ToValidUTF8(h.thought.String()[:min(h.thought.Len(), mostThought)], ""))
	}
	switch {
	case h.Reason == Cut:
		out.Finish = model.FinishLength
	case h.Reason == Filtered || h.refusal.Len() > 0:
		out.Finish = model.FinishRefusal
		if out.Message.Text == "" {
			out.Message.Text = h.refusal.String()
		}
	case len(calls) > 0:
		out.Finish = model.FinishCalls
	}
	return out
}

// IDs sees to it that each call of a reply has an id of its own.
type IDs map[string]bool

// Give is the id, or another one where there is none or it is taken.
func (taken IDs) Give(id string, n int) string {
	for ; id == "" || taken[id]; n++ {
		id = fmt.Sprintf("call_%d", n)
	}
	taken[id] = true
	return id
}

// ArgsOf is a call's arguments; none are an empty object.
func ArgsOf(text string) json.RawMessage {
	if strings.TrimSpace(text) == "" {
		text = "{}"
	}
	return json.RawMessage(text)
}

// tolerated is the attempt from which arguments that are no JSON are passed on: the model is told then.
const tolerated = 5

// endsEarly is what the JSON decoder says of the beginning of a value.
const endsEarly = "unexpected end of JSON input"

// broken is the error of a reply that holds a call whose arguments were cut, which never counts, or are no JSON, which
// is tried again a few times.
func (w *Exchange) broken(calls []tools.Call, attempt int) error {
	for _, c := range calls {
		fault := json.Unmarshal(c.Args, new(any))
		if fault == nil {
			continue
		}
		lost := &model.Error{Kind: model.Transport, Sent: true, Limits: w.limits, Text: "the arguments of a call are no JSON"}
		if fault.Error() == endsEarly {
			lost.Text = "the arguments of a call were cut"
			return lost
		}
		if attempt < tolerated {
			return lost
		}
	}
	return nil
}

// UsageWithin takes the kinds of tokens apart where cached and written tokens are counted within the input. What cannot
// be is not believed.
func UsageWithin(input, cached, written, output, reasoning int64) model.Usage {
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

// UsageBeside is the same where they are counted beside the input.
func UsageBeside(fresh, cached, written, output, reasoning int64) model.Usage {
	output = bound(output, most)
	return model.Usage{
		Fresh: bound(fresh, most), Cached: bound(cached, most), CacheWrite: bound(written, most),
		Output: output, Reasoning: bound(reasoning, output),
	}
}

const most = 1 << 40

func bound(n, top int64) int64 { return min(max(n, 0), top) }

// completed is the usage with a guess for what the server did not count.
func completed(u model.Usage, req model.Request, bytes int) (model.Usage, bool) {
	guessed := u.Input() == 0 || (u.Output == 0 && bytes > 0)
	if u.Input() == 0 {
		u.Fresh = model.EstimateTokens(req.Bytes())
	}
	if u.Output == 0 {
		u.Output = model.EstimateTokens(bytes)
	}
	return u, guessed
}

// shortestKey is the length from which a key is one, and not a word that any text may hold.
const shortestKey = 8

// forget takes the key out of what a server says: it knows the key, and could have it written into the log or a file.
func (w *Exchange) forget(m *model.Message) {
	key := w.parts.Key
	if len(key) < shortestKey {
		return
	}
	m.Text, m.Thought = strings.ReplaceAll(m.Text, key, "[secret]"), strings.ReplaceAll(m.Thought, key, "[secret]")
	m.Opaque = bytes.ReplaceAll(m.Opaque, []byte(key), []byte("[secret]"))
	for i := range m.Calls {
		call := &m.Calls[i]
		call.ID, call.Name = strings.ReplaceAll(call.ID, key, "[secret]"), strings.ReplaceAll(call.Name, key, "[secret]")
		call.Args = bytes.ReplaceAll(call.Args, []byte(key), []byte("[secret]"))
	}
}
