package repo

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Changed is a file that differs, with the lines that came and went; both are -1 where it is no text.
type Changed struct {
	Path    string `json:"path"`
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
}

// Diff is what differs between two commits, as git shows it, and file by file.
func (r *Repo) Diff(ctx context.Context, from, to string) (text []byte, files []Changed, err error) {
	if err := checkID(from, to); err != nil {
		return nil, nil, err
	}
	plain := []string{"--no-color", "--no-ext-diff", "--no-textconv"}
	if text, err = r.own.run(ctx, nil, append(append([]string{"diff"}, plain...), from, to, "--")...); err != nil {
		return nil, nil, fmt.Errorf("compare %s and %s: %w", from, to, err)
	}
	out, err := r.own.run(ctx, nil, append(append([]string{"diff", "--numstat", "-z", "--no-renames"}, plain...), from, to, "--")...)
	if err != nil {
		return nil, nil, fmt.Errorf("compare %s and %s: %w", from, to, err)
	}
	for _, line := range fields(out) {
		words := strings.SplitN(line, "\t", 3)
		if len(words) == 3 {
			files = append(files, Changed{Path: words[2], Added: count(words[0]), Removed: count(words[1])})
		}
	}
	return text, files, nil
}

func count(word string) int {
	n, err := strconv.Atoi(word)
	if err != nil {
		return -1
	}
	return n
}

// Fork is where two commits part: the newest that both have.
func (r *Repo) Fork(ctx context.Context, a, b string) (string, error) {
	if err := checkID(a, b); err != nil {
		return "", err
	}
	out, err := r.own.run(ctx, nil, "merge-base", a, b)
	if err != nil {
		return "", fmt.Errorf("find where %s and %s part: %w", a, b, err)
	}
	return strings.TrimSpace(string(out)), nil
}
