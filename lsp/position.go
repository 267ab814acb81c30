package lsp

import (
	"path/filepath"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// place is a position as people count: lines and characters from 1.
type place struct{ line, column int }

// units is how many units of an encoding a character takes; bytes that are no character are one.
func units(enc protocol.PositionEncodingKind, r rune, size int) int {
	switch enc {
	case protocol.PositionEncodingKindUTF8:
		return size
	case protocol.PositionEncodingKindUTF32:
		return 1
	}
	return max(1, utf16.RuneLen(r))
}

// offsetIn is the byte of a line at which a column in units lies, at most the line's end.
func offsetIn(line string, column int, enc protocol.PositionEncodingKind) int {
	at, n := 0, 0
	for at < len(line) && n < column {
		r, size := utf8.DecodeRuneInString(line[at:])
		n += units(enc, r, size)
		at += size
	}
	return at
}

// unitsIn is the column in units of a byte of a line.
func unitsIn(line string, offset int, enc protocol.PositionEncodingKind) int {
	n := 0
	for at := 0; at < min(offset, len(line)); {
		r, size := utf8.DecodeRuneInString(line[at:])
		n += units(enc, r, size)
		at += size
	}
	return n
}

// lines are those of a text, as LSP counts them.
func lines(text string) []string {
	if strings.IndexByte(text, '\r') >= 0 {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	}
	return strings.Split(text, "\n")
}

// placeIn is a server's position as people count it.
func placeIn(all []string, line, column int, enc protocol.PositionEncodingKind) place {
	if line >= len(all) {
		return place{line + 1, 1}
	}
	return place{line + 1, utf8.RuneCountInString(all[line][:offsetIn(all[line], column, enc)]) + 1}
}

// span is the bytes of a text between two positions.
func span(text string, r protocol.Range, enc protocol.PositionEncodingKind) (from, to int) {
	return offset(text, r.Start, enc), offset(text, r.End, enc)
}

// offset is the byte of a position, at most the text's end.
func offset(text string, p protocol.Position, enc protocol.PositionEncodingKind) int {
	at := 0
	for range p.Line {
		i := strings.IndexAny(text[at:], "\r\n")
		if i < 0 {
			return len(text)
		}
		at += i + 1
		if text[at-1] == '\r' && at < len(text) && text[at] == '\n' {
			at++
		}
	}
	end := strings.IndexAny(text[at:], "\r\n")
	if end < 0 {
		end = len(text) - at
	}
	return at + offsetIn(text[at:at+end], int(p.Character), enc)
}

// uriOf is a file's address, percent-encoded.
func uriOf(path string) uri.URI { return uri.File(path) }

// pathOf is the file of an address; empty for what is none.
func pathOf(u uri.URI) string {
	parsed, err := uri.Parse(string(u))
	if err != nil || !parsed.IsFile() || parsed.Authority() != "" {
		return ""
	}
	if path := parsed.FsPath(); filepath.IsAbs(path) && !strings.ContainsRune(path, 0) {
		return filepath.Clean(path)
	}
	return ""
}

// within is a path as it is named in a worktree; false for one outside.
func within(root, path string) (string, bool) {
	rel, err := filepath.Rel(root, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		return path, false
	}
	return rel, true
}
