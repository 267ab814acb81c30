package queen

import (
	"context"
	_ "embed"
	"encoding/json"

	"colony/event"
	"colony/tools"
)

//go:embed review.md
var reviewText string

const reviewParams = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["verdict"],
  "properties": {
    "verdict": {"type": "string", "enum": ["approve", "send_back"]},
    "findings": {"type": "array", "maxItems": 100, "items": {
      "type": "object",
      "additionalProperties": false,
      "required": ["file", "line", "severity", "text"],
      "properties": {
        "file": {"type": "string", "description": "Relative to the worktree."},
        "line": {"type": "integer", "minimum": 0},
        "severity": {"type": "integer", "minimum": 0, "maximum": 3},
        "text": {"type": "string", "minLength": 1, "maxLength": 4000, "description": "What breaks, with the input or path that shows it."},
        "confidence": {"type": "integer", "minimum": 0, "maximum": 100}
      }
    }}
  }
}`

type reviewTool struct{ tools.Base }

// ReviewTool is the one way for a reviewer to end: its verdict.
func ReviewTool() tools.Tool { return reviewTool{} }

var _ tools.Tool = reviewTool{}

func (reviewTool) Spec() tools.Spec {
	return tools.Spec{Name: "review", Description: reviewText, Params: json.RawMessage(reviewParams), ReadOnly: true, Noncredential: true}
}

func (reviewTool) Effects(_ *tools.Env, args json.RawMessage) (tools.Effects, error) {
	verdict, findings, err := ReadVerdict(args)
	if err != nil {
		return tools.Effects{}, &tools.ArgError{Field: "verdict", Reason: err.Error()}
	}
	grave := false
	for _, f := range findings {
		grave = grave || f.Severity < 2
	}
	switch {
	case verdict == SendBack && !grave:
		return tools.Effects{}, &tools.ArgError{Field: "findings", Reason: "send_back needs a finding of severity 0 or 1", Hint: "approve, and list the rest"}
	case verdict == Approve && grave:
		return tools.Effects{}, &tools.ArgError{Field: "verdict", Reason: "a finding of severity 0 or 1 cannot be approved", Hint: "send_back"}
	}
	return tools.Effects{Known: true, ReadOnly: true}, nil
}

func (reviewTool) Run(context.Context, *tools.Env, json.RawMessage) (tools.Result, error) {
	return tools.Result{Text: "Taken down.", Ends: true}, nil
}

// ReadVerdict is what a call of review says.
func ReadVerdict(args json.RawMessage) (verdict string, findings []event.Finding, err error) {
	var a struct {
		Verdict  string
		Findings []struct {
			File, Text     string
			Line, Severity int
		}
	}
	if err := json.Unmarshal(args, &a); err != nil {
		return "", nil, err
	}
	for _, f := range a.Findings {
		findings = append(findings, event.Finding{File: f.File, Line: f.Line, Severity: f.Severity, Text: f.Text, Status: "open"})
	}
	return a.Verdict, findings, nil
}
