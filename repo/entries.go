package repo

import (
	"context"
	"fmt"
	"strings"
)

// entry is a path of a commit's tree.
type entry struct{ mode, id, path string }

const (
	linkMode    = "120000"
	gitlinkMode = "160000"
)

// entries are all paths of a commit, in the order of the tree.
func (r *Repo) entries(ctx context.Context, commit string) ([]entry, error) {
	out, err := r.own.run(ctx, nil, "ls-tree", "-r", "-z", "--full-tree", "--end-of-options", commit)
	if err != nil {
		return nil, fmt.Errorf("list the files of %s: %w", commit, err)
	}
	var all []entry
	for _, line := range fields(out) {
		meta, path, ok := strings.Cut(line, "\t")
		words := strings.Fields(meta)
		if !ok || len(words) != 3 {
			return nil, fmt.Errorf("list the files of %s: a line of another form", commit)
		}
		all = append(all, entry{words[0], words[2], path})
	}
	return all, nil
}

func gitlinks(all []entry) []entry {
	var out []entry
	for _, e := range all {
		if e.mode == gitlinkMode {
			out = append(out, e)
		}
	}
	return out
}

// texts are the contents of blobs, in order; empty where one is larger than fileLimit.
func (r *Repo) texts(ctx context.Context, blobs []entry) ([]string, error) {
	texts := make([]string, len(blobs))
	var small []int
	var ask strings.Builder
	for _, b := range blobs {
		fmt.Fprintln(&ask, b.id)
	}
	sizes, err := r.own.run(ctx, []byte(ask.String()), "cat-file", "--batch-check=%(objectsize)")
	if err != nil {
		return nil, fmt.Errorf("look at files: %w", err)
	}
	ask.Reset()
	for i, line := range strings.Split(strings.TrimSpace(string(sizes)), "\n") {
		var size int
		if _, err := fmt.Sscanf(line, "%d", &size); err == nil && i < len(blobs) && size <= fileLimit {
			small = append(small, i)
			fmt.Fprintln(&ask, blobs[i].id)
		}
	}
	if len(small) == 0 {
		return texts, nil
	}
	out, err := r.own.run(ctx, []byte(ask.String()), "cat-file", "--batch=%(objectsize)")
	if err != nil {
		return nil, fmt.Errorf("read files: %w", err)
	}
	rest := string(out)
	for _, i := range small {
		head, after, ok := strings.Cut(rest, "\n")
		var size int
		if _, err := fmt.Sscanf(head, "%d", &size); err != nil || !ok || size < 0 || size >= len(after) {
			return nil, fmt.Errorf("read files: git wrote less than asked")
		}
		texts[i], rest = after[:size], after[size+1:]
	}
	return texts, nil
}
