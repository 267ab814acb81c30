package builtin

import (
	"bytes"
	"path/filepath"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"colony/view"
)

// Bounds of what is shown as a diff: the bytes that went and came, and both contents together.
const (
	maxDiff   = 256 << 10
	maxDiffed = 4 << 20
)

func (c change) views() view.List {
	if len(c.edits) == 0 {
		return nil
	}
	name := filepath.ToSlash(c.place.rel)
	changed := 0
	for _, e := range c.edits {
		changed += e.End - e.Start + len(e.New)
	}
	if changed > maxDiff || len(c.before)+len(c.after) > maxDiffed {
		return view.List{c.summary(name)}
	}
	from := "a/" + name
	if !c.exists {
		from = "/dev/null"
	}
	out, err := unified(from, "b/"+name, c.before, c.edits)
	if err != nil {
		return view.List{c.summary(name)}
	}
	out.Path = name
	return view.List{out}
}

// summary is the diff of contents too big to show one: how many lines the edits put in and take out.
func (c change) summary(name string) view.Diff {
	out := view.Diff{Path: name, Unified: "… too big for a diff\n"}
	for _, e := range c.edits {
		out.Added += countLines([]byte(e.New))
		out.Removed += countLines(c.before[e.Start:e.End])
	}
	return out
}

// unified is the edits as a unified diff. It takes the time that the changed parts need, not the file.
func unified(from, to string, before []byte, edits []udiff.Edit) (view.Diff, error) {
	var out view.Diff
	all, err := udiff.ToUnifiedDiff(from, to, "", nil, udiff.DefaultContextLines)
	if err != nil {
		return out, err
	}
	line, at, grown := 0, 0, 0 // lines before at, and by how many the hunks so far let the file grow
	for _, p := range parts(before, edits) {
		line += bytes.Count(before[at:p.from], []byte("\n"))
		at = p.from
		one, err := udiff.ToUnifiedDiff(from, to, string(before[p.from:p.to]), p.edits, udiff.DefaultContextLines)
		if err != nil {
			return out, err
		}
		for _, h := range one.Hunks {
			h.FromLine += line
			h.ToLine += line + grown
		}
		for _, h := range one.Hunks {
			for _, l := range h.Lines {
				switch l.Kind {
				case udiff.Insert:
					out.Added, grown = out.Added+1, grown+1
				case udiff.Delete:
					out.Removed, grown = out.Removed+1, grown-1
				}
			}
		}
		all.Hunks = append(all.Hunks, one.Hunks...)
	}
	out.Unified = all.String()
	return out, nil
}

// part is a stretch of a content around edits that lie close to each other, and these, in the stretch's offsets.
type part struct {
	stretch
	edits []udiff.Edit
}

// maxScanned bounds the bytes that making the diff of one part goes over: each of its edits costs the whole part.
const maxScanned = 64 << 20

func parts(before []byte, edits []udiff.Edit) (out []part) {
	for len(edits) > 0 {
		n := 1
		for n < len(edits) && edits[n].Start <= linesOn(before, edits[n-1].End, 2*udiff.DefaultContextLines+1) {
			n++
		}
		p := part{stretch: stretch{linesBack(before, edits[0].Start, udiff.DefaultContextLines),
			linesOn(before, edits[n-1].End, udiff.DefaultContextLines+1)}}
		for _, e := range edits[:n] {
			p.edits = append(p.edits, udiff.Edit{Start: e.Start - p.from, End: e.End - p.from, New: e.New})
		}
		if n*(p.to-p.from) > maxScanned {
			p.edits = joined(before[p.from:p.to], p.edits)
		}
		out, edits = append(out, p), edits[n:]
	}
	return out
}

// joined is one edit in the place of several.
func joined(data []byte, edits []udiff.Edit) []udiff.Edit {
	var text strings.Builder
	at := edits[0].Start
	for _, e := range edits {
		text.Write(data[at:e.Start])
		text.WriteString(e.New)
		at = e.End
	}
	return []udiff.Edit{{Start: edits[0].Start, End: at, New: text.String()}}
}

// linesBack is where the line that is n lines before the one at an offset begins.
func linesBack(data []byte, at, n int) int {
	for range n + 1 {
		if at = bytes.LastIndexByte(data[:at], '\n'); at < 0 {
			return 0
		}
	}
	return at + 1
}

// linesOn is the offset after the nth line end from an offset on.
func linesOn(data []byte, at, n int) int {
	for range n {
		i := bytes.IndexByte(data[at:], '\n')
		if i < 0 {
			return len(data)
		}
		at += i + 1
	}
	return at
}
