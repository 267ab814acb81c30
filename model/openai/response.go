package openai

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/openai/openai-go/v3/responses"

	"colony/model"
	"colony/model/wire"
	"colony/tools"
)

// response gathers a streamed Responses reply.
type response struct {
	*wire.Heard
	model string
	named bool   // a later request may ask what became of this reply in the cache
	id    string // of such a reply
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
	Summary   []struct {
		Text string `json:"text"`
	} `json:"summary"`
	Content []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
}

// add takes an event. The reply begins with its first item: what fails before is a refusal, though a stream began. What
// follows the last event does not matter.
func (r *response) add(e responses.ResponseStreamEventUnion) {
	if r.Reason != "" {
		return
	}
	switch e.Type {
	case "response.created", "response.in_progress", "response.queued":
		r.Pace(true)
		return
	case "error":
		r.Failed = wire.Within(e.Code, e.Message)
		return
	case "response.failed", "response.cancelled":
		r.end(e.Response)
		return
	}
	r.Begin()
	switch e.Type {
	case "response.output_item.added":
		r.Pace(e.Item.Type == "reasoning")
	case "response.output_text.delta":
		r.speak(e.OutputIndex, e.Delta)
	case "response.refusal.delta":
		r.Decline(e.Delta)
	case "response.function_call_arguments.delta":
		r.Bytes += len(e.Delta)
	case "response.output_item.done":
		r.Pace(true)
		r.keep(e.OutputIndex, e.Item.RawJSON())
	case "response.completed", "response.incomplete":
		r.end(e.Response)
	}
}

// speak sets the texts of two items apart.
func (r *response) speak(at int64, text string) {
	if r.Said() && at != r.spoke {
		r.Say("\n\n")
	}
	r.spoke = at
	r.Say(text)
}

func (r *response) keep(at int64, raw string) {
	if !wire.IsObject(raw) {
		return
	}
	d := done{at: at, raw: raw}
	_ = json.Unmarshal([]byte(raw), &d.is) // a field of another type is as one that is missing
	r.items = append(r.items, d)
}

// end reads the last event, the only one that counts tokens.
func (r *response) end(whole responses.Response) {
	u := whole.Usage
	r.Usage = wire.UsageWithin(u.InputTokens, u.InputTokensDetails.CachedTokens, u.InputTokensDetails.CacheWriteTokens, u.OutputTokens, u.OutputTokensDetails.ReasoningTokens)
	r.Usage.CacheWriteLong = min(max(u.InputTokensDetails.CacheWriteTokensDetails.Ttl12hTokens, 0), r.Usage.CacheWrite)
	r.Served = string(whole.ServiceTier)
	if d := whole.PromptCacheDiagnostics; d.Type == "cache_miss" {
		r.Missed(d.Reason, d.CacheMissedTokens)
	}
	if r.named {
		r.id = whole.ID
	}
	if len(r.items) == 0 {
		for i, it := range whole.Output {
			r.keep(int64(i), it.RawJSON())
		}
	}
	switch {
	case whole.Status == "failed" || whole.Status == "cancelled" || whole.Error.Code != "":
		r.Failed = wire.Within(string(whole.Error.Code), cmp.Or(whole.Error.Message, string(whole.Error.Code), "the reply ended as "+string(whole.Status)))
	case whole.IncompleteDetails.Reason == "content_filter":
		r.Reason = "content_filter"
	case whole.Status == "incomplete" || whole.IncompleteDetails.Reason != "":
		r.Reason = "length"
	default:
		r.Reason = "stop"
	}
}

// finish is the reply as the conversation holds it. A thought that nothing follows is not carried: the server would
// refuse it.
func (r *response) finish(names *wire.Names) model.Reply {
	slices.SortStableFunc(r.items, func(a, b done) int { return cmp.Compare(a.at, b.at) })
	var calls []tools.Call
	var items []wire.Kept
	ids, whole, plain := wire.IDs{}, 0, true
	for i, d := range r.items {
		switch {
		case d.is.Type == "function_call" && r.half(d.is):
			continue
		case d.is.Type == "function_call":
			n := len(calls)
			calls = append(calls, tools.Call{ID: ids.Give(d.is.CallID, i), Name: names.Tool(d.is.Name), Args: wire.ArgsOf(d.is.Arguments)})
			items = append(items, wire.Kept{Call: &n})
		case d.is.Type == "reasoning":
			if d.is.readable() {
				items, plain = append(items, wire.Kept{Raw: d.raw}), false
			}
			continue
		default:
			items, plain = append(items, wire.Kept{Raw: d.raw}), plain && d.is.Type == "message" && d.is.Phase == ""
		}
		whole = len(items)
	}
	r.catchUp(calls)
	for _, d := range r.items {
		for _, part := range d.is.Summary {
			r.Think(part.Text + "\n")
		}
	}
	if plain && r.id == "" {
		whole = 0
	}
	return r.As(calls, wire.Pack(string(Responses), r.model, r.id, items[:whole]))
}

// half reports whether a call did not arrive whole. After a cut for length a call whose arguments do not parse is a half
// one; otherwise such arguments are passed on as they are.
func (r *response) half(o output) bool {
	return o.Status == "incomplete" || (r.Reason == "length" && !json.Valid(wire.ArgsOf(o.Arguments)))
}

// readable reports whether a thought means something to a server that keeps nothing.
func (o output) readable() bool { return o.Sealed != "" || len(o.Content) > 0 }

// catchUp says what a server sent whole and not in pieces.
func (r *response) catchUp(calls []tools.Call) {
	if !r.Said() {
		for _, d := range r.items {
			for _, part := range d.is.Content {
				if d.is.Type == "message" {
					r.speak(d.at, part.Text)
					r.Decline(part.Refusal)
				}
			}
		}
	}
	if r.Bytes == 0 {
		for _, c := range calls {
			r.Bytes += len(c.Name) + len(c.Args)
		}
	}
}
