package builtin

import (
	"bytes"

	"github.com/aymanbagabas/go-udiff"
)

// splice is a content under change that remembers which of its bytes are the original's.
type splice struct {
	now    []byte
	pieces []piece // now, taken apart
}

// piece is a run of bytes: of the original from an offset on, or new where from is negative.
type piece struct {
	from, size int
}

func newSplice(original []byte) *splice {
	return &splice{now: original, pieces: []piece{{0, len(original)}}}
}

// replaceAt puts text in the place of size bytes at each offset. Offsets ascend and do not overlap.
func (s *splice) replaceAt(offsets []int, size int, text string) {
	var now bytes.Buffer
	now.Grow(len(s.now) + len(offsets)*(len(text)-size))
	at := 0
	for _, o := range offsets {
		now.Write(s.now[at:o])
		now.WriteString(text)
		at = o + size
	}
	now.Write(s.now[at:])
	s.now = now.Bytes()
	s.cut(offsets, size, len(text))
}

// cut takes size bytes out of the pieces at each offset and puts a new piece of added bytes there.
func (s *splice) cut(offsets []int, size, added int) {
	var out []piece
	rest, at := s.pieces, 0 // at is the offset where rest begins
	take := func(n int, keep bool) {
		for n > 0 {
			head := rest[0]
			k := min(n, head.size)
			if keep {
				out = append(out, piece{head.from, k})
			}
			rest[0] = head.after(k)
			if rest[0].size == 0 {
				rest = rest[1:]
			}
			n, at = n-k, at+k
		}
	}
	for _, o := range offsets {
		take(o-at, true)
		take(size, false)
		out = append(out, piece{-1, added})
	}
	s.pieces = append(out, rest...)
}

func (p piece) after(n int) piece {
	if p.from >= 0 {
		p.from += n
	}
	p.size -= n
	return p
}

// edits are the changes in the original's offsets, in order; original is its length.
func (s *splice) edits(original int) []udiff.Edit {
	var out []udiff.Edit
	end, at, begin := 0, 0, 0 // of the original, of now, and where the bytes that are new begin
	gap := func(next int) {
		if next > end || at > begin {
			out = append(out, udiff.Edit{Start: end, End: next, New: string(s.now[begin:at])})
		}
	}
	for _, p := range s.pieces {
		if p.from >= 0 && p.size > 0 {
			gap(p.from)
			end, begin = p.from+p.size, at+p.size
		}
		at += p.size
	}
	gap(original)
	return out
}
