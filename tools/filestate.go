package tools

import (
	"math"
	"slices"
	"sync"
)

// FileState is what an ant has read and written, by content. It is safe for concurrent use.
type FileState struct {
	mu    sync.Mutex
	files map[string]fileView // guarded by mu
}

// fileView is what was seen of one content of a file. Spans are sorted, disjoint and not adjacent; reads are
// the ranges as they were read.
type fileView struct {
	hash  string
	spans []span
	reads []span
}

// span is lines from and to, both included.
type span struct{ from, to int }

// NewFileState has seen nothing.
func NewFileState() *FileState { return &FileState{files: map[string]fileView{}} }

// Apply adds what a call saw. Another hash of the same path forgets what was seen of the old content, and a
// write counts as the whole file.
func (f *FileState) Apply(seen ...Seen) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range seen {
		v := f.files[s.Path]
		if v.hash != s.Hash {
			v = fileView{hash: s.Hash}
		}
		part := lines(s.From, s.To)
		if s.Wrote {
			part = lines(1, 0)
		} else if !slices.Contains(v.reads, part) {
			v.reads = append(v.reads, part)
		}
		v.spans = merge(v.spans, part)
		f.files[s.Path] = v
	}
}

// Covers reports whether the lines from to to of this content of the file were seen, or the file was written
// by this ant with this content. To 0 is the end of the file.
func (f *FileState) Covers(path, hash string, from, to int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	v, ok := f.files[path]
	if !ok || v.hash != hash {
		return false
	}
	want := lines(from, to)
	return slices.ContainsFunc(v.spans, func(s span) bool { return s.from <= want.from && want.to <= s.to })
}

// Repeats reports whether exactly these lines of this content were read before: the model still has them. What
// the ant wrote does not count, since it may never have seen the rest of the file.
func (f *FileState) Repeats(path, hash string, from, to int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	v := f.files[path]
	return v.hash == hash && slices.Contains(v.reads, lines(from, to))
}

// Known is the hash of the content last seen of the file.
func (f *FileState) Known(path string) (hash string, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v, ok := f.files[path]
	return v.hash, ok
}

// Clear forgets everything: after a compaction the model no longer has what it read.
func (f *FileState) Clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.files)
}

func lines(from, to int) span {
	if to == 0 {
		to = math.MaxInt - 1
	}
	return span{max(from, 1), to}
}

// merge adds a span; one that ends before it begins adds nothing.
func merge(spans []span, add span) []span {
	if add.to < add.from {
		return spans
	}
	out := make([]span, 0, len(spans)+1)
	for _, s := range spans {
		if s.to+1 < add.from || add.to+1 < s.from {
			out = append(out, s)
			continue
		}
		add = span{min(s.from, add.from), max(s.to, add.to)}
	}
	out = append(out, add)
	slices.SortFunc(out, func(a, b span) int { return a.from - b.from })
	return out
}
