package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// ArgError is an argument that a tool cannot take: a validation fault. Field may be empty where the arguments
// as a whole are wrong, Hint where there is nothing to suggest.
type ArgError struct{ Field, Reason, Hint string }

func (e *ArgError) Error() string {
	text := e.Reason
	if e.Field != "" {
		text = e.Field + ": " + text
	}
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	return text
}

// DecodeArgs reads arguments that Prepare has checked into a struct. Every error is an *ArgError: a field that
// the struct does not have, or a wrong type.
func DecodeArgs(args json.RawMessage, into any) error {
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	if wrong := new(json.UnmarshalTypeError); errors.As(err, &wrong) {
		return &ArgError{Field: wrong.Field, Reason: fmt.Sprintf("%s does not fit", wrong.Value)}
	}
	if err != nil {
		return &ArgError{Reason: strings.TrimPrefix(err.Error(), "json: ")}
	}
	if dec.More() {
		return &ArgError{Reason: "something follows the arguments"}
	}
	return nil
}
