package builtin

import (
	"bytes"
	"context"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/sourcegraph/conc/pool"

	"colony/tools"
)

// Bounds of a search.
const (
	maxSearched  = 16 << 20 // bytes of a file
	maxMatchLine = 300      // bytes of a line that are shown
	searchBlock  = 64       // files searched before their lines are gathered
)

// query is what to look for in contents.
type query struct {
	re      *regexp.Regexp
	jump    bool // the pattern may be run over several lines at once to find the next candidate
	context int
}

// hits is what one file held.
type hits struct {
	rel     string
	count   int // lines that match
	lines   []hitLine
	skipped bool // too big
}

type hitLine struct {
	number int
	text   string
	match  bool // else it is context
}

func newQuery(a findArgs) (query, error) {
	expr := a.Content
	if a.Literal {
		expr = regexp.QuoteMeta(expr)
	}
	flags := "(?m)"
	if a.IgnoreCase {
		flags = "(?mi)"
	}
	re, err := regexp.Compile(flags + "(?:" + expr + ")")
	if err != nil {
		return query{}, badArg("content", err.Error(), "RE2 syntax; literal searches for the text itself")
	}
	return query{re: re, jump: !strings.Contains(expr, `\A`) && !strings.Contains(expr, `\z`), context: a.Context}, nil
}

// searchAll searches the files side by side and returns those that hold a match, in their order. It keeps
// the first limit lines that match and counts all.
func (q query) searchAll(ctx context.Context, env *tools.Env, files []found, limit int) ([]hits, error) {
	var out []hits
	for len(files) > 0 {
		block := files[:min(len(files), searchBlock)]
		files = files[len(block):]
		got := make([]hits, len(block))
		workers := pool.New().WithMaxGoroutines(min(8, runtime.GOMAXPROCS(0)))
		for i, f := range block {
			workers.Go(func() {
				if ctx.Err() == nil && !f.link {
					got[i] = q.searchFile(env, f.rel, limit)
				}
			})
		}
		workers.Wait()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, h := range got {
			if h.count > 0 || h.skipped {
				h.lines = firstMatches(h.lines, limit)
				limit -= min(limit, h.count)
				out = append(out, h)
			}
		}
	}
	return out, nil
}

// searchFile finds nothing in a file that is gone, unreadable or binary.
func (q query) searchFile(env *tools.Env, rel string, keep int) hits {
	out := hits{rel: rel}
	f, info, err := openPlace(env, place{rel: rel, inside: true})
	if err != nil {
		return out
	}
	defer f.Close()
	if info.Size() > maxSearched {
		out.skipped = true
		return out
	}
	data, err := load(f, info, maxSearched)
	if err != nil || binary(data) {
		return out
	}
	out.count, out.lines = q.search(data, keep)
	return out
}

// spot is a line that matches: its number, where it begins and ends, and where in it the match begins.
type spot struct{ number, at, end, match int }

// search matches line by line. The lines kept are the first ones that match, with their context.
func (q query) search(data []byte, keep int) (count int, lines []hitLine) {
	var spots []spot
	at, number := 0, 1
	for at < len(data) {
		if q.jump {
			next := q.re.FindIndex(data[at:])
			if next == nil || at+next[0] >= len(data) {
				break
			}
			begin := at + bytes.LastIndexByte(data[at:at+next[0]], '\n') + 1
			number += bytes.Count(data[at:begin], []byte("\n"))
			at = begin
		}
		end := lineEnd(data, at)
		if m := q.re.FindIndex(data[at:end]); m != nil {
			if count++; count <= keep {
				spots = append(spots, spot{number, at, end, m[0]})
			}
		}
		at, number = end+1, number+1
	}
	return count, q.show(data, spots)
}

// show adds the lines around the spots, each line once.
func (q query) show(data []byte, spots []spot) []hitLine {
	var out []hitLine
	last := 0 // line shown
	for i, s := range spots {
		before := out
		for n, end := s.number-1, s.at-1; n > max(last, s.number-1-q.context); n-- {
			begin := bytes.LastIndexByte(data[:end], '\n') + 1
			before = append(before, hitLine{n, excerpt(data[begin:end], 0), false})
			end = begin - 1
		}
		slices.Reverse(before[len(out):])
		out = append(before, hitLine{s.number, excerpt(data[s.at:s.end], s.match), true})
		last = s.number
		stop := s.number + q.context
		if i+1 < len(spots) {
			stop = min(stop, spots[i+1].number-1)
		}
		for begin := s.end + 1; last < stop && begin < len(data); {
			end := lineEnd(data, begin)
			last++
			out = append(out, hitLine{last, excerpt(data[begin:end], 0), false})
			begin = end + 1
		}
	}
	return out
}

// firstMatches cuts the lines before the match that is one too many.
func firstMatches(lines []hitLine, limit int) []hitLine {
	for i, l := range lines {
		if l.match {
			if limit--; limit < 0 {
				return lines[:i]
			}
		}
	}
	return lines
}

func lineEnd(data []byte, at int) int {
	if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(data)
}

// excerpt shows a line, or the part of a long one around an offset.
func excerpt(line []byte, offset int) string {
	line = bytes.TrimSuffix(line, []byte("\r"))
	from := 0
	if len(line) > maxMatchLine {
		from = max(0, min(offset-maxMatchLine/3, len(line)-maxMatchLine))
	}
	to := min(len(line), from+maxMatchLine)
	part := line[from:to]
	if len(part) < len(line) {
		part = bytes.ToValidUTF8(part, nil) // a cut may go through a rune
	}
	shown, _ := mark(part)
	if from > 0 {
		shown = "…" + shown
	}
	if to < len(line) {
		shown += "…"
	}
	return shown
}

func display(env *tools.Env, rel string) string {
	if out, err := filepath.Rel(env.Cwd(), filepath.Join(env.Root, rel)); err == nil {
		return out
	}
	return rel
}
