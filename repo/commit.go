package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"colony/failpoint"
)

// Message is a commit message with its trailers.
type Message struct {
	Subject, Body string
	Trailers      [][2]string
}

// String is the message as git stores it; a trailer's value is one line.
func (m Message) String() string {
	var b strings.Builder
	b.WriteString(oneLine(m.Subject) + "\n")
	if body := strings.TrimSpace(strings.ReplaceAll(m.Body, "\x00", "")); body != "" {
		b.WriteString("\n" + body + "\n")
	}
	for i, t := range m.Trailers {
		if i == 0 {
			b.WriteString("\n")
		}
		b.WriteString(t[0] + ": " + oneLine(t[1]) + "\n")
	}
	return b.String()
}

func oneLine(s string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(s, "\x00", "")), " ")
}

// Commit is work that was recorded. Refused are paths left out of it: repositories inside the worktree, files in
// submodules, and files that colony brought and that were changed.
type Commit struct {
	SHA, Tree string
	Files     []string
	Refused   []string
	Empty     bool // nothing changed: SHA is the commit before
}

// Commit records everything in the worktree that is not ignored. It returns a *FilterError where a changed
// file belongs to a filter, and a *ContentError where git refuses what lies there.
func (t *Tree) Commit(ctx context.Context, m Message) (Commit, error) {
	made, err := t.stage(ctx)
	if err != nil {
		return Commit{}, fmt.Errorf("commit the worktree %s: %w", t.name, err)
	}
	if made.Empty {
		return made, nil
	}
	if err := t.filtered(ctx, made.Files); err != nil {
		return Commit{}, fmt.Errorf("commit the worktree %s: %w", t.name, err)
	}
	return made, t.record(ctx, &made, m)
}

// Keep records everything in the worktree that is not ignored under a kept ref in the user's repository and
// returns the commit; it is empty where there is nothing beyond what the run's branch has. What git refuses to
// record is left out: the worktree then stays.
func (t *Tree) Keep(ctx context.Context, ref string) (string, error) {
	made, err := t.stage(ctx)
	var content *ContentError
	if errors.As(err, &content) {
		made, err = t.staged(ctx, nil)
	}
	if err != nil {
		return "", fmt.Errorf("keep the worktree %s: %w", t.name, err)
	}
	if !made.Empty {
		if err := t.record(ctx, &made, Message{Subject: "colony: the work of " + t.name + " as it was left"}); err != nil {
			return "", err
		}
	}
	if landed, err := t.repo.landed(ctx, made.SHA); err != nil || landed {
		return "", err
	}
	return made.SHA, t.repo.Keep(ctx, ref, made.SHA)
}

