// Package shell reads one line of shell and says what it would run and touch, without running it.
//
// A line is taken apart into commands with wrappers and assignments peeled. What the reader does not
// model makes the whole line unknown, never guessed: the commands and paths it could still see are kept,
// so that a rule that forbids finds them, but nothing may be allowed because of them.
package shell

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// MaxLine is the longest line that is read, in bytes. A longer one is unknown and has no commands.
const MaxLine = 64 << 10

// Bounds, so that a hostile line costs little: lines within lines (bash -c and its kind), the directories a
// line may be in, statements within statements, and wrappers round one command.
const (
	maxNested   = 4
	maxDirs     = 8
	maxLevels   = 100
	maxWrappers = 16
)

// Command is one command of a line. A redirection to a file is a command too, "> FILE".
type Command struct {
	Text string   // peeled, one blank between words, literal words quoted only where they must be
	Argv []string // literal words; nil where a word is not literal
	Also []string // the same command read otherwise: with its wrappers, by base name, as written

	ReadOnly bool // the read-only grammar knows this form; Argv may be nil all the same
	Root     bool // ReadOnly only in the worktree's own directory: what lies beside it names programs
}

// Line is a line taken apart. Paths are as written, relative ones joined to what the line's cd's name and
// not cleaned, so that symbolic links are resolved as the kernel would.
type Line struct {
	Known    bool      // the whole line is modelled
	Why      string    // what is not modelled, for people and the model; empty where Known
	Commands []Command // in order, also of a line that is not Known; nil where nothing could be parsed
	Reads    []string  // operands of read-only commands, input redirections
	Globs    []string  // such operands with * and ? in them: what they come to is read
	Writes   []string  // output redirections; of a command not known read-only every operand, and outputs that options name
	Hosts    []string  // that such a command names, in a URL or to a program that dials
}

// ReadOnly reports whether the line is known to change nothing.
func (l Line) ReadOnly() bool {
	if !l.Known || len(l.Writes) > 0 {
		return false
	}
	for _, c := range l.Commands {
		if !c.ReadOnly {
			return false
		}
	}
	return true
}

// Parse takes a line apart. It runs nothing and reads no file.
func Parse(line string) Line { return parse(line, 0) }

func parse(line string, depth int) Line {
	l := Line{Known: true}
	if why := unreadable(line); why != "" {
		return Line{Why: why}
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return Line{Why: fmt.Sprintf("the line does not parse: %v", err)}
	}
	l.Commands = []Command{}
	r := reader{src: line, depth: depth, line: &l}
	if why := disguised(line); why != "" {
		r.unknown("%s", why)
	}
	r.stmts(file.Stmts, []string{""})
	return l
}

// unreadable is why a line is not parsed at all.
func unreadable(line string) string {
	switch {
	case len(line) > MaxLine:
		return fmt.Sprintf("the line is longer than %d bytes", MaxLine)
	case !utf8.ValidString(line):
		return "the line is not valid UTF-8"
	case strings.ContainsRune(line, 0):
		return "the line holds a NUL byte"
	case brackets(line) > maxLevels:
		return fmt.Sprintf("more than %d brackets are open at once", maxLevels)
	}
	return ""
}

// brackets is how many brackets are open at most, quotes left aside: deep ones make the parser slow.
func brackets(line string) int {
	open, most := 0, 0
	for i := range len(line) {
		switch line[i] {
		case '(', '[', '{':
			open++
			most = max(most, open)
		case ')', ']', '}':
			open = max(0, open-1)
		}
	}
	return most
}

// disguised is why a line might not be what it looks like to the parser or to a person.
func disguised(line string) string {
	for i, c := range line {
		if c == '\n' || c == '\t' {
			continue
		}
		if unicode.IsControl(c) || unicode.Is(unicode.Cf, c) || c > unicode.MaxASCII && unicode.IsSpace(c) {
			return fmt.Sprintf("the line holds the invisible character %U", c)
		}
		if c != '\\' || i+1 == len(line) || line[i+1] != '\n' {
			continue
		}
		if i > 0 && !strings.ContainsRune(" \t\n", rune(line[i-1])) {
			return "a word is continued on the next line"
		}
		if strings.Contains(line[strings.LastIndexByte(line[:i], '\n')+1:i], "#") {
			return "a comment may be continued on the next line" // the shell ends a comment there, the parser does not
		}
	}
	return ""
}
