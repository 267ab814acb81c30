package tools

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

//go:embed ask.md
var askText string

// askTool puts a question to a person through the env's one door.
type askTool struct{ Base }

// AskTool is ask: a question to a person.
func AskTool() Tool { return askTool{} }

// Spec advertises the tool.
func (askTool) Spec() Spec {
	return Spec{
		Name: "ask", Description: strings.TrimSpace(askText), ReadOnly: true,
		Params: json.RawMessage(`{"type":"object","properties":{` +
			`"question":{"type":"string","minLength":1,"maxLength":4000,"description":"The question, with all the person needs to answer it"},` +
			`"choices":{"type":"array","items":{"type":"string","minLength":1,"maxLength":200},"maxItems":10,"description":"Answers to choose from"}},` +
			`"required":["question"],"additionalProperties":false}`),
	}
}

// IsConcurrencySafe is true: a question changes nothing, so that others need not wait for its answer.
func (askTool) IsConcurrencySafe(json.RawMessage) bool { return true }

// Effects are none.
func (askTool) Effects(_ *Env, args json.RawMessage) (Effects, error) {
	_, err := parseAsk(args)
	return Effects{Known: true, ReadOnly: true}, err
}

// Run is the person's answer, or the word that nobody can answer.
func (askTool) Run(ctx context.Context, env *Env, args json.RawMessage) (Result, error) {
	q, err := parseAsk(args)
	if err != nil {
		return Result{}, err
	}
	answer, err := env.Ask(ctx, q)
	if err != nil {
		return Result{}, fmt.Errorf("ask a person: %w", err)
	}
	if answer.Headless {
		return Result{Text: "Nobody can answer. Decide yourself what fits the task best, go on, and state the assumption in done."}, nil
	}
	if strings.TrimSpace(answer.Text) == "" {
		return Result{Text: "The person gave no text as an answer. Decide yourself, and state the assumption in done."}, nil
	}
	return Result{Text: "The person answered: " + answer.Text}, nil
}

func parseAsk(args json.RawMessage) (Question, error) {
	var a struct {
		Question string
		Choices  []string
	}
	if err := DecodeArgs(args, &a); err != nil {
		return Question{}, err
	}
	if strings.TrimSpace(a.Question) == "" {
		return Question{}, &ArgError{Field: "question", Reason: "it is empty"}
	}
	return Question{Kind: "question", Text: a.Question, Choices: a.Choices}, nil
}
