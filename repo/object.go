package repo

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"
)

// object is a commit as git stores it. Author and committer are whole header values.
type object struct {
	tree              string
	parents           []string
	author, committer string
	text              string
}

func (o object) encode() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", o.tree)
	for _, p := range o.parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	fmt.Fprintf(&b, "author %s\ncommitter %s\n\n%s", o.author, o.committer, o.text)
	return b.Bytes()
}

func parseObject(data []byte) (object, error) {
	head, text, ok := strings.Cut(string(data), "\n\n")
	if !ok {
		return object{}, fmt.Errorf("a commit without a message")
	}
	o := object{text: text}
	for _, line := range strings.Split(head, "\n") {
		key, value, _ := strings.Cut(line, " ")
		switch key {
		case "tree":
			o.tree = value
		case "parent":
			o.parents = append(o.parents, value)
		case "author":
			o.author = value
		case "committer":
			o.committer = value
		}
	}
	return o, nil
}

// commits reads commits of the state repository, in order.
func (r *Repo) commits(ctx context.Context, ids ...string) ([]object, error) {
	if err := checkID(ids...); err != nil {
		return nil, err
	}
	objects := make([]object, len(ids))
	all := true
	for i, id := range ids {
		var ok bool
		objects[i], ok = r.known.commit(id)
		all = all && ok
	}
	if all {
		return objects, nil
	}
	out, err := r.own.run(ctx, []byte(strings.Join(ids, "\n")+"\n"), "cat-file", "--batch")
	if err != nil {
		return nil, fmt.Errorf("read commits: %w", err)
	}
	for i, id := range ids {
		line, rest, _ := bytes.Cut(out, []byte("\n"))
		var size int
		if _, err := fmt.Sscanf(string(line), id+" commit %d", &size); err != nil || size < 0 || size >= len(rest) {
			return nil, fmt.Errorf("%s is no commit here", id)
		}
		if objects[i], err = parseObject(rest[:size]); err != nil {
			return nil, fmt.Errorf("read %s: %w", id, err)
		}
		r.known.learn(id, objects[i])
		out = rest[size+1:]
	}
	return objects, nil
}

// write stores a commit in the state repository.
func (r *Repo) write(o object) (string, error) {
	id, err := r.writeLoose("commit", o.encode())
	if err != nil {
		return "", fmt.Errorf("write a commit: %w", err)
	}
	r.known.learn(id, o)
	return id, nil
}

// signature is an identity at a moment, as a header value.
func (i Identity) signature(at time.Time) string {
	return fmt.Sprintf("%s <%s> %d +0000", i.Name, i.Email, at.Unix())
}
