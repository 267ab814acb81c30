package tools

import "strings"

// filter is a card's wall: what it allows, less what it denies. The zero value allows nothing.
type filter struct{ allow, deny []string }

func (f filter) allows(name string) bool {
	return matchesAny(f.allow, name) && !matchesAny(f.deny, name)
}

func matchesAny(patterns []string, name string) bool {
	for _, p := range patterns {
		if matches(p, name) {
			return true
		}
	}
	return false
}

// matches reports whether the name is the pattern, where a star stands for any run of characters.
func matches(pattern, name string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == name
	}
	if !strings.HasPrefix(name, head) {
		return false
	}
	name = name[len(head):]
	for {
		part, after, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(name, part)
		}
		at := strings.Index(name, part)
		if at < 0 {
			return false
		}
		name, rest = name[at+len(part):], after
	}
}

func isPattern(s string) bool { return strings.Contains(s, "*") }
