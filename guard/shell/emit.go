package shell

import (
	"path"
	"slices"
	"strings"
)

// shells run a line given as text.
var shells = set("sh", "bash", "dash", "zsh", "ksh", "ash")

// rereads change how the rest of the line is read, or run text of their own.
var rereads = set("eval", "source", ".", "exec", "trap", "alias", "unalias", "shopt", "set", "enable", "builtin",
	"hash", "export", "declare", "typeset", "local", "readonly", "unset", "read", "mapfile", "bind", "complete", "let")

// emit peels a command and adds it to the line, with what it reads or writes.
func (r *reader) emit(words []word, in []string) {
	if !r.deeper() {
		return
	}
	defer r.shallower()
	c := Command{}
	for {
		if len(c.Also) == maxWrappers {
			r.unknown("more than %d wrappers stand round one command", maxWrappers)
			r.untold()
			break
		}
		rest, sets, why, peeled := peel(words)
		for _, set := range sets {
			name, value, _ := strings.Cut(set, "=")
			r.sets(name, value)
		}
		if why != "" {
			r.unknown("%s", why)
		}
		if !peeled {
			if why != "" {
				r.untold()
			}
			break
		}
		plainly := append([]word{{value: program(words[0].value), literal: true}}, words[1:]...)
		c.Also, words = append(c.Also, joined(plainly)), rest
	}
	c.Text, c.Argv = joined(words), values(words)
	c.Also = append(c.Also, readings(words)...)
	v := r.verdict(words, c, in)
	c.ReadOnly, c.Root = v.readOnly, v.root
	if c.Argv == nil && !v.readOnly {
		r.unknown("%q holds a word that is not literal", brief(c.Text))
	}
	r.line.Commands = append(r.line.Commands, c)
	r.nested(words, in)
	if !v.readOnly {
		r.line.Hosts = append(r.line.Hosts, hosts(words)...)
		for _, p := range targets(words) {
			r.line.Writes = append(r.line.Writes, under(in, p)...)
		}
		return
	}
	for _, p := range v.reads {
		r.line.Reads = append(r.line.Reads, under(in, p)...)
	}
	for _, p := range v.globs {
		r.line.Globs = append(r.line.Globs, under(in, p)...)
	}
}

// verdict is what the read-only grammar says of a peeled command, from the directories that it may start in.
func (r *reader) verdict(words []word, c Command, in []string) verdict {
	v := builtin().judge(words)
	pattern := func(dir string) bool { return strings.ContainsAny(dir, `*?[\`) }
	switch {
	case v.root && !slices.Equal(in, []string{""}),
		len(v.globs) > 0 && slices.ContainsFunc(in, pattern),
		slices.ContainsFunc(c.Also, func(s string) bool { return strings.HasPrefix(s, "sudo") }):
		return verdict{}
	}
	return v
}

// readings are other spellings of one command, for rules that forbid.
func readings(words []word) []string {
	if !words[0].literal {
		return nil
	}
	var also []string
	base := append([]word{{value: path.Base(words[0].value), literal: true}}, words[1:]...)
	if base[0].value != words[0].value {
		also = append(also, joined(base))
	}
	if base[0].value != "git" {
		return also
	}
	i := 1
	for i < len(words) && words[i].literal && strings.HasPrefix(words[i].value, "-") {
		if v := words[i].value; v == "-C" || v == "-c" {
			i++
		}
		i++
	}
	if i > 1 && i < len(words) {
		also = append(also, joined(append([]word{base[0]}, words[i:]...)))
	}
	return also
}

// nested reads what a command runs out of its own words.
func (r *reader) nested(words []word, in []string) {
	if !words[0].literal {
		return
	}
	name := path.Base(words[0].value)
	switch {
	case name == "eval":
		r.unknown("eval runs text: write the commands themselves")
		r.inner(words[1:], in)
	case shells[name]:
		for i, w := range words[1:] {
			if w.literal && strings.HasPrefix(w.value, "-") && !strings.HasPrefix(w.value, "--") && strings.Contains(w.value, "c") {
				r.unknown("%s %s runs text: write the commands themselves", name, w.value)
				r.inner(words[i+2:min(i+3, len(words))], in)
				return
			}
		}
	case rereads[name]:
		r.unknown("%s changes how the line is read or runs text", name)
	case name == "find":
		r.findExec(words, in)
	}
}

// inner reads text that a command would run as a line.
func (r *reader) inner(words []word, in []string) {
	argv := values(words)
	if argv == nil || r.depth >= maxNested {
		r.untold()
		return
	}
	inside := parse(strings.Join(argv, " "), r.depth+1)
	if inside.Commands == nil {
		inside.Commands = []Command{{}}
	}
	for _, c := range inside.Commands {
		c.ReadOnly = false
		r.line.Commands = append(r.line.Commands, c)
	}
	r.line.Hosts = append(r.line.Hosts, inside.Hosts...)
	for _, p := range append(inside.Reads, inside.Writes...) {
		r.line.Writes = append(r.line.Writes, under(in, p)...)
	}
}

// findExec adds the commands that find would run for each file.
func (r *reader) findExec(words []word, in []string) {
	for i := 0; i < len(words); i++ {
		if w := words[i]; !w.literal || !slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, w.value) {
			continue
		}
		end := i + 1
		for end < len(words) && !(words[end].literal && (words[end].value == ";" || words[end].value == "+")) {
			end++
		}
		if run := words[i+1 : end]; len(run) > 0 {
			r.emit(run, in)
		}
		i = end
	}
}

// scripts take a program as their first operand, not a path.
var scripts = set("sed", "awk", "gawk", "mawk", "jq", "yq", "grep", "egrep", "fgrep", "rg", "expr", "echo", "printf")

// labelled name what they build by labels, as //lib:all, which are no paths.
var labelled = set("bazel", "bazelisk", "buck", "buck2", "pants")

// targets are the operands that a command not known read-only may change.
func targets(words []word) []string {
	if len(words) == 0 {
		return nil
	}
	var out []string
	name, script := "", false
	if words[0].literal {
		name = path.Base(words[0].value)
		script = scripts[name]
	}
	for _, w := range words[1:] {
		if !w.literal || w.value == "" {
			continue
		}
		file, attached := named(name, w.value)
		switch {
		case attached:
			out = append(out, file)
		case w.value[0] == '-':
		case script:
			script = false
		case name == "dd":
			_, value, _ := strings.Cut(w.value, "=")
			out = append(out, value)
		case w.value == ";" || w.value == "{}":
		case labelled[name] && strings.HasPrefix(w.value, "//"):
		default:
			out = append(out, w.value)
		}
	}
	return out
}

// outputs are options whose attached value is a file or directory to write, of any program.
var outputs = []string{"--output=", "--output-file=", "--output-document=", "--outfile=", "--out=", "--log-file=", "--target-directory="}

// named is the file or directory that an option names in the same word: one to write, or a repository of git's.
func named(program, arg string) (string, bool) {
	options := outputs
	if program == "git" {
		options = append([]string{"--git-dir=", "--work-tree="}, outputs...)
	}
	for _, option := range options {
		if value, ok := strings.CutPrefix(arg, option); ok && value != "" {
			return value, true
		}
	}
	value, ok := strings.CutPrefix(arg, "-o")
	return value, ok && (strings.HasPrefix(value, "/") || strings.HasPrefix(value, "../") || strings.HasPrefix(value, "./"))
}
