package builtin

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"colony/guard/shell"
	"colony/tools"
	"colony/view"
)

//go:embed sh.md
var shText string

// Bounds of a command.
const (
	maxShTimeout = 10 * time.Minute
	maxCommand   = 64 << 10 // bytes of a line: it travels as one argument
)

// sh runs a line in a fresh bash, or looks after a background job.
type sh struct {
	tools.Base
	limit time.Duration // of a command that names none
}

type shArgs struct {
	Command    string `json:"command"`
	Job        string `json:"job"`
	Action     string `json:"action"`
	Timeout    string `json:"timeout"`
	Background bool   `json:"background"`

	limit time.Duration
}

func (s sh) Spec() tools.Spec {
	return tools.Spec{Name: "sh", Description: text(shText), Params: json.RawMessage(strings.Replace(`{
"type":"object","additionalProperties":false,"properties":{
"command":{"type":"string","minLength":1,"description":"bash, run in the working directory"},
"timeout":{"type":"string","description":"a duration such as 30s; default LIMIT, at most 10m"},
"background":{"type":"boolean","description":"start it as a job and return its id at once"},
"job":{"type":"string","description":"id of a job, instead of command"},
"action":{"type":"string","enum":["read","wait","kill"],"description":"what to do with the job: its new output, wait for its end, or end it"}}}`, "LIMIT", s.limit.String(), 1))}
}

func decodeSh(args json.RawMessage) (shArgs, error) {
	a, err := decode[shArgs](args)
	if err != nil {
		return a, err
	}
	switch {
	case a.Command == "" && a.Job == "":
		return a, badArg("command", "is missing", "or job with action")
	case a.Command != "" && (a.Job != "" || a.Action != ""):
		return a, badArg("job", "stands beside command", "give one or the other")
	case len(a.Command) > maxCommand:
		return a, badArg("command", fmt.Sprintf("is longer than %d bytes", maxCommand), "write a script with write and run it")
	case a.Job != "" && !slices.Contains([]string{"read", "wait", "kill"}, a.Action):
		return a, badArg("action", fmt.Sprintf("is %q", a.Action), "read, wait or kill")
	case a.Background && a.Job != "":
		return a, badArg("background", "stands beside job", "")
	case a.Background && a.Timeout != "":
		return a, badArg("timeout", "has no effect on a job", "end it with job and action kill")
	}
	if a.Timeout != "" {
		a.limit, err = time.ParseDuration(a.Timeout)
		if err != nil || a.limit <= 0 || a.limit > maxShTimeout {
			return a, badArg("timeout", fmt.Sprintf("is %q", a.Timeout), "a duration up to 10m, such as 30s")
		}
	}
	return a, nil
}

// IsConcurrencySafe is true of a line that is known to change nothing, not even the working directory.
func (sh) IsConcurrencySafe(args json.RawMessage) bool {
	a, err := decodeSh(args)
	if err != nil || a.Command == "" || a.Background {
		return false
	}
	line := shell.Parse(a.Command)
	moves := func(c shell.Command) bool {
		return len(c.Argv) == 0 && !c.ReadOnly || len(c.Argv) > 0 && slices.Contains([]string{"cd", "pushd", "popd"}, c.Argv[0])
	}
	return line.ReadOnly() && !slices.ContainsFunc(line.Commands, moves)
}

// Effects are what the line's commands would do, as far as they can be read.
func (sh) Effects(env *tools.Env, args json.RawMessage) (tools.Effects, error) {
	a, err := decodeSh(args)
	if err != nil {
		return tools.Effects{}, err
	}
	if a.Job != "" {
		return tools.Effects{Known: true, ReadOnly: a.Action != "kill"}, nil
	}
	out := lineEffects(env, a.Command)
	out.Subjects = []string{a.Command} // also of a line that does not parse: no rule covers what it cannot see
	return out, nil
}

// lineEffects are what a line's commands would do, as far as they can be read.
func lineEffects(env *tools.Env, command string) tools.Effects {
	line := shell.Parse(command)
	out := tools.Effects{Known: line.Known, ReadOnly: line.ReadOnly(), Why: line.Why}
	for _, c := range line.Commands {
		out.Commands = append(out.Commands, tools.Command(c))
	}
	var unread, unwritten error
	out.Reads, unread = leadTo(env, append(line.Reads, expanded(env, line.Globs)...))
	out.Writes, unwritten = leadTo(env, line.Writes)
	out.Hosts = line.Hosts
	if err := errors.Join(unread, unwritten); err != nil { // where a path leads cannot be told
		out.Known, out.ReadOnly, out.Why = false, false, err.Error()
	}
	return out
}

// expanded are the files that the shell might make of patterns, and the patterns, which stay where no file fits.
func expanded(env *tools.Env, patterns []string) []string {
	out := slices.Clone(patterns)
	for _, pattern := range patterns {
		if !filepath.IsAbs(pattern) {
			pattern = env.Cwd() + "/" + pattern
		}
		if found, err := filepath.Glob(pattern); err == nil {
			out = append(out, found...)
		}
	}
	return out
}

// leadTo is where each path leads. One that cannot be resolved stays as it is, and the error says why.
func leadTo(env *tools.Env, paths []string) (out []string, unresolved error) {
	for _, path := range paths {
		p, err := locate(env, path)
		if err != nil {
			unresolved = err
			if p.abs = path; !filepath.IsAbs(path) {
				p.abs = env.Cwd() + "/" + path
			}
		}
		if !slices.Contains(out, p.abs) {
			out = append(out, p.abs)
		}
	}
	return out, unresolved
}

func (s sh) Run(ctx context.Context, env *tools.Env, args json.RawMessage) (tools.Result, error) {
	a, err := decodeSh(args)
	switch {
	case err != nil:
		return invalid(err)
	case a.limit == 0:
		a.limit = s.limit
	}
	switch {
	case a.Job != "":
		return lookAfter(ctx, env, a)
	case a.Background:
		return startJob(env, a)
	}
	return runLine(ctx, env, a)
}

func runLine(ctx context.Context, env *tools.Env, a shArgs) (tools.Result, error) {
	dir, note := startDir(env)
	nonce := rand.Text()
	out, errs := newCapture(env, nonce), newCapture(env, nonce)
	limited, cancel := context.WithTimeout(ctx, a.limit)
	defer cancel()
	exit, err := env.Exec(limited, tools.Process{
		Argv: carried(a.Command, nonce), Dir: dir, Env: quiet(), Stdout: out, Stderr: errs,
	})
	if err != nil && limited.Err() == nil {
		return tools.Result{}, fmt.Errorf("run sh: %w", err)
	}
	r := report{dir: dir, notes: note}
	r.streams(env, out, errs, nonce)
	res := tools.Result{Exit: &exit.Code, Duration: exit.Duration, Cwd: r.cwd,
		Views: view.List{view.Exit{Command: a.Command, Code: exit.Code, Ms: exit.Duration.Milliseconds()}}}
	res.Fault = r.ended(ctx, limited, err, exit, a.limit)
	res.Text = r.text()
	return res, nil
}
