package builtin

import (
	"bytes"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// needles are texts of which every match of a pattern holds at least one. Looking for them is many times faster than
// running the pattern. None is known where list is empty.
type needles struct {
	list  []string // in lower case where fold
	fold  bool     // they stand in any case; all are ASCII then
	whole bool     // the pattern matches where one stands, and only there
}

const maxNeedles = 8

// needlesOf are the needles of a pattern that was simplified.
func needlesOf(re *syntax.Regexp) needles {
	switch re.Op {
	case syntax.OpLiteral:
		return literalNeedle(re)
	case syntax.OpCapture, syntax.OpPlus:
		return needlesOf(re.Sub[0]).part(re.Op == syntax.OpPlus)
	case syntax.OpConcat:
		var best needles
		for _, sub := range re.Sub {
			if n := needlesOf(sub); n.score() > best.score() {
				best = n
			}
		}
		return best.part(true)
	case syntax.OpAlternate:
		return anyOf(re.Sub)
	}
	return needles{}
}

func (n needles) part(part bool) needles {
	n.whole = n.whole && !part
	return n
}

// literalNeedle is the text, or in any case the longest part of it that has no other spellings than ASCII ones.
func literalNeedle(re *syntax.Regexp) needles {
	text := string(re.Rune)
	if strings.ContainsRune(text, utf8.RuneError) { // which a byte that is not UTF-8 matches too
		return needles{}
	}
	if re.Flags&syntax.FoldCase == 0 {
		return needles{list: []string{text}, whole: true}
	}
	best := ""
	for _, part := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r >= 0x80 || r == 'k' || r == 's' }) {
		if len(part) > len(best) {
			best = part
		}
	}
	if len(best) < 2 {
		return needles{}
	}
	return needles{list: []string{best}, fold: true}
}

func anyOf(subs []*syntax.Regexp) needles {
	out := needles{whole: true}
	for i, sub := range subs {
		n := needlesOf(sub)
		if len(n.list) == 0 || i > 0 && n.fold != out.fold {
			return needles{}
		}
		out.list, out.fold, out.whole = append(out.list, n.list...), n.fold, out.whole && n.whole
	}
	if len(out.list) > maxNeedles {
		return needles{}
	}
	return out
}

// score is how little the needles let through: by the shortest, then by how many there are.
func (n needles) score() int {
	if len(n.list) == 0 {
		return 0
	}
	short := len(n.list[0])
	for _, text := range n.list {
		short = min(short, len(text))
	}
	return short*(maxNeedles+1) - len(n.list) + 1
}

// hunt is a search for needles in one content, from front to back.
type hunt struct {
	needles
	data []byte
	next [maxNeedles]int // where each stands next; -1 where it does not
}

func (n needles) in(data []byte) *hunt {
	h := &hunt{needles: n, data: data}
	for i := range n.list {
		h.next[i] = h.index(i, 0)
	}
	return h
}

// from is where the next needle stands at or after an offset, or -1.
func (h *hunt) from(at int) int {
	best := -1
	for i := range h.list {
		if h.next[i] >= 0 && h.next[i] < at {
			h.next[i] = h.index(i, at)
		}
		if p := h.next[i]; p >= 0 && (best < 0 || p < best) {
			best = p
		}
	}
	return best
}

func (h *hunt) index(i, at int) int {
	p := -1
	if h.fold {
		p = foldIndex(h.data[at:], h.list[i])
	} else {
		p = bytes.Index(h.data[at:], []byte(h.list[i]))
	}
	if p < 0 {
		return -1
	}
	return at + p
}

// commonest are letters from the most frequent in texts and code on; what is not here is rarer.
const commonest = " etaonirsdlcumpfghybvw"

// foldIndex is where an ASCII text in lower case first stands in any case, or -1.
func foldIndex(data []byte, text string) int {
	anchor, rank := 0, -1
	for i := range len(text) {
		r := strings.IndexByte(commonest, text[i])
		if r < 0 {
			r = len(commonest)
		}
		if r > rank {
			anchor, rank = i, r
		}
	}
	lower := text[anchor]
	upper := lower
	if lower >= 'a' && lower <= 'z' {
		upper -= 'a' - 'A'
	}
	for i := anchor; i+len(text)-anchor <= len(data); i++ {
		if c := data[i]; (c == lower || c == upper) && foldEqual(data[i-anchor:], text) {
			return i - anchor
		}
	}
	return -1
}

func foldEqual(data []byte, text string) bool {
	for i := range len(text) {
		c := data[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != text[i] {
			return false
		}
	}
	return true
}

// looksAround reports whether a pattern asks for the begin or the end of a text: run over several lines at once it would
// not say what it says of each.
func looksAround(re *syntax.Regexp) bool {
	return re.Op == syntax.OpBeginText || re.Op == syntax.OpEndText || slices.ContainsFunc(re.Sub, looksAround)
}
