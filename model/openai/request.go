package openai

import (
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
	if len(m.Images) > 0 {
		return sdk.ChatCompletionMessageParamUnion{}, refuse("images in a conversation are not built yet")
	}
	switch m.Role {
	case model.System:
		return sdk.SystemMessage(m.Text), nil
	case model.User:
		return sdk.UserMessage(m.Text), nil
	case model.Tool:
		return sdk.ToolMessage(resultText(m), m.CallID), nil
	case model.Assistant:
		return assistant(m, names), nil
	}
	return sdk.ChatCompletionMessageParamUnion{}, refuse(fmt.Sprintf("a message has the role %q", m.Role))
}

// resultText marks a fault in words: the wire has no flag for it.
func resultText(m model.Message) string {
	if m.IsError {
		return "error: " + m.Text
	}
	return m.Text
}

func assistant(m model.Message, names *nameTable) sdk.ChatCompletionMessageParamUnion {
	var a sdk.ChatCompletionAssistantMessageParam
	if m.Text != "" || len(m.Calls) == 0 {
		a.Content.OfString = param.NewOpt(m.Text)
	}
	for _, c := range m.Calls {
		a.ToolCalls = append(a.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
				ID: c.ID,
				Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{
					Name: names.wire(c.Name), Arguments: string(c.Args),
				},
			},
		})
	}
	return sdk.ChatCompletionMessageParamUnion{OfAssistant: &a}
}

func function(spec tools.Spec, names *nameTable) (sdk.ChatCompletionToolUnionParam, error) {
	var schema map[string]any
	if err := json.Unmarshal(spec.Params, &schema); err != nil || schema == nil {
		return sdk.ChatCompletionToolUnionParam{}, refuse(fmt.Sprintf("tool %q: its schema is no JSON object", spec.Name))
	}
	return sdk.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
		Name: names.wire(spec.Name), Description: param.NewOpt(spec.Description), Parameters: schema,
	}), nil
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
