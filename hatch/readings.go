package hatch

import (
	"context"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"

	"colony/event"
)

// readings are what a reviewer has read in this attempt, and its last verdict.
type readings struct {
	files   map[string]bool // relative to the worktree
	verdict json.RawMessage
}

// readings are folded from the log: what was shown counts, not what was asked for.
func (l *life) readings(ctx context.Context) (readings, error) {
	var r readings
	if _, err := l.log.Append(ctx); err != nil { // what was noted is durable, and can be read
		return r, err
	}
	started, worktree := map[string]event.ToolStarted{}, ""
	for e, err := range l.log.Read(ctx, 0) {
		if err != nil {
			return r, err
		}
		if e.Ant != l.order.Ant {
			continue
		}
		switch b := e.Body.(type) {
		case event.AntHatched:
			if b.Worktree != worktree { // one that was cut off goes on in it
				r, started, worktree = readings{files: map[string]bool{}}, map[string]event.ToolStarted{}, b.Worktree
			}
		case event.ToolStarted:
			started[b.Call] = b
		case event.ToolDone:
			if b.Fault == "" {
				l.note(&r, started[b.Call], b)
			}
		}
	}
	return r, nil
}

func (l *life) note(r *readings, call event.ToolStarted, done event.ToolDone) {
	switch done.Tool {
	case "review":
		r.verdict = call.Args
	case "read":
		for _, s := range done.Seen {
			if rel, err := filepath.Rel(l.tree.Dir, s.Path); err == nil {
				r.files[filepath.ToSlash(rel)] = true
			}
		}
	case "sh":
		var args struct{ Command string }
		if json.Unmarshal(call.Args, &args) == nil {
			for _, f := range diffed(args.Command, done.Text, done.Spilled != nil) {
				r.files[f] = true
			}
		}
	}
}

var (
	gitShows = regexp.MustCompile(`\bgit\b[^|;&]*\b(diff|show)\b`)
	diffHead = regexp.MustCompile(`(?m)^diff --git `)
	diffBody = regexp.MustCompile(`(?m)^(@@ |Binary files |rename to |new mode |index .*\be69de29)`)
)

// diffed are the files whose change the output of a git diff or git show holds. Of an output that was cut only files
// count that the command names.
func diffed(command, text string, cut bool) []string {
	if !gitShows.MatchString(command) {
		return nil
	}
	var files []string
	heads := diffHead.FindAllStringIndex(text, -1)
	for i, at := range heads {
		end := len(text)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		file := headed(text[at[1]:end])
		if file != "" && diffBody.MatchString(text[at[1]:end]) && (!cut || strings.Contains(command, file)) {
			files = append(files, file)
		}
	}
	return files
}

// headed is the file of a diff's part, as it is called after the change; a deleted one as it was called before.
func headed(part string) string {
	line, _, _ := strings.Cut(part, "\n")
	if after, ok := strings.CutPrefix(line, "a/"); ok && len(after) > 3 && len(after)%2 == 1 { // the same name twice: NAME b/NAME
		if name := after[:(len(after)-3)/2]; after == name+" b/"+name {
			return name
		}
	}
	for _, mark := range []string{"\nrename to ", "\n+++ b/"} {
		if _, rest, ok := strings.Cut(part, mark); ok {
			name, _, _ := strings.Cut(rest, "\n")
			return name
		}
	}
	return ""
}
