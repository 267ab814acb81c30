package view

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Line makes a string safe to print on one line of a terminal: control characters, C1 codes, line breaks, bidirectional and
// zero-width marks and bytes that are not UTF-8 are shown as escapes.
func Line(s string) string { return escape(s, false) }

// Text is Line that keeps line feeds and tabs.
func Text(s string) string { return escape(s, true) }

func escape(s string, keepBreaks bool) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case keepBreaks && (r == '\n' || r == '\t'):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case drives(r) && r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case drives(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

// EscapeJSON makes a JSON document safe to print on a terminal without changing what it says.
func EscapeJSON(data []byte) []byte {
	var b strings.Builder
	for _, r := range string(data) {
		if drives(r) && r != '\n' {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return []byte(b.String())
}

// drives reports whether a terminal or a reader's eye can be led astray by r.
func drives(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r <= 0x9f:
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x2069, r == 0xfeff, r == 0x061c:
		return true
	}
	return false
}
