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
	times int                 // guarded by mu; how often it forgot everything
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

// Apply adds what a call saw or wrote. Another hash of the same path forgets what was seen of the old content.
func (f *FileState) Apply(seen ...Seen) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range seen {
		v := f.files[s.Path]
		if v.hash != s.Hash {
			v = fileView{hash: s.Hash}
		}
		part := lines(s.From, s.To)
		if !s.Wrote && !slices.Contains(v.reads, part) {
			v.reads = append(v.reads, part)
		}
		v.spans = merge(v.spans, part)
		f.files[s.Path] = v
	}
}

// Parts are the lines of this content of the file that were seen or written, in order.
func (f *FileState) Parts(path, hash string) []Seen {
	f.mu.Lock()
	defer f.mu.Unlock()
	v := f.files[path]
	if v.hash != hash {
		return nil
	}
	var out []Seen
	for _, s := range v.spans {
		part := Seen{Path: path, Hash: hash, From: s.from, To: s.to}
		if s.to == toEnd {
			part.To = 0
		}
		out = append(out, part)
	}
	return out
}

// Covers reports whether the lines from to to of this content of the file were seen or written by this ant. To 0 is
// the end of the file.
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
	f.times++
}

// forgotten is how often it forgot everything.
func (f *FileState) forgotten() int {
	if f == nil {
		return 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.times
}

const toEnd = math.MaxInt - 1

func lines(from, to int) span {
	if to == 0 {
		to = toEnd
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
