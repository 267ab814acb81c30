package plan

import (
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Covers reports whether the task may write the path, which is relative to the repository with slashes. A task
// without files may write all; a pattern that names a directory covers what is in it.
func (t Task) Covers(file string) bool {
	return len(t.Files) == 0 || covers(t.Files, file)
}

// Names reports whether the task's files name the path; without files it names none.
func (t Task) Names(file string) bool { return covers(t.Files, file) }

func covers(patterns []string, file string) bool {
	for _, p := range patterns {
		clean := path.Clean(p)
		if doublestar.MatchUnvalidated(clean, file) || directory(p) && doublestar.MatchUnvalidated(clean+"/**", file) {
			return true
		}
	}
	return false
}

// directory reports whether a pattern may name a directory: it ends with a slash, or in a plain name without a dot
// that parts off an extension.
func directory(pattern string) bool {
	last := path.Base(path.Clean(pattern))
	return strings.HasSuffix(pattern, "/") || !strings.ContainsAny(last, specials) && !strings.Contains(strings.TrimPrefix(last, "."), ".")
}

// Meets reports whether the tasks must not be at work at once: some path may be in the files of both, or they
// name the same lock. When it is not plain that two patterns have no path in common, they meet.
func (t Task) Meets(other Task) bool {
	for _, lock := range t.Locks {
		for _, o := range other.Locks {
			if lock == o {
				return true
			}
		}
	}
	for _, a := range t.Files {
		for _, b := range other.Files {
			if overlap(segments(a), segments(b)) {
				return true
			}
		}
	}
	return false
}

// segments are the parts of a pattern between slashes, and what lies beneath a directory. Where alternatives or escapes
// begin, the rest is taken for anything.
func segments(pattern string) []string {
	var out []string
	for _, s := range strings.Split(path.Clean(pattern), "/") {
		if strings.ContainsAny(s, `{}\`) || strings.Contains(s, "**") {
			s = "**"
		}
		out = append(out, s)
		if s == "**" && strings.ContainsAny(pattern, `{}\`) {
			return out
		}
	}
	if directory(pattern) {
		out = append(out, "**")
	}
	return out
}

// overlap reports whether a path may match both patterns; ** stands for any number of segments.
func overlap(a, b []string) bool {
	meet := make([][]bool, len(a)+1) // meet[i][j]: a[i:] and b[j:] may have a path in common
	for i := len(a); i >= 0; i-- {
		meet[i] = make([]bool, len(b)+1)
		for j := len(b); j >= 0; j-- {
			switch {
			case i == len(a) && j == len(b):
				meet[i][j] = true
			case i < len(a) && a[i] == "**":
				meet[i][j] = meet[i+1][j] || j < len(b) && meet[i][j+1]
			case j < len(b) && b[j] == "**":
				meet[i][j] = meet[i][j+1] || i < len(a) && meet[i+1][j]
			case i < len(a) && j < len(b):
				meet[i][j] = meet[i+1][j+1] && alike(a[i], b[j])
			}
		}
	}
	return meet[0][0]
}

// alike reports whether one name may match both segments.
func alike(a, b string) bool {
	switch {
	case !special(a) && !special(b):
		return a == b
	case !special(a):
		return doublestar.MatchUnvalidated(b, a)
	case !special(b):
		return doublestar.MatchUnvalidated(a, b)
	}
	headA, tailA := ends(a)
	headB, tailB := ends(b)
	return (strings.HasPrefix(headA, headB) || strings.HasPrefix(headB, headA)) &&
		(strings.HasSuffix(tailA, tailB) || strings.HasSuffix(tailB, tailA))
}

const specials = `*?[]`

func special(segment string) bool { return strings.ContainsAny(segment, specials) }

// ends are what a name that matches begins and ends with.
func ends(segment string) (head, tail string) {
	return segment[:strings.IndexAny(segment, specials)], segment[strings.LastIndexAny(segment, specials)+1:]
}

// globs finds files that are no pattern within the repository, and locks without a name.
func (c *check) globs() {
	for i, t := range c.plan.Tasks {
		for j, p := range t.Files {
			switch {
			case strings.TrimSpace(p) == "" || !doublestar.ValidatePattern(p):
				c.fault("files are patterns such as limiter/** or api/*.go", "tasks[%d].files[%d]", i, j)
			case path.IsAbs(p) || path.Clean(p) == ".." || strings.HasPrefix(path.Clean(p), "../"):
				c.fault("files are inside the repository and relative to it", "tasks[%d].files[%d]", i, j)
			}
		}
		for j, lock := range t.Locks {
			if strings.TrimSpace(lock) == "" {
				c.fault("a lock needs a name", "tasks[%d].locks[%d]", i, j)
			}
		}
	}
}
