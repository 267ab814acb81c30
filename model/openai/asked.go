package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"colony/model"
	"colony/model/wire"
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
	Cache     *compared  `json:"prompt_cache_options,omitempty"`
	Tools     []usable   `json:"tools,omitempty"`
}

type reasoning struct {
	Effort  string `json:"effort,omitempty"`
	Summary string `json:"summary,omitempty"`
}

// compared asks why the cache did not serve what an earlier reply left in it.
type compared struct {
	With string `json:"comparison_response_id"`
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
	Output any     `json:"output,omitempty"` // a text, or parts
}

// part is a piece of a result.
type part struct {
	Type string `json:"type"`
	Text string `json:"text,omitempty"`
	URL  string `json:"image_url,omitempty"`
}

// outputOf is a result as text, or as parts where it shows images.
func (c *Client) outputOf(m model.Message) (any, error) {
	text := resultText(m)
	if len(m.Images) == 0 {
		return &text, nil
	}
	parts := []part{{Type: "input_text", Text: text}}
	for _, ref := range m.Images {
		url, err := c.parts.DataURL(ref)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part{Type: "input_image", URL: url})
	}
	return parts, nil
}

// asked is the body of a Responses request. The input is put together by hand, so that what is carried back keeps its
// bytes.
func (c *Client) asked(req model.Request, names *wire.Names, known quirks) ([]byte, error) {
	a := asked{Model: req.Model, MaxOutput: req.OutputLimit}
	thoughts := reasoning{Effort: req.Effort}
	if reasons(req.Model) && !known.noSeal {
		a.Include = []string{"reasoning.encrypted_content"}
	}
	if reasons(req.Model) && !known.noSummary {
		thoughts.Summary = "auto"
	}
	if thoughts != (reasoning{}) {
		a.Reasoning = &thoughts
	}
	if c.official {
		a.CacheKey = req.CacheKey
	}
	if c.compares(req.Model, known) {
		if id := wire.LastID(string(Responses), req); id != "" {
			a.Cache = &compared{id}
		}
	}
	for _, spec := range req.Tools {
		schema, err := wire.SchemaOf(spec)
		if err != nil {
			return nil, err
		}
		a.Tools = append(a.Tools, usable{Type: "function", Name: names.Wire(spec.Name), Description: spec.Description, Parameters: schema})
	}
	var input [][]byte
	for _, m := range req.Messages {
		items, err := c.itemsOf(m, req.Model, names)
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

// compares reports whether a model says why its cache did not serve what it could: gpt-5.6 and later do.
func (c *Client) compares(name string, known quirks) bool {
	major, minor := 0, 0
	_, _ = fmt.Sscanf(name, "gpt-%d.%d", &major, &minor) // what is not spelt so has no numbers
	return c.official && !known.noCompare && (major > 5 || major == 5 && minor >= 6)
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

func (c *Client) itemsOf(m model.Message, to string, names *wire.Names) ([][]byte, error) {
	var items []item
	switch {
	case len(m.Images) > 0 && m.Role != model.Tool:
		return nil, wire.Refuse("an image stands outside a result")
	case m.Role == model.System, m.Role == model.User:
		items = []item{{Type: "message", Role: string(m.Role), Text: &m.Text}}
	case m.Role == model.Tool:
		output, err := c.outputOf(m)
		if err != nil {
			return nil, err
		}
		items = []item{{Type: "function_call_output", CallID: m.CallID, Output: output}}
	case m.Role == model.Assistant:
		return repeated(m, to, names)
	default:
		return nil, wire.Refuse(fmt.Sprintf("a message has the role %q", m.Role))
	}
	return encodedAll(items)
}

// repeated is what the model said: its own items where it was this model that said them, otherwise text and calls.
func repeated(m model.Message, to string, names *wire.Names) ([][]byte, error) {
	var calls []item
	for _, c := range m.Calls {
		args := string(c.Args)
		calls = append(calls, item{Type: "function_call", CallID: c.ID, Name: names.Wire(c.Name), Args: &args})
	}
	encodedCalls, err := encodedAll(calls)
	if err != nil {
		return nil, err
	}
	if own, ok := wire.Unpack(string(Responses), m.Opaque, to, encodedCalls); ok {
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
