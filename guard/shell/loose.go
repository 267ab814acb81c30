package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxStars bounds the components of a path that hold * or ?: each is a walk through a directory.
const maxStars = 2

// globbed is the text of a word that comes to names of files, * and ? as they stand. It is false for a word that
// might come to anything else, and for one with a quoted part or a bracket: what is quoted is no pattern.
func globbed(w *syntax.Word) (string, bool) {
	if len(w.Parts) != 1 {
		return "", false
	}
	lit, ok := w.Parts[0].(*syntax.Lit)
	if !ok || !strings.ContainsAny(lit.Value, "*?") || strings.ContainsAny(lit.Value, "\\[]") {
		return "", false
	}
	stars := 0
	for component := range strings.SplitSeq(lit.Value, "/") {
		if strings.ContainsAny(component, "*?") {
			stars++
		}
	}
	var plain strings.Builder
	without := unstarred(lit.Value)
	return lit.Value, stars <= maxStars && unquote(&plain, without, true)
}

var variable = lazily(`^\$([A-Za-z0-9_]+|\{[A-Za-z0-9_]+\}|[?#])$`)

// variables reports whether a word is literal text and plain $NAME, ${NAME}, $? and $# only.
func (r *reader) variables(w *syntax.Word) bool {
	for i, part := range w.Parts {
		quoted, ok := part.(*syntax.DblQuoted)
		switch {
		case !ok && !r.plainPart(part, i == 0):
			return false
		case ok && (quoted.Dollar || slices.ContainsFunc(quoted.Parts, func(p syntax.WordPart) bool { return !r.plainInside(p) })):
			return false
		}
	}
	return true
}

// plainPart reports whether a part outside double quotes is literal, or a plain variable.
func (r *reader) plainPart(part syntax.WordPart, first bool) bool {
	var b strings.Builder
	switch part := part.(type) {
	case *syntax.Lit:
		return unquote(&b, unstarred(part.Value), first)
	case *syntax.SglQuoted:
		return !part.Dollar
	}
	return r.plainInside(part)
}

// plainInside is plainPart inside double quotes.
func (r *reader) plainInside(part syntax.WordPart) bool {
	if _, ok := part.(*syntax.ParamExp); ok {
		return variable().MatchString(r.text(part))
	}
	var b strings.Builder
	return unquoteDouble(&b, []syntax.WordPart{part})
}

// unstarred is a text without * and ?.
func unstarred(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "*", ""), "?", "") }
