package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is one word of a command. At most one of literal, glob and variable holds.
type word struct {
	value    string // where literal or glob
	source   string // as written
	literal  bool
	glob     bool // unquoted * and ? only: it comes to names of files
	variable bool // plain $NAME and literal text only: expanding it runs and sets nothing
}

var plain = lazily(`^[A-Za-z0-9_@%+=:,./^-][A-Za-z0-9_@%+=:,./^~-]*$`)

// text is the word as rules see it.
func (w word) text() string {
	if !w.literal {
		return w.source
	}
	if plain().MatchString(w.value) {
		return w.value
	}
	return "'" + strings.ReplaceAll(w.value, "'", `'\''`) + "'"
}

func joined(words []word) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.text()
	}
	return strings.Join(texts, " ")
}

// Canonical is a simple command in the spelling of Command.Text, or the text itself where it is no simple
// command of literal words. Wrappers are kept.
func Canonical(text string) string {
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil || len(file.Stmts) != 1 {
		return text
	}
	call, ok := file.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(file.Stmts[0].Redirs) > 0 || file.Stmts[0].Semicolon.IsValid() {
		return text
	}
	words := make([]word, len(call.Args))
	for i, arg := range call.Args {
		value, literal := literal(arg)
		if !literal {
			return text
		}
		words[i] = word{value: value, literal: true}
	}
	return joined(words)
}

// literal is the value of a word that means the same whatever the variables, files and home are.
func literal(w *syntax.Word) (string, bool) {
	var b strings.Builder
	for i, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			whole := len(w.Parts) == 1 && (part.Value == "{}" || part.Value == "[")
			if !whole && !unquote(&b, part.Value, i == 0) {
				return "", false
			}
			if whole {
				b.WriteString(part.Value)
			}
		case *syntax.SglQuoted:
			if part.Dollar {
				return "", false
			}
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			if part.Dollar || !unquoteDouble(&b, part.Parts) {
				return "", false
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// unquote appends an unquoted part; false where it would be expanded.
func unquote(b *strings.Builder, s string, first bool) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			i++
			if i < len(s) && s[i] != '\n' {
				b.WriteByte(s[i])
			}
		case '*', '?', '[', '{', '$', '`':
			return false
		case '~':
			if i == 0 && first || i > 0 && (s[i-1] == '=' || s[i-1] == ':') {
				return false
			}
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return true
}

// unquoteDouble appends the inside of double quotes; false where it would be expanded.
func unquoteDouble(b *strings.Builder, parts []syntax.WordPart) bool {
	for _, part := range parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			return false
		}
		s := lit.Value
		for i := 0; i < len(s); i++ {
			switch {
			case s[i] == '$' || s[i] == '`':
				return false
			case s[i] == '\\' && i+1 < len(s) && s[i+1] == '\n':
				i++
			case s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\", s[i+1]) >= 0:
				i++
				b.WriteByte(s[i])
			default:
				b.WriteByte(s[i])
			}
		}
	}
	return true
}
