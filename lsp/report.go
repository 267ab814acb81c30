package lsp

import (
	"fmt"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"colony/view"
)

// Bounds of what an ant is told after an edit.
const (
	maxOwn    = 10 // problems of an edited file
	maxOthers = 5  // files that it broke
	maxEach   = 3  // problems of one of those
	maxSaid   = 400
)

// report is what a server says after an edit.
type report struct {
	server string
	late   string // why it is not fresh; empty where it is
	partly bool   // not all files were looked at in time
	untold bool   // the edit before was told of nothing: what was there may be of its doing
	own    []found
	others []found
	lines  func(path string) []string
	enc    protocol.PositionEncodingKind
	dir    string
}

// text is the report as the model reads it, after the result of the edit.
func (r *report) text() string {
	if r.late != "" {
		return fmt.Sprintf("diagnostics: not fresh: %s", r.late)
	}
	var b strings.Builder
	brought, gone := 0, 0
	for _, f := range slices.Concat(r.own, r.others) {
		brought += len(f.brought)
		gone += f.gone
	}
	switch {
	case brought > 0:
		fmt.Fprintf(&b, "diagnostics (%s): this brought %s", r.server, tally(r.own, r.others))
	default:
		fmt.Fprintf(&b, "diagnostics (%s): nothing new", r.server)
	}
	if gone > 0 {
		fmt.Fprintf(&b, "; %d gone", gone)
	}
	b.WriteString(r.there())
	if r.partly {
		b.WriteString("; not all other files were looked at in time")
	}
	r.listAll(&b, func(f found) []problem { return f.brought })
	if r.untold && r.there() != "" {
		b.WriteString("\nthere before, and not told yet:")
		r.listAll(&b, func(f found) []problem { return f.had })
	}
	return b.String()
}

// listAll writes problems of the edited files and of others.
func (r *report) listAll(b *strings.Builder, of func(found) []problem) {
	for _, f := range r.own {
		r.list(b, f.path, of(f), maxOwn)
	}
	with := slices.DeleteFunc(slices.Clone(r.others), func(f found) bool { return len(of(f)) == 0 })
	for _, f := range with[:min(len(with), maxOthers)] {
		r.list(b, f.path, of(f), maxEach)
	}
	if left := len(with) - maxOthers; left > 0 {
		fmt.Fprintf(b, "\n… and %d more files", left)
	}
}

// there counts what was there before.
func (r *report) there() string {
	var own, others []problem
	more := 0
	for _, f := range r.own {
		own, more = append(own, f.had...), more+f.more
	}
	for _, f := range r.others {
		others, more = append(others, f.had...), more+f.more
	}
	var parts []string
	if len(own) > 0 {
		parts = append(parts, count(own)+" here")
	}
	if len(others) > 0 {
		parts = append(parts, count(others)+" in other files")
	}
	out := ""
	if len(parts) > 0 {
		out = "; there before: " + strings.Join(parts, ", ")
	}
	if more > 0 {
		out += fmt.Sprintf("; %d more were not read", more)
	}
	return out
}

// tally counts what was brought.
func tally(own, others []found) string {
	var here, there []problem
	files := 0
	for _, f := range own {
		here = append(here, f.brought...)
	}
	for _, f := range others {
		if len(f.brought) > 0 {
			files++
		}
		there = append(there, f.brought...)
	}
	var parts []string
	if len(here) > 0 {
		parts = append(parts, count(here))
	}
	if len(there) > 0 {
		parts = append(parts, fmt.Sprintf("%s in %s", count(there), plural(files, "other file", "other files")))
	}
	return strings.Join(parts, " and ")
}

// count is a number of problems by severity.
func count(all []problem) string {
	n := [5]int{}
	for _, p := range all {
		n[p.severity]++
	}
	var parts []string
	for severity, word := range severities {
		if n[severity] > 0 {
			parts = append(parts, plural(n[severity], word, word+"s"))
		}
	}
	return strings.Join(parts, ", ")
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// list writes problems of one file, the worst first.
func (r *report) list(b *strings.Builder, path string, all []problem, most int) {
	slices.SortStableFunc(all, func(a, c problem) int { return a.severity - c.severity })
	name, _ := within(r.dir, path)
	text := r.lines(path)
	for i, p := range all {
		if i == most {
			fmt.Fprintf(b, "\n%s: … and %d more", view.Line(name), len(all)-most)
			return
		}
		at := placeIn(text, p.line, p.column, r.enc)
		fmt.Fprintf(b, "\n%s:%d:%d: %s: %s", view.Line(name), at.line, at.column, severities[p.severity], view.Line(clip(oneLine(p.text), maxSaid)))
	}
}

// maxShown bounds the problems of a view.
const maxShown = 100

// view is the report as a screen shows it.
func (r *report) view() view.Problems {
	out := view.Problems{Fresh: r.late == ""}
	add := func(f found, all []problem, fresh bool) {
		text := r.lines(f.path)
		name, _ := within(r.dir, f.path)
		for _, p := range all {
			if len(out.Items) < maxShown {
				at := placeIn(text, p.line, p.column, r.enc)
				out.Items = append(out.Items, view.Problem{Path: name, Line: at.line, Column: at.column, Severity: severities[p.severity], Text: clip(oneLine(p.text), maxSaid), New: fresh})
			}
		}
	}
	for _, f := range slices.Concat(r.own, r.others) {
		add(f, f.brought, true)
	}
	for _, f := range slices.Concat(r.own, r.others) {
		add(f, f.had, false)
	}
	return out
}
