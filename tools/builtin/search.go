package builtin

import (
	"bytes"
	"context"
	"errors"
	"path"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"colony/tools"
)

// Bounds of a search.
const (
	maxSearched  = 16 << 20 // bytes of a file
	maxMatchLine = 300      // bytes of a line that are shown
	maxKeptBuf   = 1 << 20  // bytes that a worker keeps for the next file
)

// Why a file was not searched.
const (
	tooBigToSearch = "big"
	notText        = "binary"
)

// query is what to look for in contents.
type query struct {
	re      *regexp.Regexp
	needles needles
	jump    bool // the pattern may be run over several lines at once to find the next candidate
	context int
}

// hits is the lines of one file that are shown.
type hits struct {
	rel   string
	lines []hitLine
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
	expr = flags + "(?:" + expr + ")"
	re, err := regexp.Compile(expr)
	if err != nil {
		return query{}, badArg("content", err.Error(), "RE2 syntax; literal searches for the text itself")
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return query{}, badArg("content", err.Error(), "RE2 syntax; literal searches for the text itself")
	}
	q := query{re: re, jump: !looksAround(tree), context: a.Context, needles: needlesOf(tree.Simplify())}
	if slices.ContainsFunc(q.needles.list, func(s string) bool { return strings.Contains(s, "\n") }) {
		return query{}, badArg("content", "holds a line end", "lines are matched one by one: search for one of them, with context")
	}
	return q, nil
}

// count looks at one file of a walk. It leaves out one that is gone, unreadable or without a match.
func (q query) count(h *hand, dir int, f *found) bool {
	fd, err := unix.Openat(dir, path.Base(f.rel), plainly|unix.O_CLOEXEC, 0)
	for errors.Is(err, unix.EINTR) {
		fd, err = unix.Openat(dir, path.Base(f.rel), plainly|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	data, ok := h.fill(fd, f)
	switch {
	case !ok:
		return f.reason != ""
	case binary(data):
		f.reason = notText
		return true
	}
	for range q.each(h.ctx, data) {
		f.lines++
	}
	if f.lines == 0 {
		return false
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return false
	}
	f.time = st.Mtim.Nano()
	return true
}

// fill reads a whole plain file into the hand's buffer, which the next one takes again.
func (h *hand) fill(fd int, f *found) (data []byte, ok bool) {
	if cap(h.buf) == 0 || cap(h.buf) > maxKeptBuf {
		h.buf = make([]byte, 0, 64<<10)
	}
	data = h.buf[:0]
	for {
		if len(data) == cap(data) {
			var st unix.Stat_t
			if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
				return nil, false
			}
			if st.Size > maxSearched || len(data) > maxSearched {
				f.reason = tooBigToSearch
				return nil, false
			}
			data = append(make([]byte, 0, max(int(st.Size)+1, 2*len(data))), data...)
			h.buf = data
		}
		n, err := unix.Read(fd, data[len(data):cap(data)])
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return nil, false
		case n == 0:
			return data, true
		default:
			data = data[:len(data)+n]
		}
	}
}

// span of bytes: a line without its end.
type stretch struct{ from, to int }

// each goes over the lines that match, in order. It breaks off when the context is done.
func (q query) each(ctx context.Context, data []byte) func(yield func(stretch) bool) {
	return func(yield func(stretch) bool) {
		hunt := q.needles.in(data)
		jump := q.jump && !bytes.Contains(data, []byte("\r\n"))
		for at, looked := 0, 0; at < len(data); {
			if at-looked > 1<<20 {
				if looked = at; ctx.Err() != nil {
					return
				}
			}
			next := at
			if len(q.needles.list) > 0 {
				next = hunt.from(at)
			} else if jump {
				next = -1
				if m := q.re.FindIndex(data[at:]); m != nil && at+m[0] < len(data) {
					next = at + m[0]
				}
			}
			if next < 0 {
				return
			}
			line := stretch{at + bytes.LastIndexByte(data[at:next], '\n') + 1, lineEnd(data, next)}
			if (q.needles.whole || q.matches(data[line.from:line.to])) && !yield(line) {
				return
			}
			at = line.to + 1
		}
	}
}

// matches reports whether a line matches, with or without the CR at its end.
func (q query) matches(line []byte) bool {
	if q.re.Match(line) {
		return true
	}
	short, ok := bytes.CutSuffix(line, []byte("\r"))
	return ok && q.re.Match(short)
}

// show is the first lines of the files that match, with what stands around them, as far as the limit. A file that changed
// since it was counted is shown, and counted, as it is now.
func (q query) show(ctx context.Context, env *tools.Env, files []found, limit int) ([]hits, error) {
	var out []hits
	h := hand{ctx: ctx}
	for i := range files {
		if limit <= 0 || ctx.Err() != nil {
			break
		}
		if files[i].lines == 0 {
			continue
		}
		shown, count := q.showFile(env, &h, &files[i], limit)
		files[i].lines = count
		limit -= min(limit, count)
		out = append(out, shown)
	}
	return out, ctx.Err()
}

func (q query) showFile(env *tools.Env, h *hand, f *found, limit int) (shown hits, count int) {
	shown.rel = f.rel
	file, _, err := openPlace(env, place{rel: f.rel, inside: true})
	if err != nil {
		return shown, 0
	}
	defer file.Close()
	data, ok := h.fill(int(file.Fd()), f)
	if !ok {
		return shown, 0
	}
	var lines []stretch
	for line := range q.each(h.ctx, data) {
		if count++; count <= limit {
			lines = append(lines, line)
		}
	}
	shown.lines = q.around(data, lines)
	return shown, count
}

// around adds the lines around those that match, each line once.
func (q query) around(data []byte, lines []stretch) []hitLine {
	var out []hitLine
	number, counted := 1, 0
	last := 0 // line shown
	for i, s := range lines {
		number += bytes.Count(data[counted:s.from], []byte("\n"))
		counted = s.from
		before := out
		for n, end := number-1, s.from-1; n > max(last, number-1-q.context); n-- {
			begin := bytes.LastIndexByte(data[:end], '\n') + 1
			before = append(before, hitLine{n, excerpt(data[begin:end], 0), false})
			end = begin - 1
		}
		slices.Reverse(before[len(out):])
		match := 0
		if m := q.re.FindIndex(data[s.from:s.to]); m != nil {
			match = m[0]
		}
		out = append(before, hitLine{number, excerpt(data[s.from:s.to], match), true})
		last = number
		stop := number + q.context
		if i+1 < len(lines) {
			stop = min(stop, number+bytes.Count(data[s.from:lines[i+1].from], []byte("\n"))-1)
		}
		for begin := s.to + 1; last < stop && begin < len(data); {
			end := lineEnd(data, begin)
			last++
			out = append(out, hitLine{last, excerpt(data[begin:end], 0), false})
			begin = end + 1
		}
	}
	return out
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
		return spelt(out)
	}
	return spelt(rel)
}
