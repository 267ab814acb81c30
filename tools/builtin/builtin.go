// Package builtin is the tools every ant is born with: read, write, edit, find, sh and skill, and the tools
// that a person brings. A path is resolved
// link by link at the call's turn and opened without following any link, so that nothing is read or
// written outside the ant's worktree. What the model reads about a tool stands in a text beside it.
package builtin

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"colony/tools"
)

// All returns the built-in tools, sorted by name. A command that names no timeout may take shLimit.
func All(shLimit time.Duration) []tools.Tool {
	return []tools.Tool{edit{}, find{}, read{}, sh{limit: shLimit}, skill{limit: shLimit}, write{}}
}

// decode reads the arguments of a call. A fault in them is an *tools.ArgError.
func decode[T any](args json.RawMessage) (T, error) {
	var into T
	err := tools.DecodeArgs(args, &into)
	return into, err
}

// invalid turns a fault in the arguments into a result; any other error is colony's own.
func invalid(err error) (tools.Result, error) {
	if arg, ok := errors.AsType[*tools.ArgError](err); ok {
		return tools.Refuse(tools.Validation, arg.Error()), nil
	}
	return tools.Result{}, err
}

func badArg(field, reason, hint string) error {
	return &tools.ArgError{Field: field, Reason: reason, Hint: hint}
}

func text(md string) string { return strings.TrimSpace(md) }
