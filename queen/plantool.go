package queen

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"colony/plan"
	"colony/strict"
	"colony/tools"
)

//go:embed plan.md
var planText string

// planParams names what a task may hold. What it must hold is the check's to say, so that all faults come at once.
const planParams = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["tasks"],
  "properties": {
    "goal": {"type": "string", "description": "The goal in your words, where it needs to be clearer than it was given. Left out: as given."},
    "why": {"type": "string", "description": "Why it has to be so many tasks. Needed for more than 8."},
    "tasks": {"type": "array", "description": "The whole plan.", "items": {
      "type": "object", "additionalProperties": true,
      "properties": {
        "id": {"type": "string", "description": "Needed. A short name of a-z, 0-9, dot, dash and underscore; it becomes part of branch names."},
        "title": {"type": "string", "description": "One line; it becomes the subject of the commit."},
        "prompt": {"type": "string", "description": "Needed. All that the ant is told: objective, why, real files, interfaces fixed in advance, what is out of scope, how to see that it is done."},
        "card": {"type": "string", "description": "Who does it, of the cards you were told. Left out: the run's default."},
        "needs": {"type": "array", "items": {"type": "string"}, "description": "Ids of tasks whose landed work this one builds on."},
        "files": {"type": "array", "items": {"type": "string"}, "description": "Write scope as patterns, such as limiter/**. Tasks whose scopes overlap do not run together."},
        "locks": {"type": "array", "items": {"type": "string"}, "description": "Names of what only one task at a time may use, such as a port."},
        "gates": {"type": "array", "description": "Commands of this task's own that must pass, beside the repository's: a command, or {run, name, dir, timeout}.",
          "items": {"type": ["string", "object"], "additionalProperties": true, "properties": {
            "run": {"type": "string"}, "name": {"type": "string"}, "dir": {"type": "string"}, "timeout": {"type": "string", "description": "Such as 90s."}}}},
        "caps": {"type": "object", "additionalProperties": true, "description": "What this task may use at most.", "properties": {
          "usd": {"type": "number"}, "tokens": {"type": "integer"}, "turns": {"type": "integer"}, "calls": {"type": "integer"},
          "wall": {"type": "string", "description": "Such as 30m."}}},
        "review": {"type": "boolean", "description": "Whether a reviewer reads the work before it lands."}
      }
    }}
  }
}`

// PlanCheck reads the arguments of a plan call as a plan, and finds all that is wrong with it.
type PlanCheck func(args json.RawMessage) (plan.Plan, strict.Faults)

type planTool struct {
	tools.Base
	check PlanCheck
}

// PlanTool is the one way for the planner to end: with a plan in which check finds no fault. All faults of a plan go
// back at once.
func PlanTool(check PlanCheck) tools.Tool { return planTool{check: check} }

var _ tools.Tool = planTool{}

func (planTool) Spec() tools.Spec {
	return tools.Spec{Name: "plan", Description: strings.TrimSpace(planText), Params: json.RawMessage(planParams), ReadOnly: true, Noncredential: true}
}

func (planTool) Effects(*tools.Env, json.RawMessage) (tools.Effects, error) {
	return tools.Effects{Known: true, ReadOnly: true}, nil
}

func (t planTool) Run(_ context.Context, _ *tools.Env, args json.RawMessage) (tools.Result, error) {
	made, faults := t.check(args)
	if len(faults) > 0 {
		return tools.Refuse(tools.Validation, toldFaults(faults)), nil
	}
	return tools.Result{Text: fmt.Sprintf("The plan is taken. Tasks: %d.", len(made.Tasks)), Ends: true}, nil
}

// toldFaults says all that is wrong with a plan.
func toldFaults(faults strict.Faults) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The plan is not taken. Faults: %d. Mend all of them, then call plan again with the whole plan.\n", len(faults))
	for _, f := range faults {
		fmt.Fprintf(&b, "- %s\n", f.Text)
		if f.Excerpt != "" {
			b.WriteString(f.Excerpt + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// PlanOf reads the arguments of a plan call: the faults that any plan can have, and those of tasks that are too many
// without a reason. Their places are in the arguments as indented JSON.
func PlanOf(args json.RawMessage) (plan.Plan, strict.Faults) {
	made, faults := plan.Parse("plan", spread(args))
	if len(made.Tasks) > fewTasks && strings.TrimSpace(made.Why) == "" {
		faults = append(faults, strict.Fault{File: "plan", Line: 1, Column: 1, Text: fmt.Sprintf("%d tasks are more than %d: say in why it has to be so many, or make fewer", len(made.Tasks), fewTasks)})
	}
	return made, faults.Sorted()
}

// fewTasks is how many tasks a plan may have without a reason.
const fewTasks = 8

// spread is JSON with a value a line, so that a fault has a place. It reads back as YAML to the same values.
func spread(args json.RawMessage) []byte {
	var v any
	dec := json.NewDecoder(strings.NewReader(string(args)))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return args
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return args
	}
	return []byte(b.String())
}
