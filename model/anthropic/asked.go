package anthropic

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"colony/model"
	"colony/model/wire"
	"colony/tools"
)

// asked is a request. It is encoded here, since every turn sends all of a conversation again and what is carried back
// has to keep its bytes. What varies comes last; the mark at its top lets the provider keep all that was said so far.
type asked struct {
	Model       string       `json:"model"`
	MaxTokens   int          `json:"max_tokens"`
	Stream      bool         `json:"stream"`
	Diagnostics *diagnostics `json:"diagnostics,omitempty"`
	Cache       *mark        `json:"cache_control,omitempty"`
	Thinking    *thinking    `json:"thinking,omitempty"`
	Output      *output      `json:"output_config,omitempty"`
	Tools       []usable     `json:"tools,omitempty"`
	System      []block      `json:"system,omitempty"`
	Messages    []said       `json:"messages"`
}

// diagnostics asks why the cache did not serve what an earlier reply left in it.
type diagnostics struct {
	Previous *string `json:"previous_message_id"`
}

// mark is a breakpoint: what stands before it is kept for the next request.
type mark struct {
	Type string `json:"type"`
}

type thinking struct {
	Type string `json:"type"`
}

type output struct {
	Effort string `json:"effort"`
}

// usable is a tool.
type usable struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"input_schema"`
	Cache       *mark           `json:"cache_control,omitempty"`
}

// said is a message: blocks that are encoded already.
type said struct {
	Role    string            `json:"role"`
	Content []json.RawMessage `json:"content"`
}

// block is a piece of a message.
type block struct {
	Type    string          `json:"type"`
	Text    string          `json:"text,omitempty"`
	ID      string          `json:"id,omitempty"`
	Name    string          `json:"name,omitempty"`
	Input   json.RawMessage `json:"input,omitempty"`
	Call    string          `json:"tool_use_id,omitempty"`
	Content any             `json:"content,omitempty"`
	IsError bool            `json:"is_error,omitempty"`
	Source  *source         `json:"source,omitempty"`
	Cache   *mark           `json:"cache_control,omitempty"`
}

// source is an image's bytes.
type source struct {
	Type  string `json:"type"`
	Media string `json:"media_type"`
	Data  string `json:"data"`
}

func kept() *mark { return &mark{"ephemeral"} }

// asked is the body of a request.
func (c *Client) asked(req model.Request, names *wire.Names) ([]byte, error) {
	a := asked{Model: req.Model, MaxTokens: max(req.OutputLimit, 1), Stream: true, Cache: kept(), Messages: []said{}}
	if _, plain := c.plain.Load(req.Model); req.Effort != "" && !plain {
		a.Thinking, a.Output = &thinking{"adaptive"}, &output{req.Effort}
	}
	for i, spec := range req.Tools {
		schema, err := wire.SchemaOf(spec)
		if err != nil {
			return nil, err
		}
		one := usable{Name: names.Wire(spec.Name), Description: spec.Description, Schema: schema}
		if i == len(req.Tools)-1 {
			one.Cache = kept()
		}
		a.Tools = append(a.Tools, one)
	}
	for _, m := range req.Messages {
		if m.Role == model.System {
			if strings.TrimSpace(m.Text) != "" {
				a.System = append(a.System, block{Type: "text", Text: m.Text})
			}
			continue
		}
		role, blocks, err := c.blocksOf(m, req.Model, names)
		if err != nil {
			return nil, err
		}
		a.take(role, blocks)
	}
	if n := len(a.System); n > 0 {
		a.System[n-1].Cache = kept()
	}
	if c.official {
		a.Diagnostics = &diagnostics{}
		if id := wire.LastID(Messages, req); id != "" {
			a.Diagnostics.Previous = &id
		}
	}
	return encoded(a)
}

// take appends blocks; neighbours of one role are one message.
func (a *asked) take(role string, blocks []json.RawMessage) {
	n := len(a.Messages)
	switch {
	case len(blocks) == 0:
	case n > 0 && a.Messages[n-1].Role == role:
		a.Messages[n-1].Content = append(a.Messages[n-1].Content, blocks...)
	default:
		a.Messages = append(a.Messages, said{role, blocks})
	}
}

func (c *Client) blocksOf(m model.Message, to string, names *wire.Names) (string, []json.RawMessage, error) {
	switch {
	case len(m.Images) > 0 && m.Role != model.Tool:
		return "", nil, wire.Refuse("an image stands outside a result")
	case m.Role == model.User:
		blocks, err := texts(m.Text)
		return "user", blocks, err
	case m.Role == model.Tool:
		one, err := c.result(m)
		return "user", one, err
	case m.Role == model.Assistant:
		blocks, err := repeated(m, to, names)
		return "assistant", blocks, err
	}
	return "", nil, wire.Refuse(fmt.Sprintf("a message has the role %q", m.Role))
}

// texts is a text as a block; none where it is blank, which the wire refuses.
func texts(text string) ([]json.RawMessage, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	one, err := encoded(block{Type: "text", Text: text})
	return []json.RawMessage{one}, err
}

// result answers a call.
func (c *Client) result(m model.Message) ([]json.RawMessage, error) {
	answer := block{Type: "tool_result", Call: idOf(m.CallID), IsError: m.IsError}
	if m.Text != "" {
		answer.Content = m.Text
	}
	if len(m.Images) > 0 {
		parts := []block{{Type: "text", Text: m.Text}}
		for _, ref := range m.Images {
			media, data, err := c.parts.Image(ref)
			if err != nil {
				return nil, err
			}
			parts = append(parts, block{Type: "image", Source: &source{"base64", media, data}})
		}
		answer.Content = parts
	}
	one, err := encoded(answer)
	return []json.RawMessage{one}, err
}

// repeated is what the model said: its own blocks where it was this model that said them, otherwise text and calls.
func repeated(m model.Message, to string, names *wire.Names) ([]json.RawMessage, error) {
	var calls [][]byte
	for _, c := range m.Calls {
		one, err := encoded(block{Type: "tool_use", ID: idOf(c.ID), Name: names.Wire(c.Name), Input: inputOf(c)})
		if err != nil {
			return nil, err
		}
		calls = append(calls, one)
	}
	if own, ok := wire.Unpack(Messages, m.Opaque, to, calls); ok {
		return raw(own), nil
	}
	text, err := texts(m.Text)
	return append(text, raw(calls)...), err
}

func raw(all [][]byte) []json.RawMessage {
	var out []json.RawMessage
	for _, one := range all {
		out = append(out, one)
	}
	return out
}

// inputOf is a call's arguments as the object that the wire wants; what is none was refused, and its result says so.
func inputOf(c tools.Call) json.RawMessage {
	if !wire.IsObject(string(c.Args)) {
		return json.RawMessage("{}")
	}
	return c.Args
}

// idOf is a call's id in the letters that the wire allows.
func idOf(id string) string {
	for _, r := range id {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-' {
			sum := sha256.Sum256([]byte(id))
			return "call_" + hex.EncodeToString(sum[:8])
		}
	}
	return id
}

// encoded is v as it is sent, with <, > and & as they are.
func encoded(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode a request: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
