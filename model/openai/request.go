package openai

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"colony/model"
	"colony/tools"
)

// params is the request on the wire. What only OpenAI's own endpoint knows is sent only there.
func (c *Client) params(req model.Request, names *nameTable) (sdk.ChatCompletionNewParams, error) {
	p := sdk.ChatCompletionNewParams{
		Model:         req.Model,
		StreamOptions: sdk.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)},
	}
	if req.Effort != "" {
		p.ReasoningEffort = shared.ReasoningEffort(req.Effort)
	}
	switch {
	case req.OutputLimit > 0 && c.official:
		p.MaxCompletionTokens = param.NewOpt(int64(req.OutputLimit))
	case req.OutputLimit > 0:
		p.MaxTokens = param.NewOpt(int64(req.OutputLimit))
	}
	if c.official && req.CacheKey != "" {
		p.PromptCacheKey = param.NewOpt(req.CacheKey)
	}
	for _, m := range req.Messages {
		wire, err := message(m, names)
		if err != nil {
			return p, err
		}
		p.Messages = append(p.Messages, wire)
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

func message(m model.Message, names *nameTable) (sdk.ChatCompletionMessageParamUnion, error) {
	var wire said
	switch {
	case len(m.Images) > 0:
		return sdk.ChatCompletionMessageParamUnion{}, refuse("images in a conversation are not built yet")
	case m.Role == model.System:
		wire = said{Content: &m.Text, Role: "system"}
	case m.Role == model.User:
		wire = said{Content: &m.Text, Role: "user"}
	case m.Role == model.Tool:
		text := resultText(m)
		wire = said{Content: &text, Call: m.CallID, Role: "tool"}
	case m.Role == model.Assistant:
		wire = assistant(m, names)
	default:
		return sdk.ChatCompletionMessageParamUnion{}, refuse(fmt.Sprintf("a message has the role %q", m.Role))
	}
	data, err := encoded(wire)
	return param.Override[sdk.ChatCompletionMessageParamUnion](data), err
}

// resultText marks a fault in words: the wire has no flag for it.
func resultText(m model.Message) string {
	if m.IsError {
		return "error: " + m.Text
	}
	return m.Text
}

func assistant(m model.Message, names *nameTable) said {
	a := said{Role: "assistant"}
	if m.Text != "" || len(m.Calls) == 0 {
		a.Content = &m.Text
	}
	for _, c := range m.Calls {
		call := saidCall{ID: c.ID, Type: "function"}
		call.Function.Name, call.Function.Arguments = names.wire(c.Name), string(c.Args)
		a.Calls = append(a.Calls, call)
	}
	return a
}

func function(spec tools.Spec, names *nameTable) (sdk.ChatCompletionToolUnionParam, error) {
	schema, err := schemaOf(spec)
	if err != nil {
		return sdk.ChatCompletionToolUnionParam{}, err
	}
	f := offered{Type: "function"}
	f.Function.Name, f.Function.Description, f.Function.Parameters = names.wire(spec.Name), spec.Description, schema
	data, err := encoded(f)
	return param.Override[sdk.ChatCompletionToolUnionParam](data), err
}

// schemaOf is the schema of a tool's arguments.
func schemaOf(spec tools.Spec) (json.RawMessage, error) {
	if schema := bytes.TrimSpace(spec.Params); len(schema) == 0 || schema[0] != '{' || !json.Valid(schema) {
		return nil, refuse(fmt.Sprintf("tool %q: its schema is no JSON object", spec.Name))
	}
	return spec.Params, nil
}

// refuse is a request that is wrong before it is sent.
func refuse(text string) *model.Error { return &model.Error{Kind: model.BadRequest, Text: text} }

// nameTable maps tool names to names that the wire allows, and back. The wire name depends on the tool's
// name alone, so that it is the same in every request.
type nameTable struct{ tools map[string]string }

func nameTools(req model.Request) (*nameTable, error) {
	t := &nameTable{tools: map[string]string{}}
	for _, spec := range req.Tools {
		wire := t.wire(spec.Name)
		if other, ok := t.tools[wire]; ok {
			return nil, refuse(fmt.Sprintf("tools %q and %q cannot be told apart on the wire", other, spec.Name))
		}
		t.tools[wire] = spec.Name
	}
	return t, nil
}

// tool is the tool that a wire name stands for; a name that no tool has comes back as it is.
func (t *nameTable) tool(wire string) string {
	if name, ok := t.tools[wire]; ok {
		return name
	}
	return wire
}

const longestName = 64

// wire is a name of letters, digits, _ and -, at most 64 of them: the tool's own where it is one, otherwise
// one made of it and of a part of its hash.
func (t *nameTable) wire(name string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
	if clean == name && name != "" && len(name) <= longestName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return clean[:min(len(clean), longestName-9)] + "_" + hex.EncodeToString(sum[:4])
}
