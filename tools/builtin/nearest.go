package builtin

import (
	"bytes"
	"fmt"
	"strings"
)

// Bounds of the search for what the model may have meant.
const (
	maxNearLines = 20000
	maxNearOld   = 50
	maxNearShown = 160 // bytes of a line
)

// nearest describes the place of the file that looks most like a text that was not found, and the first
// line that differs there. It is empty when nothing is like it.
func nearest(data []byte, old string) string {
	want := strings.Split(strings.TrimSuffix(old, "\n"), "\n")
	want = want[:min(len(want), maxNearOld)]
	have := bytes.SplitN(data, []byte("\n"), maxNearLines+1)
	have = have[:min(len(have), maxNearLines)]
	at := bestWindow(have, want)
	if at < 0 {
		return likeLine(have, want)
	}
	for k, w := range want {
		if at+k >= len(have) {
			return fmt.Sprintf(": it begins like line %d, but the file ends before it does", at+1)
		}
		if h := string(have[at+k]); h != w {
			return fmt.Sprintf(": nearest is line %d, where line %d differs%s:\n  file: %s\n  old:  %s",
				at+1, at+k+1, difference(h, w), quote(h), quote(w))
		}
	}
	return fmt.Sprintf(": nearest is line %d, where only the line end at the end of old differs", at+1)
}

// bestWindow is where most lines agree but for blanks, or -1.
func bestWindow(have [][]byte, want []string) int {
	trimmed := make([]string, len(want))
	for i, w := range want {
		trimmed[i] = strings.Join(strings.Fields(w), " ")
	}
	score := make(map[int]int) // by the line where the window begins
	for i, h := range have {
		line := strings.Join(strings.Fields(string(h)), " ")
		for k, w := range trimmed {
			if w != "" && w == line && i >= k {
				score[i-k]++
			}
		}
	}
	best, top := -1, 0
	for at, n := range score {
		if n > top || n == top && at < best {
			best, top = at, n
		}
	}
	return best
}

// likeLine names up to three lines that share most with the first line of the text.
func likeLine(have [][]byte, want []string) string {
	first := ""
	for _, w := range want {
		if first = strings.TrimSpace(w); first != "" {
			break
		}
	}
	pairs := bigrams(first)
	type hit struct {
		line  int
		score float64
	}
	var hits []hit
	for i, h := range have {
		s := likeness(pairs, bytes.TrimSpace(h))
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
		fmt.Fprintf(&out, "\n  %d: %s", h.line+1, quote(string(have[h.line])))
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
func likeness(pairs map[string]int, line []byte) float64 {
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
		pair := string(line[i : i+2])
		if left[pair] < pairs[pair] {
			left[pair]++
			common++
		}
	}
	return 2 * float64(common) / float64(size+n)
}

func difference(have, want string) string {
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
	switch {
	case strings.TrimSuffix(have, "\r") == want:
		return " in its line end (the file has CRLF: write \\r\\n)"
	case strings.TrimRight(have, " \t") == strings.TrimRight(want, " \t"):
		return " in blanks at its end"
	case strings.TrimLeft(have, " \t") == strings.TrimLeft(want, " \t"):
		return " in its indent (tabs or blanks)"
	case squeeze(have) == squeeze(want):
		return " in blanks"
	}
	return ""
}

func quote(s string) string {
	cut := clip(s, maxNearShown)
	if len(cut) < len(s) {
		return fmt.Sprintf("%q…", cut)
	}
	return fmt.Sprintf("%q", s)
}
