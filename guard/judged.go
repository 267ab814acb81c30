package guard

import (
	"path"
	"path/filepath"
	"slices"

	"colony/tools"
)

// judged is a call as the stages see it.
type judged struct {
	env    *tools.Env
	name   string
	digest string
	e      tools.Effects
	aims   []aim
}

// aim is one thing that a rule with content can be about: a command, or a path or URL.
type aim struct {
	forms   []string // spellings, the first for people
	also    []string // spellings that only rules that deny or ask see
	argv    []string // of a command of literal words
	command bool
}

func newJudged(env *tools.Env, call tools.Prepared) judged {
	j := judged{env: env, name: call.Call.Name, digest: call.Digest, e: call.Effects}
	if j.e.Commands != nil {
		for _, c := range j.e.Commands {
			j.aims = append(j.aims, aim{forms: []string{c.Text}, also: c.Also, argv: c.Argv, command: true})
		}
		return j
	}
	for _, s := range slices.Concat(j.e.Subjects, j.e.Writes, j.e.Reads) {
		j.aims = append(j.aims, aim{forms: j.spellings(s)})
	}
	return j
}

// spellings are a path as given and as seen from the worktree's root.
func (j judged) spellings(s string) []string {
	forms := []string{s}
	if filepath.IsAbs(s) {
		if rel, ok := beneath(j.env.Root, filepath.Clean(s)); ok {
			forms = append(forms, rel)
		}
	}
	return forms
}

// shell reports whether the call runs a line that was taken apart: all of it runs in the sandbox.
func (j judged) shell() bool { return j.e.Commands != nil }

// under reports whether a rule is about the tool of the call. What is about sh is about every line that any tool runs, and what
// is about edit about every rename.
func (j judged) under(r Rule) bool {
	return r.Names(j.name) || j.lines() && r.Names(shellTool) || j.name == renamer && len(j.e.Writes) > 0 && r.Names("edit")
}

// renamer is the tool that edits many files at once, as a language server says.
const renamer = "symbols"

// lines reports whether a call of another tool than sh runs shell lines, or may.
func (j judged) lines() bool {
	return j.name != shellTool && (j.shell() || !j.e.Known && len(j.e.Subjects) > 0)
}

const shellTool = "sh"

// readable reports whether rules can see what the call is about: not so for a line that does not parse.
func (j judged) readable() bool { return j.e.Known || j.shell() || len(j.e.Subjects) == 0 }

// harmless reports whether the call is known to change nothing and to send nothing.
func (j judged) harmless() bool {
	switch {
	case !j.e.Known || j.e.Destructive || len(j.e.Hosts) > 0 || len(j.e.Writes) > 0:
		return false
	case j.shell():
		return j.e.ReadOnly && !slices.ContainsFunc(j.e.Commands, func(c tools.Command) bool { return !j.inGrammar(c) })
	}
	return true
}

// inGrammar reports whether the read-only grammar has a command, for where the call starts. A directory below the
// root may hold a repository whose own settings name programs: cd and git are one unit.
func (j judged) inGrammar(c tools.Command) bool {
	if len(c.Argv) > 0 && c.Argv[0] == "cd" {
		return c.ReadOnly && !j.runs("git")
	}
	return c.ReadOnly && (!c.Root || j.env.Cwd() == j.env.Root)
}

func (j judged) runs(program string) bool {
	return slices.ContainsFunc(j.e.Commands, func(c tools.Command) bool { return len(c.Argv) > 0 && path.Base(c.Argv[0]) == program })
}
