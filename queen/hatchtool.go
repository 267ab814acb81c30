package queen

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"

	"colony/tools"
)

//go:embed hatch.md
var hatchText string

const hatchParams = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["card", "prompt"],
  "properties": {
    "card": {"type": "string", "description": "Who the helper is, of the cards that yours may hatch."},
    "prompt": {"type": "string", "description": "The question, and all that the helper has to know."}
  }
}`

// Help lets a helper of a card do what the prompt says for an ant, and returns what the ant is told of it.
type Help func(ctx context.Context, ant, card, prompt string) (tools.Result, error)

type hatchTool struct {
	tools.Base
	help Help
}

// HatchTool is how an ant gets a helper. Helpers only look.
func HatchTool(help Help) tools.Tool { return hatchTool{help: help} }

var _ tools.Tool = hatchTool{}

func (hatchTool) Spec() tools.Spec {
	return tools.Spec{Name: "hatch", Description: strings.TrimSpace(hatchText), Params: json.RawMessage(hatchParams), ReadOnly: true, Noncredential: true}
}

func (hatchTool) IsConcurrencySafe(json.RawMessage) bool { return true }

func (hatchTool) Effects(_ *tools.Env, args json.RawMessage) (tools.Effects, error) {
	a, err := hatchArgsOf(args)
	return tools.Effects{Known: true, ReadOnly: true, Subjects: []string{a.Card}}, err
}

func (t hatchTool) Run(ctx context.Context, env *tools.Env, args json.RawMessage) (tools.Result, error) {
	a, err := hatchArgsOf(args)
	if err != nil {
		return tools.Result{}, err
	}
	return t.help(ctx, env.Ant, a.Card, a.Prompt)
}

type hatchArgs struct{ Card, Prompt string }

func hatchArgsOf(args json.RawMessage) (a hatchArgs, err error) {
	if err := json.Unmarshal(args, &a); err != nil {
		return a, &tools.ArgError{Field: "card", Reason: err.Error()}
	}
	if strings.TrimSpace(a.Prompt) == "" {
		return a, &tools.ArgError{Field: "prompt", Reason: "it is empty: say what the helper is to find out"}
	}
	return a, nil
}
