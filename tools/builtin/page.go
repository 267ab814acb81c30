package builtin

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

const maxLine = 2000 // bytes of a line that are shown

// page is some lines of a file, taken from one pass over all of it in bounded memory.
type page struct {
	from, to    int // wanted; to 0 is the end
	last, total int // shown last; of the file
	bytes       int64
	digest      hash.Hash
	out         []byte
	full        bool
	bad, crlf   int
	bom         bool  // a byte order mark stands before the first line, which is shown without it
	clipped     []int // lines
}

// newPage is a page of a file of about size bytes.
func newPage(from, to int, size int64) *page {
	return &page{from: max(from, 1), to: to, digest: sha256.New(), out: make([]byte, 0, min(size+size/4, maxPageBytes)+512)}
}

// scan reads to the end. The error is the reader's or the context's.
func (b *page) scan(ctx context.Context, in *bufio.Reader) error {
	var line []byte // as much of the line as may be shown
	size := 0       // of the whole line
	for {
		part, err := in.ReadSlice('\n')
		b.digest.Write(part)
		b.bytes += int64(len(part))
		size += len(part)
		if room := maxLine + utf8.UTFMax - len(line); room > 0 && b.wants(b.total+1) {
			line = append(line, part[:min(len(part), room)]...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			if err := ctx.Err(); err != nil {
				return err
			}
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if size > 0 {
			b.total++
			b.add(line, size)
		}
		if err != nil {
			return nil
		}
		line, size = line[:0], 0
		if b.total%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

func (b *page) wants(line int) bool {
	return !b.full && line >= b.from && (b.to == 0 || line <= b.to)
}

// add shows the line that was just counted, if it is wanted and the page has room.
func (b *page) add(line []byte, size int) {
	if !b.wants(b.total) {
		return
	}
	body := bytes.TrimSuffix(line, []byte("\n"))
	if cut, ok := bytes.CutSuffix(body, []byte("\r")); ok && len(line) == size && len(line) > len(body) {
		body = cut
		b.crlf++
	}
	if b.total == 1 {
		body, b.bom = bytes.CutPrefix(body, []byte("\xef\xbb\xbf"))
	}
	cut := len(body) > maxLine
	if cut {
		body = runeCut(body, maxLine)
	}
	bad := 0
	if !utf8.Valid(body) || bytes.IndexByte(body, 0) >= 0 {
		var shown string
		shown, bad = mark(body)
		body = []byte(shown)
	}
	if b.last > 0 && (len(b.out)+len(body) > maxPageBytes || b.total-b.from >= maxPageLines) {
		b.full = true
		return
	}
	b.bad += bad
	b.last = b.total
	b.out = append(strconv.AppendInt(b.out, int64(b.total), 10), '\t')
	b.out = append(b.out, body...)
	if cut {
		b.clipped = append(b.clipped, b.total)
		b.out = fmt.Appendf(b.out, " … [line cut: %d bytes]", size)
	}
	b.out = append(b.out, '\n')
}

// runeCut shortens a line to about max bytes and leaves a rune whole.
func runeCut(line []byte, max int) []byte {
	for n := max; n > max-utf8.UTFMax; n-- {
		if utf8.RuneStart(line[n]) {
			return line[:n]
		}
	}
	return line[:max]
}

func (b *page) sum() string { return hex.EncodeToString(b.digest.Sum(nil)) }

// text is the page with what must be said about it.
func (b *page) text() string {
	var notes []string
	if b.last < b.total {
		notes = append(notes, fmt.Sprintf("lines %d to %d of %d; go on with from: %d", b.from, b.last, b.total, b.last+1))
	}
	if len(b.clipped) > 0 {
		notes = append(notes, "cut lines: "+join(b.clipped[:min(len(b.clipped), maxShown)]))
	}
	if b.bad > 0 {
		notes = append(notes, plural(b.bad, "byte is", "bytes are")+` not UTF-8, shown as \xNN`)
	}
	if b.bom {
		notes = append(notes, "the file begins with a byte order mark (U+FEFF), which edit keeps and write must give")
	}
	switch shown := b.last - b.from + 1; {
	case b.crlf == shown:
		notes = append(notes, `lines end in \r\n`)
	case b.crlf > 0:
		notes = append(notes, fmt.Sprintf(`%d of these lines end in \r\n`, b.crlf))
	}
	if len(notes) > 0 {
		b.out = append(b.out, "["+strings.Join(notes, "; ")+"]\n"...)
	}
	return string(b.out)
}
