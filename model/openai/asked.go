package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"colony/model"
)

// asked is a Responses request without its input. It is encoded here for the reason that said gives. Nothing is kept by the
// server: what it has to know again is carried back to it.
type asked struct {
	Model     string     `json:"model"`
	Store     bool       `json:"store"`
	Include   []string   `json:"include,omitempty"`
	MaxOutput int        `json:"max_output_tokens,omitempty"`
	Reasoning *reasoning `json:"reasoning,omitempty"`
	CacheKey  string     `json:"prompt_cache_key,omitempty"`
	Tools     []usable   `json:"tools,omitempty"`
}

type reasoning struct {
	Effort string `json:"effort"`
}

// usable is a tool in a Responses request. Strict is said because its default is true there, and then a schema with
// an optional field is refused.
type usable struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

// item is an entry of the input that is no carried one.
type item struct {
	Type   string  `json:"type"`
	Role   string  `json:"role,omitempty"`
	Text   *string `json:"content,omitempty"`
	CallID string  `json:"call_id,omitempty"`
	Name   string  `json:"name,omitempty"`
	Args   *string `json:"arguments,omitempty"`
	Output *string `json:"output,omitempty"`
}

// asked is the body of a Responses request. The input is put together by hand, so that what is carried back keeps its
// bytes.
func (c *Client) asked(req model.Request, names *nameTable) ([]byte, error) {
	a := asked{Model: req.Model, MaxOutput: req.OutputLimit}
	if reasons(req.Model) {
		a.Include = []string{"reasoning.encrypted_content"}
	}
	if req.Effort != "" {
		a.Reasoning = &reasoning{req.Effort}
	}
	if c.official {
		a.CacheKey = req.CacheKey
	}
	for _, spec := range req.Tools {
		schema, err := schemaOf(spec)
		if err != nil {
			return nil, err
		}
		a.Tools = append(a.Tools, usable{Type: "function", Name: names.wire(spec.Name), Description: spec.Description, Parameters: schema})
	}
	var input [][]byte
	for _, m := range req.Messages {
		items, err := itemsOf(m, req.Model, names)
		if err != nil {
			return nil, err
		}
		input = append(input, items...)
	}
	rest, err := encoded(a)
	if err != nil {
		return nil, err
	}
	return bytes.Join([][]byte{[]byte(`{"input":[`), bytes.Join(input, []byte(",")), []byte("],"), rest[1:]}, nil), nil
}

// reasons reports whether a model may think: one that cannot is refused when its thoughts are asked for.
func reasons(name string) bool {
	name = name[strings.LastIndex(name, "/")+1:]
	for _, family := range []string{"gpt-3", "gpt-4", "chatgpt-4"} {
		if strings.HasPrefix(name, family) {
			return false
		}
	}
	return true
}

func itemsOf(m model.Message, to string, names *nameTable) ([][]byte, error) {
	var items []item
	switch {
	case len(m.Images) > 0:
		return nil, refuse("images in a conversation are not built yet")
	case m.Role == model.System, m.Role == model.User:
		items = []item{{Type: "message", Role: string(m.Role), Text: &m.Text}}
	case m.Role == model.Tool:
		text := resultText(m)
		items = []item{{Type: "function_call_output", CallID: m.CallID, Output: &text}}
	case m.Role == model.Assistant:
		return repeated(m, to, names)
	default:
		return nil, refuse(fmt.Sprintf("a message has the role %q", m.Role))
	}
	return encodedAll(items)
}

// repeated is what the model said: its own items where it was this model that said them, otherwise text and calls.
func repeated(m model.Message, to string, names *nameTable) ([][]byte, error) {
	var calls []item
	for _, c := range m.Calls {
		args := string(c.Args)
		calls = append(calls, item{Type: "function_call", CallID: c.ID, Name: names.wire(c.Name), Args: &args})
	}
	encodedCalls, err := encodedAll(calls)
	if err != nil {
		return nil, err
	}
	if own, ok := unpack(m.Opaque, to, encodedCalls); ok {
		return own, nil
	}
	if m.Text == "" {
		return encodedCalls, nil
	}
	text, err := encoded(item{Type: "message", Role: "assistant", Text: &m.Text})
	return append([][]byte{text}, encodedCalls...), err
}

func encodedAll(items []item) ([][]byte, error) {
	var all [][]byte
	for _, i := range items {
		data, err := encoded(i)
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}
