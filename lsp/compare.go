package lsp

import "strings"

// found is what became of the problems of one file.
type found struct {
	path         string
	brought, had []problem // that the edit brought, and that were there
	gone         int       // that are not there any more
	more         int       // that were not kept
}

// compare says which problems a change brought. Lines after what changed are moved with it.
func compare(before, after []problem, moved func(line int) int) (brought, had []problem, gone int) {
	type at struct {
		same
		line int
	}
	exact, any := map[at]int{}, map[same]int{}
	for _, p := range before {
		exact[at{p.same(), moved(p.line)}]++
		any[p.same()]++
	}
	var rest []problem
	for _, p := range after { // those that are where they were
		if key := (at{p.same(), p.line}); exact[key] > 0 {
			exact[key]--
			any[p.same()]--
			had = append(had, p)
			continue
		}
		rest = append(rest, p)
	}
	for _, p := range rest { // those that are elsewhere now
		if any[p.same()] > 0 {
			any[p.same()]--
			had = append(had, p)
			continue
		}
		brought = append(brought, p)
	}
	return brought, had, len(before) - len(had)
}

// changed are the lines of a text, from 0, that another one has otherwise, and by how many lines that is longer.
func changed(before, after string) (from, to, grown int) {
	a, b := lines(before), lines(after)
	for from < len(a) && from < len(b) && a[from] == b[from] {
		from++
	}
	end := 0
	for end < len(a)-from && end < len(b)-from && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	return from, max(from, len(a)-1-end), len(b) - len(a)
}

// mover says where the lines of a text are in another one.
func mover(before, after string) func(int) int {
	if before == after {
		return func(line int) int { return line }
	}
	_, to, grown := changed(before, after)
	return func(line int) int {
		if line > to {
			return line + grown
		}
		return line
	}
}

// atMost keeps the problems of a severity, or a worse one.
func atMost(all []problem, severity int) []problem {
	var out []problem
	for _, p := range all {
		if p.severity <= severity {
			out = append(out, p)
		}
	}
	return out
}

// oneLine is a text in one line.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
