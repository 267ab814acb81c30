package hatch

import (
	"fmt"

	"colony/strict"
)

// Problem is why the command could not do what was asked: one sentence, the next step and the exit code. Codes are
// listed in docs/errors.md.
type Problem struct {
	Exit    int    `json:"exit"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Next    string `json:"next"`
	At      *At    `json:"at,omitempty"`
	cause   error  // what the caller may still ask for; nil in most
}

// At is a place in a file that a person wrote. Line and column count from 1.
type At struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

func (p *Problem) Error() string { return p.Message }

func (p *Problem) Unwrap() error { return p.cause }

// FileProblem is the problem that a file's faults are: all are in its message, the first is its place.
func FileProblem(faults strict.Faults) *Problem {
	first := faults[0]
	return &Problem{
		Exit: 2, Code: "bad_file", Message: faults.Error(),
		Next: fmt.Sprintf("mend %s and start again", first.File),
		At:   &At{first.File, first.Line, first.Column},
	}
}
