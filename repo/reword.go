package repo

import (
	"context"
	"fmt"
	"strings"
)

// Reword is a commit that differs only in its message: the body stands between the subject and the trailers.
// An empty body changes nothing.
func (r *Repo) Reword(ctx context.Context, commit, body string) (string, error) {
	if body = strings.TrimSpace(strings.ReplaceAll(body, "\x00", "")); body == "" {
		return commit, nil
	}
	objects, err := r.commits(ctx, commit)
	if err != nil {
		return "", fmt.Errorf("reword %s: %w", commit, err)
	}
	o := objects[0]
	subject, rest, _ := strings.Cut(o.text, "\n")
	o.text = subject + "\n\n" + body + "\n" + rest
	at, err := r.write(o)
	if err != nil {
		return "", fmt.Errorf("reword %s: %w", commit, err)
	}
	return at, nil
}
