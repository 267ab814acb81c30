package openai

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/openai/openai-go/v3/responses"

	"colony/model"
	"colony/tools"
)

// response gathers a streamed Responses reply.
type response struct {
	*heard
	model string
	items []done
	spoke int64 // the item that spoke last
}

// done is an item of the reply that is complete, as it came.
type done struct {
	at  int64
	raw string
	is  output
}

// output is what is read of an item.
type output struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	Status    string `json:"status"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Phase     string `json:"phase"`
	Sealed    string `json:"encrypted_content"`
	Content   []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
}

// add takes an event. The reply begins with its first item: what fails before is a refusal, though a stream began. What
// follows the last event does not matter.
func (r *response) add(e responses.ResponseStreamEventUnion) {
	if r.reason != "" {
		return
	}
	switch e.Type {
	case "response.created", "response.in_progress", "response.queued":
		r.pace(true)
		return
	case "error":
		r.failed = within(e.Code, e.Message)
		return
	case "response.failed", "response.cancelled":
		r.end(e.Response)
		return
	}
	r.begin()
	switch e.Type {
	case "response.output_item.added":
		r.pace(e.Item.Type == "reasoning")
	case "response.output_text.delta":
		r.speak(e.OutputIndex, e.Delta)
	case "response.refusal.delta":
		r.decline(e.Delta)
	case "response.function_call_arguments.delta":
		r.bytes += len(e.Delta)
	case "response.output_item.done":
		r.pace(true)
		r.keep(e.OutputIndex, e.Item.RawJSON())
	case "response.completed", "response.incomplete":
		r.end(e.Response)
	}
}

// speak sets the texts of two items apart.
func (r *response) speak(at int64, text string) {
	if r.text.Len() > 0 && at != r.spoke {
		r.say("\n\n")
	}
	r.spoke = at
	r.say(text)
}

func (r *response) keep(at int64, raw string) {
	if !isObject(raw) {
		return
	}
	d := done{at: at, raw: raw}
	_ = json.Unmarshal([]byte(raw), &d.is) // a field of another type is as one that is missing
	r.items = append(r.items, d)
}

// end reads the last event, the only one that counts tokens.
func (r *response) end(whole responses.Response) {
	u := whole.Usage
	r.usage = usage(u.InputTokens, u.InputTokensDetails.CachedTokens, u.InputTokensDetails.CacheWriteTokens, u.OutputTokens, u.OutputTokensDetails.ReasoningTokens)
	if len(r.items) == 0 {
		for i, it := range whole.Output {
			r.keep(int64(i), it.RawJSON())
		}
	}
	switch {
	case whole.Status == "failed" || whole.Status == "cancelled" || whole.Error.Code != "":
		r.failed = within(string(whole.Error.Code), cmp.Or(whole.Error.Message, string(whole.Error.Code), "the reply ended as "+string(whole.Status)))
	case whole.IncompleteDetails.Reason == "content_filter":
		r.reason = "content_filter"
	case whole.Status == "incomplete" || whole.IncompleteDetails.Reason != "":
		r.reason = "length"
	default:
		r.reason = "stop"
	}
}

// finish is the reply as the conversation holds it. A thought that nothing follows is not carried: the server would
// refuse it.
func (r *response) finish(names *nameTable) model.Reply {
	slices.SortStableFunc(r.items, func(a, b done) int { return cmp.Compare(a.at, b.at) })
	var calls []tools.Call
	var items []kept
	ids, whole, plain := newIDs{}, 0, true
	for i, d := range r.items {
		switch {
		case d.is.Type == "function_call" && r.half(d.is):
			continue
		case d.is.Type == "function_call":
			n := len(calls)
			calls = append(calls, tools.Call{ID: ids.give(d.is.CallID, i), Name: names.tool(d.is.Name), Args: argsOf(d.is.Arguments)})
			items = append(items, kept{Call: &n})
		case d.is.Type == "reasoning":
			if d.is.readable() {
				items, plain = append(items, kept{Raw: d.raw}), false
			}
			continue
		default:
			items, plain = append(items, kept{Raw: d.raw}), plain && d.is.Type == "message" && d.is.Phase == ""
		}
		whole = len(items)
	}
	r.catchUp(calls)
	if plain {
		whole = 0
	}
	return r.as(calls, pack(r.model, items[:whole]))
}

// half reports whether a call did not arrive whole. After a cut for length a call whose arguments do not parse is a half
// one; otherwise such arguments are passed on as they are.
func (r *response) half(o output) bool {
	return o.Status == "incomplete" || (r.reason == "length" && !json.Valid(argsOf(o.Arguments)))
}

// readable reports whether a thought means something to a server that keeps nothing.
func (o output) readable() bool { return o.Sealed != "" || len(o.Content) > 0 }

// catchUp says what a server sent whole and not in pieces.
func (r *response) catchUp(calls []tools.Call) {
	if r.text.Len() == 0 && r.refusal.Len() == 0 {
		for _, d := range r.items {
			for _, part := range d.is.Content {
				if d.is.Type == "message" {
					r.speak(d.at, part.Text)
					r.decline(part.Refusal)
				}
			}
		}
	}
	if r.bytes == 0 {
		for _, c := range calls {
			r.bytes += len(c.Name) + len(c.Args)
		}
	}
}
