package repo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// takenSubject begins the message of a commit that holds what a checkout had not committed. It is where a run begins, and
// never lands.
const takenSubject = "colony: uncommitted files of the checkout"

// TakeDirty makes a commit on HEAD of what the user's checkout holds beyond it, as it lies there: changed, staged, deleted
// and untracked files, but no ignored ones and no repositories inside. It returns that commit, HEAD itself where there is
// nothing, with the paths that are in it. The checkout and its index stay as they are. It returns an *UnsupportedError amid
// a merge, and a *FilterError where a file belongs to a filter.
func (r *Repo) TakeDirty(ctx context.Context) (commit string, files []string, err error) {
	if files, err = r.uncommitted(ctx); err != nil || len(files) == 0 {
		return r.found.head, nil, err
	}
	if err := filtered(ctx, r.user, files); err != nil {
		return "", nil, err
	}
	if err := r.prepare(ctx); err != nil {
		return "", nil, fmt.Errorf("prepare the state repository %s: %w", r.gitDir(), err)
	}
	tree, err := r.treeOf(ctx, files)
	if err != nil {
		return "", nil, fmt.Errorf("take the uncommitted files of %s: %w", r.Root(), err)
	}
	by := r.User().signature(time.Now())
	text := takenSubject + "\n\nColony-Run: " + r.run + "\n"
	commit, err = r.write(object{tree: tree, parents: []string{r.found.head}, author: by, committer: by, text: text})
	if err != nil {
		return "", nil, err
	}
	return commit, files, r.ship(ctx, commit, r.found.head)
}

// uncommitted are the paths in which the checkout differs from HEAD, each file by itself.
func (r *Repo) uncommitted(ctx context.Context) ([]string, error) {
	out, err := r.user.run(ctx, nil, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=all")
	if err != nil {
		return nil, fmt.Errorf("look for uncommitted files in %s: %w", r.Root(), err)
	}
	var files []string
	for _, line := range fields(out) {
		if len(line) < 4 || strings.HasSuffix(line, "/") {
			continue
		}
		if state := line[:2]; strings.Contains(state, "U") || state == "AA" || state == "DD" {
			return nil, &UnsupportedError{What: fmt.Sprintf("%s is amid a merge", line[3:]), Next: "end the merge, or run without --include-dirty"}
		}
		files = append(files, line[3:])
	}
	return files, nil
}

// treeOf is HEAD's tree with these paths as they lie in the checkout. An index of its own is written, and objects of the
// state repository, and nothing else.
func (r *Repo) treeOf(ctx context.Context, files []string) (tree string, err error) {
	dir, err := os.MkdirTemp(r.state, "index.")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	c := r.user.with("core.splitIndex=false", "GIT_INDEX_FILE="+filepath.Join(dir, "index")) // a shared part would lie with the user's
	c.env = append(c.env, "GIT_OBJECT_DIRECTORY="+filepath.Join(r.gitDir(), "objects"), "GIT_ALTERNATE_OBJECT_DIRECTORIES="+quoteAlternate(r.found.objects))
	if _, err := c.run(ctx, nil, "read-tree", r.found.head); err != nil {
		return "", err
	}
	in := []byte(strings.Join(files, "\x00") + "\x00")
	if _, err := c.run(ctx, in, "update-index", "--add", "--remove", "--replace", "-z", "--stdin"); err != nil {
		return "", contentError(err)
	}
	out, err := c.run(ctx, nil, "write-tree")
	return strings.TrimSpace(string(out)), err
}

// taken reports whether a commit holds what a checkout had not committed.
func (r *Repo) taken(ctx context.Context, commit string) (bool, error) {
	objects, err := r.commits(ctx, commit)
	if err != nil {
		return false, err
	}
	return strings.HasPrefix(objects[0].text, takenSubject+"\n"), nil
}
