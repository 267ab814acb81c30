package ollama

import (
	"bytes"
	"encoding/json"
	"fmt"

	"colony/model"
	"colony/model/wire"
)

// asked is a request. What varies comes last.
type asked struct {
	Model    string   `json:"model"`
	Stream   bool     `json:"stream"`
	Think    string   `json:"think,omitempty"`
	Options  options  `json:"options"`
	Tools    []usable `json:"tools,omitempty"`
	Messages []said   `json:"messages"`
}

type options struct {
	Context int `json:"num_ctx,omitempty"`
	Predict int `json:"num_predict,omitempty"`
}

type usable struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

type said struct {
	Role    string   `json:"role"`
	Content string   `json:"content"`
	Calls   []called `json:"tool_calls,omitempty"`
	Tool    string   `json:"tool_name,omitempty"`
	Images  []string `json:"images,omitempty"`
}

type called struct {
	Function struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// asked is the body of a request.
func (c *Client) asked(req model.Request, names *wire.Names) ([]byte, error) {
	a := asked{Model: req.Model, Stream: true, Options: options{c.window, req.OutputLimit}, Messages: []said{}}
	if _, plain := c.plain.Load(req.Model); !plain {
		a.Think = req.Effort
	}
	for _, spec := range req.Tools {
		schema, err := wire.SchemaOf(spec)
		if err != nil {
			return nil, err
		}
		one := usable{Type: "function"}
		one.Function.Name, one.Function.Description, one.Function.Parameters = names.Wire(spec.Name), spec.Description, schema
		a.Tools = append(a.Tools, one)
	}
	called := map[string]string{} // the tool of a call: this wire answers by name
	for _, m := range req.Messages {
		one, err := c.say(m, names, called)
		if err != nil {
			return nil, err
		}
		a.Messages = append(a.Messages, one)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(a); err != nil {
		return nil, fmt.Errorf("encode a request: %w", err)
	}
	return b.Bytes(), nil
}

func (c *Client) say(m model.Message, names *wire.Names, tools map[string]string) (said, error) {
	out := said{Role: string(m.Role), Content: m.Text}
	switch m.Role {
	case model.System, model.User:
		if len(m.Images) > 0 {
			return out, wire.Refuse("an image stands outside a result")
		}
	case model.Assistant:
		for _, call := range m.Calls {
			one := called{}
			one.Function.Name, one.Function.Args = names.Wire(call.Name), json.RawMessage("{}")
			if wire.IsObject(string(call.Args)) {
				one.Function.Args = call.Args
			}
			tools[call.ID] = one.Function.Name
			out.Calls = append(out.Calls, one)
		}
	case model.Tool:
		out.Tool = tools[m.CallID]
		if m.IsError {
			out.Content = "error: " + m.Text
		}
		for _, ref := range m.Images {
			_, data, err := c.parts.Image(ref)
			if err != nil {
				return out, err
			}
			out.Images = append(out.Images, data)
		}
	default:
		return out, wire.Refuse(fmt.Sprintf("a message has the role %q", m.Role))
	}
	return out, nil
}