// landed reports whether the run's branch has the commit.
func (r *Repo) landed(ctx context.Context, commit string) (bool, error) {
	at, err := r.at(ctx, r.Branch())
	if err != nil || at == "" {
		return false, err
	}
	_, err = r.own.run(ctx, nil, "merge-base", "--is-ancestor", commit, at)
	if exitCode(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

var unindexed = lazily(`(?m)^error: '(.*)/' does not have a commit checked out$`)

// stage brings the index to what is on disk, without repositories inside and without what colony brought there. It is
// tried twice, since a background command of the ant may be writing.
func (t *Tree) stage(ctx context.Context) (made Commit, err error) {
	if err := os.Chmod(t.Dir, 0o700); err != nil { // the ant may have closed it
		return Commit{}, err
	}
	for range 2 {
		if _, err = t.git.run(ctx, nil, "add", "--all", "--ignore-errors"); exitCode(err) <= 0 {
			break
		}
	}
	var refused []string
	for _, m := range unindexed().FindAllStringSubmatch(errText(err), -1) {
		refused = append(refused, m[1])
	}
	if err != nil && len(refused) == 0 {
		return Commit{}, contentError(err)
	}
	return t.staged(ctx, refused)
}

// staged is what the index holds beyond the last commit.
func (t *Tree) staged(ctx context.Context, refused []string) (Commit, error) {
	made := Commit{SHA: t.head, Refused: refused}
	changed, err := t.changed(ctx)
	if err != nil {
		return Commit{}, err
	}
	var undo strings.Builder
	for _, c := range changed {
		if swept(c.path) && c.came() {
			if err := t.sweep(c.path); err != nil {
				return Commit{}, err
			}
			fmt.Fprintf(&undo, "%s %s 0\t%s\x00", c.oldMode, c.oldID, c.path)
			continue
		}
		_, guest := t.brought.Files[c.path]
		if !guest && !c.nested() {
			made.Files = append(made.Files, c.path)
			continue
		}
		fmt.Fprintf(&undo, "%s %s 0\t%s\x00", c.oldMode, c.oldID, c.path)
		if !t.ours(c.path) {
			made.Refused = append(made.Refused, c.path)
		}
	}
	if undo.Len() > 0 {
		if _, err := t.git.run(ctx, []byte(undo.String()), "update-index", "-z", "--index-info"); err != nil {
			return Commit{}, err
		}
	}
	made.Empty = len(made.Files) == 0
	inside, err := t.inModules()
	made.Refused = append(made.Refused, inside...)
	return made, err
}

// change is a path that differs between the index and HEAD.
type change struct{ oldMode, newMode, oldID, path string }

// nested is a repository inside that HEAD does not have so. Its commits would be in no one's hands.
func (c change) nested() bool { return c.newMode == "160000" }

// came reports whether HEAD does not have the path.
func (c change) came() bool { return c.oldMode == "000000" }

func (t *Tree) changed(ctx context.Context) ([]change, error) {
	out, err := t.git.run(ctx, nil, "diff-index", "--cached", "--raw", "-z", "--no-renames", "--ignore-submodules=none", t.head)
	if err != nil {
		return nil, err
	}
	parts := fields(out)
	changes := make([]change, 0, len(parts)/2)
	for i := 0; i+1 < len(parts); i += 2 {
		meta := strings.Fields(strings.TrimPrefix(parts[i], ":"))
		if len(meta) < 5 {
			return nil, fmt.Errorf("git diff-index: a line of %d words", len(meta))
		}
		changes = append(changes, change{oldMode: meta[0], newMode: meta[1], oldID: meta[2], path: parts[i+1]})
	}
	return changes, nil
}

// filtered refuses changed files that an attribute hands to a filter.
func (t *Tree) filtered(ctx context.Context, files []string) error {
	if !t.attributed(files) {
		return nil
	}
	return filtered(ctx, t.git, files)
}

func filtered(ctx context.Context, c caller, files []string) error {
	out, err := c.run(ctx, []byte(strings.Join(files, "\x00")+"\x00"), "check-attr", "-z", "--stdin", "filter")
	if err != nil {
		return err
	}
	refused := &FilterError{}
	parts := fields(out)
	for i := 0; i+2 < len(parts); i += 3 {
		if v := parts[i+2]; v != "unspecified" && v != "unset" {
			refused.Filter = v
			refused.Files = append(refused.Files, parts[i])
		}
	}
	if refused.Filter != "" {
		return refused
	}
	return nil
}

// attributed reports whether an attribute can hold for one of the files: whether a .gitattributes lies beside it or above.
func (t *Tree) attributed(files []string) bool {
	seen := map[string]bool{}
	for _, f := range files {
		for dir := path.Dir(f); !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			if _, err := os.Lstat(filepath.Join(t.Dir, filepath.FromSlash(dir), ".gitattributes")); !errors.Is(err, fs.ErrNotExist) {
				return true
			}
		}
	}
	return false
}

// workPath is the ref of the state repository that holds the worktree's commit.
func (t *Tree) workPath() string {
	return filepath.Join(t.repo.gitDir(), "refs", "colony", t.repo.run, "work", t.name)
}

// record writes the index as a commit on the last one and holds it by a ref of the state repository.
func (t *Tree) record(ctx context.Context, made *Commit, m Message) error {
	out, err := t.git.run(ctx, nil, "write-tree")
	if err != nil {
		return fmt.Errorf("commit the worktree %s: %w", t.name, err)
	}
	made.Tree = strings.TrimSpace(string(out))
	by := t.repo.User().signature(time.Now())
	made.SHA, err = t.repo.write(object{tree: made.Tree, parents: []string{t.head}, author: by, committer: by, text: m.String()})
	if err != nil {
		return fmt.Errorf("commit the worktree %s: %w", t.name, err)
	}
	if err := t.point(made.SHA); err != nil {
		return fmt.Errorf("commit the worktree %s: %w", t.name, err)
	}
	if before, ok := t.repo.known.commit(t.head); ok {
		t.repo.known.learnDiff(before.tree, made.Tree, made.Files)
	}
	t.repo.watch(made.Files)
	t.head = made.SHA
	return failpoint.Hit("repo.commit.after")
}

// point lets a ref of the state repository hold a commit, and then the worktree be at it.
func (t *Tree) point(commit string) error {
	if err := failpoint.Hit("repo.commit.before"); err != nil {
		return err
	}
	if err := t.setRef(t.workPath(), "", commit); err != nil {
		return err
	}
	if err := failpoint.Hit("repo.commit.half"); err != nil {
		return err
	}
	return t.setRef(filepath.Join(t.GitDir, "HEAD"), t.head, commit)
}

func (t *Tree) setRef(path, old, new string) error {
	return t.repo.lease.noted([]string{path + ".lock"}, func() error { return setRef(path, old, new) }, func(error) bool { return false })
}
