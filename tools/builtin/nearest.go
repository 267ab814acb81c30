package builtin

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of the search for what the model may have meant.
const (
	maxNearLines = 20000
	maxNearOld   = 50
	maxNearShown = 300 // bytes of a line
	maxDiffer    = 5   // lines that are shown to differ
)

// nearest describes the place of the file that looks most like a text that was not found, and the lines that differ
// there. It is empty when nothing is like it.
func nearest(data []byte, old string) string {
	want := strings.Split(strings.TrimSuffix(old, "\n"), "\n")
	if bare, ok := unnumbered(want); ok && bytes.Contains(data, []byte(strings.Join(bare, "\n"))) {
		return ": it begins each line with the number and the tab that read shows: leave those out"
	}
	want = want[:min(len(want), maxNearOld)]
	have := bytes.SplitN(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"), maxNearLines+1)
	all := len(have) <= maxNearLines
	have = have[:min(len(have), maxNearLines)]
	said := ""
	if at := bestWindow(have, want); at < 0 {
		said = likeLine(have, want)
	} else {
		said = compared(have[at:], want, at+1)
	}
	if !all {
		said += fmt.Sprintf("\n  only the first %d lines were compared: it may stand further down", maxNearLines)
	}
	return said
}

// unnumbered is the lines without the numbers that read puts before them. It is false where one has none.
func unnumbered(lines []string) ([]string, bool) {
	var out []string
	for _, line := range lines {
		number, rest, ok := strings.Cut(line, "\t")
		if _, err := strconv.Atoi(number); !ok || err != nil {
			return nil, false
		}
		out = append(out, rest)
	}
	return out, true
}

// compared names the lines that differ between what stands in the file from a line on and what is wanted there.
func compared(have [][]byte, want []string, line int) string {
	var out strings.Builder
	differ := 0
	for k, w := range want {
		if k >= len(have) {
			fmt.Fprintf(&out, "\n  the file ends at line %d, before it does", line+k-1)
			differ++
			break
		}
		h := string(have[k])
		if h == w {
			continue
		}
		if differ++; differ > maxDiffer {
			out.WriteString("\n  …")
			break
		}
		fmt.Fprintf(&out, "\n  line %d differs%s:\n    file: %s\n    old:  %s", line+k, difference(h, w), quote(h), quote(w))
	}
	if differ == 0 {
		return fmt.Sprintf(": nearest is line %d, where only the line end at the end of old differs", line)
	}
	return fmt.Sprintf(": nearest is line %d, where%s", line, out.String())
}

// bestWindow is where most lines agree but for blanks, or -1. A line counts by its length, and the less the more often it
// stands in the file; the first one counts a little also where it is only like what stands there.
func bestWindow(have [][]byte, want []string) int {
	lines := make(map[string][]int, len(want)) // of the file, by the lines of the text
	for _, w := range want {
		if w = squeezed(w); w != "" {
			lines[w] = nil
		}
	}
	first, pairs := -1, map[string]int(nil)
	if first = slices.IndexFunc(want, func(w string) bool { return squeezed(w) != "" }); first >= 0 && len(want) > 1 {
		pairs = bigrams(look(want[first]))
	}
	score := make(map[int]float64) // by the line where the window begins
	for i, h := range have {
		line := squeezed(string(h))
		if known, ok := lines[line]; ok {
			lines[line] = append(known, i)
		} else if s := likeness(pairs, look(string(h))); s >= 0.6 && i >= first {
			score[i-first] += s * weight(line) / 2
		}
	}
	for k, w := range want {
		at := lines[squeezed(w)]
		for _, i := range at {
			if i >= k {
				score[i-k] += weight(w) / float64(len(at))
			}
		}
	}
	best, top := -1, 0.0
	for at, n := range score {
		if n > top || n == top && at < best {
			best, top = at, n
		}
	}
	return best
}

func squeezed(line string) string { return strings.Join(strings.Fields(line), " ") }

func weight(line string) float64 { return float64(min(len(line), 40)) }

// likeLine names up to three lines that share most with the first line of the text.
func likeLine(have [][]byte, want []string) string {
	first := ""
	for _, w := range want {
		if first = strings.TrimSpace(w); first != "" {
			break
		}
	}
	pairs := bigrams(look(first))
	type hit struct {
		line  int
		score float64
	}
	var hits []hit
	for i, h := range have {
		s := likeness(pairs, look(string(h)))
		if s < 0.6 {
			continue
		}
		k := len(hits)
		for k > 0 && hits[k-1].score < s {
			k--
		}
		if k < 3 {
			hits = append(hits[:k], append([]hit{{i, s}}, hits[k:]...)...)
			hits = hits[:min(len(hits), 3)]
		}
	}
	if len(hits) == 0 {
		return " and nothing is like it: read the file again"
	}
	var out strings.Builder
	out.WriteString(": nearest lines:")
	for _, h := range hits {
		line := string(have[h.line])
		fmt.Fprintf(&out, "\n  %d: %s", h.line+1, quote(line))
		if d := difference(line, strings.TrimSuffix(want[0], "\n")); d != "" && len(want) == 1 {
			out.WriteString(" differs" + d)
		}
	}
	return out.String()
}

func bigrams(s string) map[string]int {
	out := make(map[string]int, len(s))
	for i := 0; i+2 <= min(len(s), maxNearShown); i++ {
		out[s[i:i+2]]++
	}
	return out
}

// likeness is the share of pairs of bytes that two lines have in common, from 0 to 1.
func likeness(pairs map[string]int, line string) float64 {
	line = line[:min(len(line), maxNearShown)]
	size, n := len(line)-1, 0
	for _, k := range pairs {
		n += k
	}
	if size <= 0 || n == 0 || size > 3*n || n > 3*size {
		return 0
	}
	common := 0
	left := make(map[string]int, len(pairs))
	for i := range size {
		pair := line[i : i+2]
		if left[pair] < pairs[pair] {
			left[pair]++
			common++
		}
	}
	return 2 * float64(common) / float64(size+n)
}

// alike maps what looks alike to one spelling: quotes, dashes, blanks, and what stands for three dots.
var alike = strings.NewReplacer("\u2018", "'", "\u2019", "'", "\u201a", "'", "`", "'", "\u201c", `"`, "\u201d", `"`, "\u201e", `"`, "\u00ab", `"`, "\u00bb", `"`,
	"\u2010", "-", "\u2011", "-", "\u2012", "-", "\u2013", "-", "\u2014", "-", "\u2212", "-", "\u00a0", " ", "\u2007", " ", "\u202f", " ",
	"\u2009", " ", "\u200b", "", "\ufeff", "", "\u2026", "...")

// look is a line as a person sees it: quotes are one kind, and what read shows for a byte that is not UTF-8 is that byte.
func look(line string) string {
	shown, _ := mark([]byte(strings.TrimSpace(line)))
	return strings.ReplaceAll(alike.Replace(shown), `"`, "'")
}

func difference(have, want string) string {
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
	switch {
	case strings.TrimSuffix(have, "\r") == want:
		return " in its line end (the file has CRLF: write \\r\\n)"
	case have == strings.TrimSuffix(want, "\r"):
		return " in its line end (the file has LF: write \\n)"
	case strings.TrimRight(have, " \t\r") == strings.TrimRight(want, " \t\r"):
		return " in blanks at its end"
	case strings.TrimLeft(have, " \t") == strings.TrimLeft(want, " \t"):
		return " in its indent (" + indent(have) + " in the file, " + indent(want) + " in old)"
	case squeeze(have) == squeeze(want):
		return " in blanks"
	case !utf8.ValidString(have):
		return ", and holds bytes that are not UTF-8, which old cannot: edit around them"
	case strings.EqualFold(have, want):
		return " in upper and lower case"
	case squeeze(look(have)) == squeeze(look(want)):
		return " in its quotes, dashes or blanks, which only look alike"
	}
	return ""
}

// indent says what a line begins with.
func indent(line string) string {
	head := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	tabs := strings.Count(head, "\t")
	switch blanks := len(head) - tabs; {
	case head == "":
		return "none"
	case blanks == 0:
		return plural(tabs, "tab", "tabs")
	case tabs == 0:
		return plural(blanks, "blank", "blanks")
	}
	return fmt.Sprintf("%q", head)
}

func quote(s string) string {
	cut := clip(s, maxNearShown)
	if len(cut) < len(s) {
		return fmt.Sprintf("%q…", cut)
	}
	return fmt.Sprintf("%q", s)
}
