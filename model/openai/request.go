package openai

import (
	"fmt"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"colony/model"
	"colony/model/wire"
	"colony/tools"
)

// params is the request on the wire. What only OpenAI's own endpoint knows is sent only there.
func (c *Client) params(req model.Request, names *wire.Names, known quirks) (sdk.ChatCompletionNewParams, error) {
	p := sdk.ChatCompletionNewParams{Model: req.Model}
	if !known.noOptions {
		p.StreamOptions = sdk.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)}
	}
	if req.Effort != "" {
		p.ReasoningEffort = shared.ReasoningEffort(req.Effort)
	}
	switch {
	case req.OutputLimit > 0 && (c.official || known.completion):
		p.MaxCompletionTokens = param.NewOpt(int64(req.OutputLimit))
	case req.OutputLimit > 0:
		p.MaxTokens = param.NewOpt(int64(req.OutputLimit))
	}
	if c.official && req.CacheKey != "" {
		p.PromptCacheKey = param.NewOpt(req.CacheKey)
	}
	var seen []tools.BlobRef // images of the results since the last reply: they follow all of them
	for i, m := range req.Messages {
		next, err := message(m, names)
		if err != nil {
			return p, err
		}
		p.Messages = append(p.Messages, next)
		seen = append(seen, m.Images...)
		if len(seen) > 0 && (i+1 == len(req.Messages) || req.Messages[i+1].Role != model.Tool) {
			shown, err := c.pictures(seen)
			if err != nil {
				return p, err
			}
			p.Messages, seen = append(p.Messages, shown), nil
		}
	}
	for _, spec := range req.Tools {
		tool, err := function(spec, names)
		if err != nil {
			return p, err
		}
		p.Tools = append(p.Tools, tool)
	}
	return p, nil
}

func message(m model.Message, names *wire.Names) (sdk.ChatCompletionMessageParamUnion, error) {
	var out said
	switch {
	case len(m.Images) > 0 && m.Role != model.Tool:
		return sdk.ChatCompletionMessageParamUnion{}, wire.Refuse("an image stands outside a result")
	case m.Role == model.System:
		out = said{Content: &m.Text, Role: "system"}
	case m.Role == model.User:
		out = said{Content: &m.Text, Role: "user"}
	case m.Role == model.Tool:
		text := resultText(m)
		out = said{Content: &text, Call: m.CallID, Role: "tool"}
	case m.Role == model.Assistant:
		out = assistant(m, names)
	default:
		return sdk.ChatCompletionMessageParamUnion{}, wire.Refuse(fmt.Sprintf("a message has the role %q", m.Role))
	}
	data, err := encoded(out)
	return param.Override[sdk.ChatCompletionMessageParamUnion](data), err
}

// resultText marks a fault in words: the wire has no flag for it.
func resultText(m model.Message) string {
	if m.IsError {
		return "error: " + m.Text
	}
	return m.Text
}

func assistant(m model.Message, names *wire.Names) said {
	a := said{Role: "assistant"}
	if m.Text != "" || len(m.Calls) == 0 {
		a.Content = &m.Text
	}
	for _, c := range m.Calls {
		call := saidCall{ID: c.ID, Type: "function"}
		call.Function.Name, call.Function.Arguments = names.Wire(c.Name), string(c.Args)
		a.Calls = append(a.Calls, call)
	}
	return a
}

func function(spec tools.Spec, names *wire.Names) (sdk.ChatCompletionToolUnionParam, error) {
	schema, err := wire.SchemaOf(spec)
	if err != nil {
		return sdk.ChatCompletionToolUnionParam{}, err
	}
	f := offered{Type: "function"}
	f.Function.Name, f.Function.Description, f.Function.Parameters = names.Wire(spec.Name), spec.Description, schema
	data, err := encoded(f)
	return param.Override[sdk.ChatCompletionToolUnionParam](data), err
}
