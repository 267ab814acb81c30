package repo

import (
	"regexp"
	"sync"
)

// lazily is an expression that is compiled when it is first used: every start of the program would pay for it, and a
// sandbox's helper is one.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
