package shell

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// reader walks a syntax tree and fills a line.
type reader struct {
	src   string
	depth int // of lines within lines
	level int // of statements within statements
	line  *Line
}

// unknown marks the line as not modelled. The first reason stays.
func (r *reader) unknown(format string, args ...any) {
	if r.line.Known {
		r.line.Known, r.line.Why = false, fmt.Sprintf(format, args...)
	}
}

// stmts reads statements in sequence. in holds the directories the first may start in; ok and fail are
// those the line may be in after the last, by its outcome.
func (r *reader) stmts(list []*syntax.Stmt, in []string) (ok, fail []string) {
	ok, fail = in, nil
	for _, s := range list {
		ok, fail = r.stmt(s, r.union(ok, fail))
	}
	return ok, fail
}

func (r *reader) stmt(s *syntax.Stmt, in []string) (ok, fail []string) {
	if !r.deeper() {
		return in, in
	}
	defer r.shallower()
	for _, rd := range s.Redirs {
		r.redirect(rd, in)
	}
	if s.Coprocess || s.Disown {
		r.unknown("a coprocess or disowned command is not read")
	}
	ok, fail = r.command(s.Cmd, in)
	if s.Negated {
		ok, fail = fail, ok
	}
	if s.Background {
		return in, in
	}
	return ok, fail
}

// deeper counts a level; false where the line goes deeper than is read.
func (r *reader) deeper() bool {
	if r.level >= maxLevels {
		r.unknown("the line nests more than %d deep", maxLevels)
		r.untold()
		return false
	}
	r.level++
	return true
}

func (r *reader) shallower() { r.level-- }

// untold stands for commands that cannot be told: every rule that forbids may apply to them.
func (r *reader) untold() { r.line.Commands = append(r.line.Commands, Command{}) }

func (r *reader) command(cmd syntax.Command, in []string) (ok, fail []string) {
	switch c := cmd.(type) {
	case nil:
		return in, in
	case *syntax.CallExpr:
		return r.call(c, in)
	case *syntax.BinaryCmd:
		return r.binary(c, in)
	case *syntax.Subshell:
		r.stmts(c.Stmts, in)
		return in, in
	case *syntax.Block:
		return r.stmts(c.Stmts, in)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return r.stmt(c.Stmt, in)
		}
		return in, in
	}
	r.unknown("%q is not a plain command", brief(r.text(cmd)))
	r.inside(cmd, in)
	return in, in
}

func (r *reader) binary(c *syntax.BinaryCmd, in []string) (ok, fail []string) {
	switch c.Op {
	case syntax.AndStmt:
		okX, failX := r.stmt(c.X, in)
		okY, failY := r.stmt(c.Y, okX)
		return okY, r.union(failX, failY)
	case syntax.OrStmt:
		okX, failX := r.stmt(c.X, in)
		okY, failY := r.stmt(c.Y, failX)
		return r.union(okX, okY), failY
	default: // a pipe: each side in a shell of its own
		r.stmt(c.X, in)
		r.stmt(c.Y, in)
		return in, in
	}
}

// inside reads the statements nested anywhere in a node, for rules that forbid.
func (r *reader) inside(node syntax.Node, in []string) {
	syntax.Walk(node, func(n syntax.Node) bool {
		if s, ok := n.(*syntax.Stmt); ok {
			r.stmt(s, in)
			return false
		}
		return true
	})
}

func (r *reader) redirect(rd *syntax.Redirect, in []string) {
	if rd.N != nil && strings.HasPrefix(rd.N.Value, "{") {
		r.unknown("the redirection %q names a variable", brief(r.text(rd)))
	}
	if rd.Op == syntax.Hdoc || rd.Op == syntax.DashHdoc {
		r.hereDoc(rd, in)
		return
	}
	target, literal := literal(rd.Word)
	if !literal {
		r.unknown("the redirection %q has no literal target", brief(r.text(rd)))
		r.inside(rd.Word, in)
		if rd.Op != syntax.RdrIn && rd.Op != syntax.WordHdoc {
			r.line.Commands = append(r.line.Commands, Command{Text: "> " + r.text(rd.Word)})
		}
		return
	}
	if dir, file := path.Split(path.Dir(target)); dir == "/dev/tcp/" || dir == "/dev/udp/" {
		r.line.Hosts = append(r.line.Hosts, address(file))
	}
	switch rd.Op {
	case syntax.WordHdoc:
	case syntax.RdrIn:
		r.line.Reads = append(r.line.Reads, under(in, target)...)
	case syntax.DplIn, syntax.DplOut:
		if !descriptor(target) {
			r.writes(target, in)
		}
	case syntax.RdrInOut:
		r.line.Reads = append(r.line.Reads, under(in, target)...)
		r.writes(target, in)
	default:
		if target != "/dev/null" {
			r.writes(target, in)
		}
	}
}

