package builtin

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// glob is a pattern of names. The common forms are told apart once, so that matching them takes no reading of the pattern.
type glob struct {
	text string
	kind globKind
}

type globKind int

const (
	anyGlob     globKind = iota
	literalGlob          // the text itself
	suffixGlob           // a star and the text, in one name
)

const globChars = `*?[]{}\`

func newGlob(text string) glob {
	rest, starred := strings.CutPrefix(text, "*")
	switch {
	case !strings.ContainsAny(text, globChars):
		return glob{text, literalGlob}
	case starred && !strings.ContainsAny(rest, globChars+"/"):
		return glob{rest, suffixGlob}
	}
	return glob{text, anyGlob}
}

func (g glob) match(name string) bool {
	switch g.kind {
	case literalGlob:
		return name == g.text
	case suffixGlob:
		return strings.HasSuffix(name, g.text) && strings.IndexByte(name, '/') < 0
	}
	ok, err := doublestar.Match(g.text, name)
	return ok && err == nil
}
