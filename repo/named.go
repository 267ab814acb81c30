package repo

import (
	"context"
	"path"
	"slices"
	"strings"
)

// Named are the paths of a commit whose last element is one of names, in the order of the tree.
func (r *Repo) Named(ctx context.Context, commit string, names []string) ([]string, error) {
	out, err := r.own.run(ctx, nil, "ls-tree", "-r", "-z", "--name-only", "--full-tree", "--end-of-options", commit)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, p := range strings.Split(string(out), "\x00") {
		if slices.Contains(names, path.Base(p)) {
			found = append(found, p)
		}
	}
	return found, nil
}
