package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"colony/strict"
	"colony/tools"
)

//go:embed skill.md
var skillText string

// maxInline bounds what one command in a skill's text puts there.
const maxInline = 8 << 10

// skill shows a skill's instructions, or a file of it. Commands that stand in the text run, and what they print takes
// their place: a call is judged by them.
type skill struct {
	tools.Base
	limit time.Duration // of one command
}

type skillArgs struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

func (skill) Spec() tools.Spec {
	return tools.Spec{Name: "skill", Description: text(skillText), Params: json.RawMessage(`{
"type":"object","additionalProperties":false,"required":["name"],"properties":{
"name":{"type":"string","minLength":1,"description":"a skill, or a file of one as NAME/FILE"},
"arguments":{"type":"string","description":"what the skill is to be used for, where it takes that"}}}`)}
}

// inline is a command in a skill's text: an exclamation mark and the command between backquotes.
var inline = regexp.MustCompile("!`([^`\n]+)`")

// SkillCommands are the commands in a skill's text, which run when it is used.
func SkillCommands(body string) (lines []string) {
	for _, m := range inline.FindAllStringSubmatch(body, -1) {
		lines = append(lines, m[1])
	}
	return lines
}

// Effects are what the commands in the text do; of a text without any, reading it.
func (skill) Effects(env *tools.Env, args json.RawMessage) (tools.Effects, error) {
	a, err := decode[skillArgs](args)
	if err != nil {
		return tools.Effects{}, err
	}
	s, file, ok := called(env, a.Name)
	out := tools.Effects{Known: true, ReadOnly: true, Subjects: []string{s.Name}}
	if !ok || file != "" {
		return out, nil
	}
	unread := false
	for _, line := range SkillCommands(s.Body) {
		one := lineEffects(env, line)
		unread = unread || one.Commands == nil
		out.Known, out.ReadOnly = out.Known && one.Known, out.ReadOnly && one.ReadOnly
		out.Commands = append(out.Commands, one.Commands...)
		out.Reads, out.Writes, out.Hosts = append(out.Reads, one.Reads...), append(out.Writes, one.Writes...), append(out.Hosts, one.Hosts...)
		if !one.Known {
			out.Why = one.Why
			out.Subjects = append(out.Subjects, line)
		}
	}
	if unread { // as of a line that does not parse
		out.Commands = nil
	}
	return out, nil
}

// called is the skill that a name means, and the file of it.
func called(env *tools.Env, name string) (s tools.Skill, file string, ok bool) {
	name, file, _ = strings.Cut(name, "/")
	at := slices.IndexFunc(env.Skills, func(s tools.Skill) bool { return s.Name == name })
	if at < 0 {
		return tools.Skill{Name: name}, file, false
	}
	return env.Skills[at], file, true
}

func (t skill) Run(ctx context.Context, env *tools.Env, args json.RawMessage) (tools.Result, error) {
	a, err := decode[skillArgs](args)
	if err != nil {
		return invalid(err)
	}
	s, file, ok := called(env, a.Name)
	switch {
	case !ok:
		return tools.Refuse(tools.Missing, unknownSkill(env, s.Name)), nil
	case file != "":
		return skillFile(s, file), nil
	}
	body, err := t.filled(ctx, env, s.Body, a.Arguments)
	if err != nil {
		return tools.Result{}, err
	}
	if ctx.Err() != nil {
		return tools.Refuse(tools.Cancelled, "skill "+s.Name+": cancelled"), nil
	}
	return tools.Result{Text: body + listed(s)}, nil
}

func unknownSkill(env *tools.Env, name string) string {
	var names []string
	for _, s := range env.Skills {
		names = append(names, s.Name)
	}
	switch near := strict.Nearest(name, names); {
	case near != "":
		return fmt.Sprintf("there is no skill %q: did you mean %s?", name, near)
	case len(names) == 0:
		return fmt.Sprintf("there is no skill %q, nor any other: go on without", name)
	}
	return fmt.Sprintf("there is no skill %q: there are %s", name, strings.Join(names, ", "))
}

func skillFile(s tools.Skill, file string) tools.Result {
	content, ok := s.Files[file]
	switch files := slices.Sorted(maps.Keys(s.Files)); {
	case ok && binary([]byte(content)):
		return tools.Result{Text: fmt.Sprintf("%s of skill %s is a binary file (%d bytes); commands find it in %s", file, s.Name, len(content), s.At)}
	case ok && content == "":
		return tools.Result{Text: file + " of skill " + s.Name + " is empty"}
	case ok:
		shown, _ := mark([]byte(content))
		return tools.Result{Text: shown}
	case len(files) == 0:
		return tools.Refuse(tools.Missing, "skill "+s.Name+" has no files")
	case strict.Nearest(file, files) != "":
		return tools.Refuse(tools.Missing, fmt.Sprintf("skill %s has no file %s: did you mean %s?", s.Name, file, strict.Nearest(file, files)))
	default:
		return tools.Refuse(tools.Missing, fmt.Sprintf("skill %s has no file %s: there are %s", s.Name, file, strings.Join(files, ", ")))
	}
}

// listed names the files of a skill.
func listed(s tools.Skill) string {
	if len(s.Files) == 0 {
		return ""
	}
	var out strings.Builder
	fmt.Fprintf(&out, "\n\n[files of this skill, in %s for commands:", s.At)
	for _, name := range slices.Sorted(maps.Keys(s.Files)) {
		out.WriteString("\n" + s.Name + "/" + name)
	}
	out.WriteString("]")
	return out.String()
}

// argumentsMark is where a text wants its arguments.
const argumentsMark = "$ARGUMENTS"

// filled is a text with what its commands print in their place, and with its arguments. Commands find these in the
// variable ARGUMENTS: they are never part of a line.
func (t skill) filled(ctx context.Context, env *tools.Env, body, arguments string) (string, error) {
	var out strings.Builder
	words := strings.NewReplacer(argumentsMark, arguments)
	at := 0
	for _, m := range inline.FindAllStringSubmatchIndex(body, -1) {
		out.WriteString(words.Replace(body[at:m[0]]))
		at = m[1]
		said, err := t.command(ctx, env, body[m[2]:m[3]], arguments)
		if err != nil || ctx.Err() != nil {
			return "", err
		}
		out.WriteString(said)
	}
	out.WriteString(words.Replace(body[at:]))
	if arguments != "" && !strings.Contains(body, argumentsMark) {
		out.WriteString("\n\nArguments: " + arguments)
	}
	return strings.TrimSpace(out.String()), nil
}

func (t skill) command(ctx context.Context, env *tools.Env, line, arguments string) (string, error) {
	limited, cancel := context.WithTimeout(ctx, t.limit)
	defer cancel()
	dir, _ := startDir(env)
	captured := newCapture(env, "")
	exit, err := env.Exec(limited, tools.Process{
		Argv: plain(line), Dir: dir, Env: append(quiet(), "ARGUMENTS="+strings.ReplaceAll(arguments, "\x00", "")), Stdout: captured, Stderr: captured,
	})
	if err != nil && limited.Err() == nil {
		return "", fmt.Errorf("run a command of a skill: %w", err)
	}
	said, _ := shown(captured.kept())
	said = strings.TrimRight(clip(said, maxInline), "\n")
	switch {
	case limited.Err() != nil:
		return said + fmt.Sprintf(" [`%s` did not end within %s]", line, t.limit), nil
	case exit.Code != 0:
		return said + fmt.Sprintf(" [`%s` ended with exit code %d]", line, exit.Code), nil
	}
	return said, nil
}