// writes adds a redirection's target, and the redirection as a command of its own: a rule that allows the
// command it stands at does not allow the file.
func (r *reader) writes(target string, in []string) {
	r.line.Writes = append(r.line.Writes, under(in, target)...)
	to := word{value: target, literal: true}
	r.line.Commands = append(r.line.Commands, Command{Text: "> " + to.text(), Argv: []string{">", target}})
}

// hereDoc reads a body that the shell would expand: the delimiter is not quoted.
func (r *reader) hereDoc(rd *syntax.Redirect, in []string) {
	lit, bare := rd.Word.Parts[0].(*syntax.Lit)
	quoted := !bare || len(rd.Word.Parts) != 1 || strings.Contains(lit.Value, `\`)
	if quoted || rd.Hdoc == nil {
		return
	}
	var b strings.Builder
	if !unquoteDouble(&b, rd.Hdoc.Parts) {
		r.unknown("the here-document is expanded by the shell: quote its delimiter")
		r.inside(rd.Hdoc, in)
	}
}

// call reads a simple command with its assignments.
func (r *reader) call(c *syntax.CallExpr, in []string) (ok, fail []string) {
	for _, a := range c.Assigns {
		r.assign(a, in)
	}
	words := make([]word, len(c.Args))
	for i, arg := range c.Args {
		words[i] = r.word(arg, in)
	}
	if len(words) == 0 {
		return in, in
	}
	if words[0].literal && words[0].value == "cd" {
		return r.cd(words, in)
	}
	r.emit(words, in)
	return in, in
}

func (r *reader) word(w *syntax.Word, in []string) word {
	out := word{source: r.text(w)}
	if out.value, out.literal = literal(w); out.literal {
		return out
	}
	r.inside(w, in)
	if out.value, out.glob = globbed(w); !out.glob {
		out.value, out.variable = "", r.variables(w)
	}
	return out
}

func (r *reader) assign(a *syntax.Assign, in []string) {
	if a.Value == nil || a.Name == nil || a.Index != nil || a.Array != nil {
		r.unknown("the assignment %q is not plain", brief(r.text(a)))
		r.inside(a, in)
		return
	}
	w := r.word(a.Value, in)
	if !w.literal {
		r.unknown("the assignment %q is not literal", brief(r.text(a)))
	}
	r.sets(a.Name.Value, w.value)
}

// sets judges a variable that a command starts with.
func (r *reader) sets(name, value string) {
	switch locale := name == "LANG" || strings.HasPrefix(name, "LC_"); {
	case locale && !utf8Locale().MatchString(value):
		r.unknown("setting %s to %s may change how the line is read", name, brief(value))
	case !locale && !harmless[name]:
		r.unknown("setting %s may change what a command does", name)
	}
}

// cd moves to a literal directory; any other form leaves the line unknown.
func (r *reader) cd(words []word, in []string) (ok, fail []string) {
	c := Command{Text: joined(words)}
	defer func() { r.line.Commands = append(r.line.Commands, c) }()
	if len(words) != 2 || !words[1].literal || words[1].value == "" || words[1].value[0] == '-' {
		r.unknown("%q does not name one literal directory", brief(c.Text))
		return in, in
	}
	c.Argv, c.ReadOnly = values(words), true
	to := words[1].value
	r.line.Reads = append(r.line.Reads, under(in, to)...)
	for _, d := range in {
		if path.IsAbs(to) {
			d = ""
		}
		ok = append(ok, path.Join(d, to))
	}
	return r.union(ok, nil), in
}

// union is both lists without repeats, bounded.
func (r *reader) union(a, b []string) []string {
	all := slices.Clone(a)
	for _, d := range b {
		if !slices.Contains(all, d) {
			all = append(all, d)
		}
	}
	if len(all) > maxDirs {
		r.unknown("the line may be in more than %d directories", maxDirs)
		all = all[:maxDirs]
	}
	return all
}

// text is a node as written.
func (r *reader) text(n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from < 0 || to > len(r.src) || from > to {
		return ""
	}
	return r.src[from:to]
}

// under is the path as seen from each directory.
func under(dirs []string, p string) []string {
	if path.IsAbs(p) {
		return []string{p}
	}
	out := make([]string, len(dirs))
	for i, d := range dirs {
		out[i] = p
		if d != "" {
			out[i] = strings.TrimSuffix(d, "/") + "/" + p
		}
	}
	return out
}

func values(words []word) []string {
	argv := make([]string, len(words))
	for i, w := range words {
		if !w.literal {
			return nil
		}
		argv[i] = w.value
	}
	return argv
}

// utf8Locale are locales in which no character that is not ASCII holds a byte that means something to a shell.
var utf8Locale = lazily(`^(C|POSIX|(C|[a-z]{2}_[A-Z]{2})\.(UTF-8|utf8))?$`)

var number = lazily(`^([0-9]{1,3}-?|-)$`)

// descriptor reports whether the target of >& or <& is a descriptor, moved or closed; the shell takes any other text
// for a file.
func descriptor(s string) bool { return number().MatchString(s) }

// brief cuts a text for a message.
func brief(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
