// Package model is a conversation with a language model, in a neutral form: requests, replies, usage,
// errors, the catalogue of windows and prices, and the governor that all ants of a provider share.
// Its adapters are model/openai and model/scripted.
package model

import (
	"context"
	"encoding/json"
	"time"

	"colony/tools"
)

// Role is who said a message.
type Role string

// The roles.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// Message is one entry of a conversation.
type Message struct {
	Role    Role            `json:"role"`
	Text    string          `json:"text,omitempty"`
	Calls   []tools.Call    `json:"calls,omitempty"`    // of an assistant
	CallID  string          `json:"call_id,omitempty"`  // of a tool: the call it answers
	IsError bool            `json:"is_error,omitempty"` // of a tool: the result carries a fault
	Images  []tools.BlobRef `json:"images,omitempty"`
	Opaque  json.RawMessage `json:"opaque,omitempty"` // what a provider wants carried back, untouched
	// Thought is the beginning of what the provider shows of the model's thoughts, for people: it is never sent.
	Thought string `json:"thought,omitempty"`
	// Recovered says that the calls stood in the text of the reply, and nothing else did.
	Recovered bool `json:"recovered,omitempty"`
}

// EstimateTokens guesses how many tokens a number of bytes is: four bytes a token, rounded up.
func EstimateTokens(bytes int) int64 { return int64(bytes+3) / 4 }

// Request is one request of a conversation. Messages[0] is the system prompt.
type Request struct {
	ID          string // the same over all attempts
	Attempt     int    // counted up by the governor
	Priority    int    // of two that wait for the same, the larger goes first
	Model       string // as the provider names it
	Messages    []Message
	Tools       []tools.Spec // wire order
	OutputLimit int          // tokens; sent as it stands
	Grown       bool         // the output limit is not raised again: a reply that it cuts is taken as it is
	Effort      string
	CacheKey    string // the card: ants of one card share their prefix
}

// Bytes is the length of all that the model reads: messages, calls, what is carried back to it, and tools.
func (r Request) Bytes() int {
	sum := 0
	for _, m := range r.Messages {
		sum += len(m.Text) + len(m.Opaque)
		for _, c := range m.Calls {
			sum += len(c.Name) + len(c.Args)
		}
	}
	for _, t := range r.Tools {
		sum += len(t.Name) + len(t.Description) + len(t.Params)
	}
	return sum
}

// Usage keeps the kinds of tokens apart. Fresh, Cached and CacheWrite are disjoint and are all input;
// Reasoning is part of Output, CacheWriteLong of CacheWrite.
type Usage struct {
	Fresh, Cached, CacheWrite, Output, Reasoning int64
	CacheWriteLong                               int64  // the part of CacheWrite that the provider keeps for an hour
	Service                                      string `json:",omitempty"` // the service that a reply came by, such as priority; empty for the standard one
}

// Input is all input tokens.
func (u Usage) Input() int64 { return u.Fresh + u.Cached + u.CacheWrite }

// Total is all tokens.
func (u Usage) Total() int64 { return u.Input() + u.Output }

// Add is the sum of both.
func (u Usage) Add(v Usage) Usage {
	sum := Usage{u.Fresh + v.Fresh, u.Cached + v.Cached, u.CacheWrite + v.CacheWrite, u.Output + v.Output, u.Reasoning + v.Reasoning, u.CacheWriteLong + v.CacheWriteLong, u.Service}
	if u.Service != v.Service {
		sum.Service = ""
	}
	return sum
}

// Finish is why a reply ended.
type Finish string

// The finishes.
const (
	FinishStop    Finish = "stop"
	FinishCalls   Finish = "calls"
	FinishLength  Finish = "length"
	FinishRefusal Finish = "refusal"
)

// Reply is what the model said.
type Reply struct {
	Message   Message
	Finish    Finish
	Usage     Usage
	Estimated bool // the provider sent no usage: Usage is a guess
	FirstByte time.Duration
	Elapsed   time.Duration
	Limits    Limits // what the provider said about its rate limits
	Miss      Miss   // why the provider's cache did not serve all that it could, where it says
}

// Miss is what a provider says of tokens that its cache could have served and did not. The zero value is nothing.
type Miss struct {
	Reason string // in the provider's words, such as tools_changed
	Tokens int64  // how many; 0 where it does not say
}

// Delta is a piece of a reply as it streams. It is shown, never recorded. One without text says that the
// reply begins.
type Delta struct{ Text string }

// Provider completes conversations. It is safe for concurrent use. A failure is an *Error or a *CapError,
// or the context's own error. A cut stream returns what arrived, with an *Error of kind Transport.
type Provider interface {
	Complete(ctx context.Context, req Request, show func(Delta)) (Reply, error)
}
