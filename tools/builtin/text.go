package builtin

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// span is a run of lines, counted from 1, both ends included.
type span struct{ from, to int }

// lineAt is the number of the line that holds the byte at an offset.
func lineAt(data []byte, offset int) int {
	return 1 + bytes.Count(data[:offset], []byte("\n"))
}

// countLines counts a last line without a line end too.
func countLines(data []byte) int {
	n := bytes.Count(data, []byte("\n"))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// clip cuts a text to at most max bytes on a rune boundary.
func clip(s string, max int) string {
	if len(s) <= max {
		return s
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return s[:max]
}

// mark shows bytes as text: what is not UTF-8, and NUL, appears as \xNN. It counts those bytes.
func mark(data []byte) (string, int) {
	if utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 {
		return string(data), 0
	}
	var out strings.Builder
	bad := 0
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		if r == utf8.RuneError && n == 1 || r == 0 {
			fmt.Fprintf(&out, `\x%02x`, data[0])
			bad++
		} else {
			out.Write(data[:n])
		}
		data = data[n:]
	}
	return out.String(), bad
}

// spelt shows a name in one line, whatever is in it.
func spelt(name string) string {
	shown, _ := mark([]byte(name))
	if !strings.ContainsFunc(shown, unicode.IsControl) {
		return shown
	}
	var out strings.Builder
	for _, r := range shown {
		if unicode.IsControl(r) {
			out.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

// escapes are the spellings in which mark shows the bytes of a text that are not UTF-8, each once.
func escapes(data []byte) (all []string) {
	var seen [256]bool
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		if r == utf8.RuneError && n == 1 && !seen[data[0]] {
			seen[data[0]] = true
			all = append(all, fmt.Sprintf(`\x%02x`, data[0]))
		}
		data = data[n:]
	}
	return all
}

// binary reports whether the beginning of a file says that it is no text.
func binary(head []byte) bool {
	return bytes.IndexByte(head[:min(len(head), 8<<10)], 0) >= 0 || utf16(head)
}

func utf16(head []byte) bool {
	return bytes.HasPrefix(head, []byte{0xff, 0xfe}) || bytes.HasPrefix(head, []byte{0xfe, 0xff})
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

const maxShown = 20 // lines named in a text

func join(lines []int) string {
	words := make([]string, len(lines))
	for i, l := range lines {
		words[i] = strconv.Itoa(l)
	}
	return strings.Join(words, ", ")
}
