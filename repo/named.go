package repo

import (
	"context"
	"path"
	"slices"
	"strings"
)

// Named are the files of a commit whose last element is one of names, in the order of the tree. A link is none:
// what git holds of it is where it leads.
func (r *Repo) Named(ctx context.Context, commit string, names []string) ([]string, error) {
	out, err := r.own.run(ctx, nil, "ls-tree", "-r", "-z", "--full-tree", "--end-of-options", commit)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, line := range fields(out) {
		meta, p, _ := strings.Cut(line, "\t")
		if strings.HasPrefix(meta, "100") && slices.Contains(names, path.Base(p)) {
			found = append(found, p)
		}
	}
	return found, nil
}
