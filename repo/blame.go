package repo

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Blame is the commit that each line of a file of a commit comes from, with the line's place and the file's name there. It
// reads no configuration of the user's, so that no program is run over the text. False where the commit has no such file.
func (r *Repo) Blame(ctx context.Context, commit, path string) (lines []struct {
	Commit, Path, Text string
	Line               int
}, ok bool, err error) {
	if err := checkID(commit); err != nil {
		return nil, false, err
	}
	out, err := r.own.run(ctx, nil, "blame", "--porcelain", "--no-progress", commit, "--", path)
	if exitCode(err) > 0 {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("blame %s: %w", path, err)
	}
	names := map[string]string{}
	at, place := "", 0
	for line := range strings.SplitSeq(string(out), "\n") {
		if text, found := strings.CutPrefix(line, "\t"); found {
			lines = append(lines, struct {
				Commit, Path, Text string
				Line               int
			}{at, names[at], text, place})
			continue
		}
		if name, found := strings.CutPrefix(line, "filename "); found {
			names[at] = unquoted(name)
			continue
		}
		if words := strings.Fields(line); len(words) >= 3 && checkID(words[0]) == nil {
			at = words[0]
			if place, err = strconv.Atoi(words[1]); err != nil {
				return nil, false, fmt.Errorf("blame %s: a line of another form", path)
			}
		}
	}
	return lines, true, nil
}

// unquoted is a path as git writes it, without the quotes of unusual ones.
func unquoted(name string) string {
	if text, err := strconv.Unquote(name); err == nil && strings.HasPrefix(name, `"`) {
		return text
	}
	return name
}

// Change is what a commit did to a file beside its first parent: the lines that went and came, wherever they are, and the
// blobs before and after, empty where there was none. A commit that joins others did nothing by itself: ok is false then,
// and where it cannot be read.
func (r *Repo) Change(ctx context.Context, commit, path string) (lines, before, after string, ok bool, err error) {
	if err := checkID(commit); err != nil {
		return "", "", "", false, err
	}
	parents, err := r.own.run(ctx, nil, "rev-list", "--parents", "--max-count=1", commit)
	if exitCode(err) > 0 {
		return "", "", "", false, nil
	}
	if err != nil {
		return "", "", "", false, err
	}
	if len(strings.Fields(string(parents))) > 2 {
		return "", "", "", false, nil
	}
	out, err := r.own.run(ctx, nil, "show", "--format=", "--unified=0", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--full-index", "--text", commit, "--", ":(top,literal)"+path)
	if err != nil {
		return "", "", "", false, err
	}
	var kept strings.Builder
	hunks := false
	for line := range strings.Lines(string(out)) {
		switch {
		case strings.HasPrefix(line, "@@ "):
			hunks = true
		case !hunks && strings.HasPrefix(line, "index "):
			before, after, _ = strings.Cut(strings.Fields(line)[1], "..")
		case !hunks:
		case strings.HasPrefix(line, "+"), strings.HasPrefix(line, "-"), strings.HasPrefix(line, `\`):
			kept.WriteString(line)
		}
	}
	for _, blob := range []*string{&before, &after} {
		if strings.Trim(*blob, "0") == "" {
			*blob = ""
		}
	}
	return kept.String(), before, after, true, nil
}

// BlobOf is the id of a file of a commit; empty where there is none or the commit is gone.
func (r *Repo) BlobOf(ctx context.Context, commit, path string) (string, error) {
	if err := checkID(commit); err != nil {
		return "", err
	}
	out, err := r.own.run(ctx, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", commit+":"+path)
	if exitCode(err) > 0 {
		return "", nil
	}
	return strings.TrimSpace(string(out)), err
}

// Has reports whether the state repository is there and has a commit.
func (r *Repo) Has(ctx context.Context, commit string) bool { return r.has(ctx, r.gitDir(), commit) }

// notesRef is where a person's notes on commits say of which tasks they are: trailers, as colony's commits have.
const notesRef = "refs/notes/colony"

// Noted are the commits that a person put such a note on.
func (r *Repo) Noted(ctx context.Context) (map[string]bool, error) {
	out, err := r.user.run(ctx, nil, "notes", "--ref="+notesRef, "list")
	if exitCode(err) < 0 {
		return nil, err
	}
	noted := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		if words := strings.Fields(line); len(words) == 2 {
			noted[words[1]] = true
		}
	}
	return noted, nil
}

// Signed are the runs and tasks that a commit says it is of, in its message or, where it is noted, in the note on it. It is a
// claim, no proof.
func (r *Repo) Signed(ctx context.Context, commit string, noted bool) ([][2]string, error) {
	objects, err := r.commits(ctx, commit)
	if err != nil {
		return nil, err
	}
	var note []byte
	if noted {
		if note, err = r.user.run(ctx, nil, "notes", "--ref="+notesRef, "show", commit); err != nil {
			return nil, err
		}
	}
	var found [][2]string
	run := ""
	for line := range strings.Lines(objects[0].text + "\n" + string(note)) {
		line = strings.TrimSpace(line)
		if v, ok := strings.CutPrefix(line, "Colony-Run: "); ok {
			run = v
		}
		if v, ok := strings.CutPrefix(line, "Colony-Task: "); ok && run != "" {
			found = append(found, [2]string{run, v})
		}
	}
	return found, nil
}
