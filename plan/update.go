package plan

import (
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Update is a plan in the place of the one in a file: what is the same keeps its words, its place and its comments, and
// what changed keeps its comments. Those of a task that is gone go with it. It reads back to the same plan; a file that
// is no block of lines keeps its comments on top.
func Update(data []byte, p Plan) []byte {
	old, faults := Parse("", data)
	u := newUpdate(data)
	if len(faults) == 0 && u.root != nil {
		if out := u.plan(old, p); same(out, p) {
			return out
		}
	}
	return append([]byte(strings.Join(u.commentsIn(0, len(u.lines), ""), "")), Write(p)...)
}

// same reports whether a text reads back to a plan.
func same(text []byte, p Plan) bool {
	back, faults := Parse("", text)
	return len(faults) == 0 && string(Write(back)) == string(Write(p))
}

// update is a file taken apart by its lines.
type update struct {
	lines    []string
	comments map[int]*token.Token // by line, from 0
	root     *ast.MappingNode
}

func newUpdate(data []byte) *update {
	u := &update{lines: strings.SplitAfter(string(data), "\n"), comments: map[int]*token.Token{}}
	if last := len(u.lines) - 1; u.lines[last] == "" {
		u.lines = u.lines[:last]
	} else {
		u.lines[last] += "\n"
	}
	for _, t := range lexer.Tokenize(string(data)) {
		if t.Type == token.CommentType {
			u.comments[t.Position.Line-1] = t
		}
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil || len(file.Docs) != 1 {
		return u
	}
	u.root = block(file.Docs[0].Body)
	return u
}

// block is a mapping whose keys have lines of their own; nil for all else.
func block(n ast.Node) *ast.MappingNode {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle {
		return m
	}
	return nil
}

// entry is a key of a mapping, or an item of a list: its lines, from those of the comments before it, and where it begins.
type entry struct {
	key              string
	from, begin, end int // lines
	indent           int
	value            ast.Node
}

// span finds where entries that begin in these lines and columns end and where the comments before them begin.
func (u *update) span(entries []entry, end int) []entry {
	for i := range entries {
		e := &entries[i]
		floor := 0
		if i > 0 {
			floor = entries[i-1].begin + 1
		}
		for e.from = e.begin; e.from > floor && u.silent(e.from-1, e.indent); e.from-- {
		}
		if i > 0 {
			entries[i-1].end = e.from
		}
		e.end = end
	}
	return entries
}

// silent reports whether a line is blank, or a comment that stands no deeper than what comes after it.
func (u *update) silent(line, indent int) bool {
	text := strings.TrimSpace(u.lines[line])
	c := u.comments[line]
	return text == "" || c != nil && strings.HasPrefix(text, "#") && c.Position.Column-1 <= indent
}

func (u *update) keysOf(m *ast.MappingNode, end int) []entry {
	var out []entry
	for _, v := range m.Values {
		at := v.Key.GetToken().Position
		out = append(out, entry{key: v.Key.GetToken().Value, begin: at.Line - 1, indent: at.Column - 1, value: v.Value})
	}
	return u.span(out, end)
}

func (u *update) itemsOf(n ast.Node, end int) []entry {
	s, ok := n.(*ast.SequenceNode)
	if !ok || s.IsFlowStyle {
		return nil
	}
	var out []entry
	for _, v := range s.Values {
		at := first(v)
		line := at.Line - 1
		dash := strings.IndexByte(u.lines[line], '-')
		if dash < 0 || strings.TrimSpace(u.lines[line][:dash]) != "" {
			return nil // the dash has a line of its own
		}
		out = append(out, entry{begin: line, indent: dash, value: v})
	}
	return u.span(out, end)
}

// first is where a node begins.
func first(n ast.Node) *token.Position {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		return m.Values[0].Key.GetToken().Position
	}
	return n.GetToken().Position
}

// commentsIn are the comments that stand in lines, each as a line behind an indent.
func (u *update) commentsIn(from, end int, indent string) (out []string) {
	for line := from; line < end; line++ {
		if c := u.comments[line]; c != nil {
			out = append(out, indent+"#"+strings.TrimRight(c.Value, "\r\n")+"\n")
		}
	}
	return out
}

func (u *update) text(from, end int) string { return strings.Join(u.lines[from:end], "") }

// plan puts the keys of a plan in the place of those in the file.
func (u *update) plan(old, p Plan) []byte {
	var b strings.Builder
	entries := u.keysOf(u.root, len(u.lines))
	had := map[string]bool{}
	b.WriteString(u.text(0, entries[0].from))
	for _, e := range entries {
		had[e.key] = true
		switch {
		case e.key == "goal" && old.Goal != p.Goal:
			b.WriteString(u.replaced(e, told("goal", p.Goal)))
		case e.key == "why" && old.Why != p.Why:
			b.WriteString(u.replaced(e, told("why", p.Why)))
		case e.key == "tasks":
			b.WriteString(u.tasks(e, old, p))
		default:
			b.WriteString(u.text(e.from, e.end))
		}
	}
	for _, missing := range [][2]string{{"goal", p.Goal}, {"why", p.Why}} {
		if !had[missing[0]] {
			b.WriteString(told(missing[0], missing[1]))
		}
	}
	return []byte(b.String())
}

func told(key, text string) string {
	w := &writer{}
	w.text("", key, text)
	return w.String()
}

// replaced is another text in the place of an entry, behind its comments.
func (u *update) replaced(e entry, text string) string {
	return u.text(e.from, e.begin) + strings.Join(u.commentsIn(e.begin, e.end, strings.Repeat(" ", e.indent)), "") + text
}

// tasks are those of the plan in the place of those in the file, in the plan's order.
func (u *update) tasks(e entry, old, p Plan) string {
	end := e.end // of the last task; what follows is the file's
	for end > e.begin+1 && u.silent(end-1, e.indent) {
		end--
	}
	items := u.itemsOf(e.value, end)
	if len(items) != len(old.Tasks) {
		return u.replaced(e, "")
	}
	indent, byID := 2, map[string]int{}
	for i, t := range old.Tasks {
		byID[t.ID], indent = i, items[i].indent
	}
	var b strings.Builder
	b.WriteString(u.text(e.from, items[0].from))
	for _, t := range p.Tasks {
		at, there := byID[t.ID]
		if !there {
			b.WriteString(written(t, indent))
			continue
		}
		b.WriteString(u.task(items[at], old.Tasks[at], t))
	}
	b.WriteString(u.text(end, e.end))
	return b.String()
}

// task is one in the place of what it was.
func (u *update) task(e entry, old, t Task) string {
	if written(old, 0) == written(t, 0) {
		return u.text(e.from, e.end)
	}
	m := block(e.value)
	if m == nil || m.Values[0].Key.GetToken().Value != "id" {
		return u.replaced(e, written(t, e.indent))
	}
	var b strings.Builder
	had, in := map[string]bool{}, ""
	for _, f := range u.keysOf(m, e.end) {
		had[f.key], in = true, strings.Repeat(" ", f.indent)
		if f.key == "id" {
			f.from = e.from
		}
		if is := field(t, f.key, in); is != field(old, f.key, in) {
			b.WriteString(u.replaced(f, is))
			continue
		}
		b.WriteString(u.text(f.from, f.end))
	}
	for _, key := range keys {
		if !had[key] {
			b.WriteString(field(t, key, in))
		}
	}
	return b.String()
}
