package shell

import (
	"slices"
	"strings"
)

// form is one read-only form of a tool: a row of the table under one of its names.
type form struct {
	tableRow
	words   []string // behind the tool's name: the subcommand
	options map[string]kinds
	any     bool // every word is allowed
	needs   []string
	pattern []string
}

// verdict is what the grammar says of a command.
type verdict struct {
	readOnly bool
	root     bool     // only where the line and the worktree begin
	reads    []string // paths
	globs    []string // paths that hold * or ?
}

// judge is what the table says of a command. Its words are literal, or such as some rows allow.
func (t table) judge(words []word) verdict {
	if !words[0].literal {
		return verdict{}
	}
	for _, f := range t.forms[words[0].value] {
		rest, ok := f.behind(words[1:], t.between[words[0].value])
		if !ok {
			continue
		}
		if v := f.judge(rest); v.readOnly {
			return v
		}
	}
	return verdict{}
}

// behind is what follows the subcommand; false where another one is called.
func (f form) behind(words []word, between []string) ([]word, bool) {
	for len(words) > 0 && len(f.words) > 0 && words[0].literal && slices.Contains(between, words[0].value) {
		words = words[1:]
	}
	if len(words) < len(f.words) {
		return nil, false
	}
	for i, sub := range f.words {
		if !words[i].literal || words[i].value != sub {
			return nil, false
		}
	}
	return words[len(f.words):], true
}

// taken is what a row makes of the words behind the subcommand.
type taken struct {
	operands []word
	reads    []string // values of options that name a path
	needed   bool
	patterns int // options that stand in for an operand that is no path
}

func (f form) judge(words []word) verdict {
	if slices.ContainsFunc(words, func(w word) bool { return !f.admits(w) }) {
		return verdict{}
	}
	got, ok := f.take(words)
	if !ok || !got.needed {
		return verdict{}
	}
	text := int(f.Text)
	if text < 0 || text > len(got.operands) {
		text = len(got.operands)
	}
	if got.patterns > 0 {
		text = 0
	}
	if f.Most != nil && len(got.operands) > *f.Most {
		return verdict{}
	}
	v := verdict{readOnly: true, root: f.Root, reads: got.reads}
	for _, o := range got.operands[:text] {
		if !f.Loose && !o.literal || f.Operand.Regexp != nil && !f.Operand.MatchString(o.value) {
			return verdict{}
		}
	}
	for _, o := range got.operands[text:] {
		switch {
		case o.literal:
			v.reads = append(v.reads, o.value)
		case o.glob:
			v.globs = append(v.globs, o.value)
		}
	}
	return v
}

// admits reports whether a row may have a word at all.
func (f form) admits(w word) bool {
	switch {
	case f.Never.Regexp != nil && f.Never.MatchString(w.value):
		return false
	case w.literal, f.Loose && (w.glob || w.variable):
		return true
	}
	return f.Globs && f.Most == nil && w.glob
}

// take parts options from operands. It is false where an option is not allowed.
func (f form) take(words []word) (taken, bool) {
	got := taken{needed: len(f.needs) == 0}
	if f.any {
		return taken{needed: true}, true
	}
	for i := 0; i < len(words); i++ {
		arg := words[i].value
		late := len(got.operands) > 0 && (f.Most != nil || len(f.needs) > 0)
		if arg == "--" && !late {
			got.operands = append(got.operands, words[i+1:]...)
			behind := slices.ContainsFunc(words[i+1:], func(w word) bool { return strings.HasPrefix(w.value, "-") })
			return got, f.Ends || !behind
		}
		if len(arg) < 2 || arg[0] != '-' {
			got.operands = append(got.operands, words[i])
			continue
		}
		o, ok := f.option(arg)
		if !ok || late || i+o.words > len(words) {
			return got, false
		}
		for _, value := range words[i+1 : i+o.words] { // as many words as a glob comes to would shift the rest
			if !value.literal {
				return got, false
			}
			o.value = value.value
		}
		if !words[i].literal && !strings.HasPrefix(arg, "--") {
			return got, false
		}
		if o.path {
			got.reads = append(got.reads, o.value)
		}
		if slices.Contains(f.pattern, o.name) {
			got.patterns++
		}
		got.needed = got.needed || slices.Contains(f.needs, o.name)
		i += o.words - 1
	}
	return got, true
}
