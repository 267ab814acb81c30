package queen

import (
	"context"
	_ "embed"
	"encoding/json"

	"colony/tools"
)

//go:embed done.md
var doneText string

const doneParams = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["summary"],
  "properties": {
    "summary": {"type": "string", "description": "What changed, which commands ran and what they returned, what is not done. For no_change: the reason."},
    "outcome": {"type": "string", "enum": ["done", "no_change", "blocked"], "description": "done unless given."},
    "tried": {"type": "string", "description": "For blocked: what was tried."},
    "missing": {"type": "string", "description": "For blocked: what is missing."}
  }
}`

type doneTool struct{ tools.Base }

// DoneTool is the one way for an ant to end its task.
func DoneTool() tools.Tool { return doneTool{} }

var _ tools.Tool = doneTool{}

func (doneTool) Spec() tools.Spec {
	return tools.Spec{Name: "done", Description: doneText, Params: json.RawMessage(doneParams), ReadOnly: true, Noncredential: true}
}

func (doneTool) Effects(_ *tools.Env, args json.RawMessage) (tools.Effects, error) {
	var a struct {
		Summary, Outcome, Tried, Missing string
	}
	if err := json.Unmarshal(args, &a); err != nil {
		return tools.Effects{}, &tools.ArgError{Field: "summary", Reason: err.Error()}
	}
	if a.Outcome == "blocked" && (a.Tried == "" || a.Missing == "") {
		return tools.Effects{}, &tools.ArgError{Field: "tried", Reason: "blocked needs both tried and missing"}
	}
	return tools.Effects{Known: true, ReadOnly: true}, nil
}

func (doneTool) Run(context.Context, *tools.Env, json.RawMessage) (tools.Result, error) {
	return tools.Result{Text: "Ended. The gates of the task run now.", Ends: true}, nil
}
