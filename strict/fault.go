// Package strict reads a person's YAML strictly: unknown and duplicate keys, wrong types and bad syntax are
// faults with file, line, column and an excerpt, and all faults of a file come at once.
package strict

import (
	"fmt"
	"slices"
	"strings"
)

// Fault is one thing that is wrong with a file. Line and Column count from 1; a Line of 0 means that the
// source has no lines, as a variable of the environment. Excerpt is the line with a caret under the place.
type Fault struct {
	File         string
	Line, Column int
	Text         string
	Excerpt      string
}

// Error is the fault as one line, and its excerpt on the next ones if there is one.
func (f Fault) Error() string {
	at := f.File
	if f.Line > 0 {
		at = fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
	}
	if f.Excerpt == "" {
		return at + ": " + f.Text
	}
	return at + ": " + f.Text + "\n" + f.Excerpt
}

// Faults are all that is wrong, in the order of their places. Empty Faults are no error: use Err where an
// error is wanted.
type Faults []Fault

// Error is every fault, one after the other.
func (fs Faults) Error() string {
	texts := make([]string, len(fs))
	for i, f := range fs {
		texts[i] = f.Error()
	}
	return strings.Join(texts, "\n")
}

// Err is the faults as an error, and nil if there are none.
func (fs Faults) Err() error {
	if len(fs) == 0 {
		return nil
	}
	return fs
}

// Sorted is the faults by file, line and column, each once.
func (fs Faults) Sorted() Faults {
	out := slices.Clone(fs)
	slices.SortStableFunc(out, func(a, b Fault) int {
		if c := strings.Compare(a.File, b.File); c != 0 {
			return c
		}
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return slices.Compact(out)
}
