package mcp

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible is a text of a server in which nothing is hidden: what has no glyph, drives a terminal or turns the direction of
// reading is shown as an escape.
func Visible(s string) string {
	if !strings.ContainsFunc(s, hidden) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		if hidden(r) {
			fmt.Fprintf(&b, `\u{%X}`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
		return true
	}
	return r >= 0xFE00 && r <= 0xFE0F || r >= 0xE0100 && r <= 0xE01EF || r == 0x3164 || r == 0x115F || r == 0x1160 || r == 0xFFA0
}

// visibleIn is a decoded JSON value whose texts and keys hide nothing.
func visibleIn(v any) any {
	switch v := v.(type) {
	case string:
		return Visible(v)
	case []any:
		for i := range v {
			v[i] = visibleIn(v[i])
		}
	case map[string]any:
		for key, value := range v {
			if seen := Visible(key); seen != key {
				delete(v, key)
				key = seen
			}
			v[key] = visibleIn(value)
		}
	}
	return v
}

// clip bounds a text of a server, on a boundary of runes.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	cut := s[:most]
	for cut != "" && !utf8.RuneStart(s[len(cut)]) {
		cut = cut[:len(cut)-1]
	}
	return cut + "…"
}
