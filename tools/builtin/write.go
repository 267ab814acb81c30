package builtin

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"colony/tools"
)

//go:embed write.md
var writeText string

// write creates or replaces one file. It is a Previewer.
type write struct{ tools.Base }

type writeArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

func (write) Spec() tools.Spec {
	return tools.Spec{Name: "write", Description: text(writeText), Noncredential: true, Params: json.RawMessage(`{
"type":"object","additionalProperties":false,"required":["path","content"],"properties":{
"path":{"type":"string","minLength":1,"description":"file to create or replace"},
"content":{"type":"string","description":"the whole content"}}}`)}
}

// Effects are one write, wherever the path leads now.
func (write) Effects(env *tools.Env, args json.RawMessage) (tools.Effects, error) {
	a, err := decodeWrite(args)
	if err != nil {
		return tools.Effects{}, err
	}
	return writes(env, a.Path)
}

func (write) Preview(_ context.Context, env *tools.Env, args json.RawMessage) (tools.Result, error) {
	a, err := decodeWrite(args)
	if err != nil {
		return invalid(err)
	}
	c, refused, err := planWrite(env, a)
	if refused != nil || err != nil {
		return orRefused(refused), err
	}
	return c.preview("would write " + a.Path), nil
}

func (write) Run(ctx context.Context, env *tools.Env, args json.RawMessage) (tools.Result, error) {
	a, err := decodeWrite(args)
	if err != nil {
		return invalid(err)
	}
	return locked(ctx, env, a.Path, func() (tools.Result, error) {
		c, refused, err := planWrite(env, a)
		if refused != nil || err != nil {
			return orRefused(refused), err
		}
		if err := c.apply(env); err != nil {
			return broken("write", a.Path, err), nil
		}
		did := "created"
		switch {
		case c.exists && len(c.edits) == 0:
			did = "unchanged:"
		case c.exists:
			did = "replaced"
		}
		return c.done(fmt.Sprintf("%s %s: %s, %s", did, a.Path,
			plural(countLines(c.after), "line", "lines"), plural(len(c.after), "byte", "bytes"))), nil
	})
}

func decodeWrite(args json.RawMessage) (writeArgs, error) {
	a, err := decode[writeArgs](args)
	if err == nil {
		err = whole("content", a.Content)
	}
	return a, err
}

func planWrite(env *tools.Env, a writeArgs) (change, *tools.Result, error) {
	if len(a.Content) > maxEdit {
		return refused(broken("write", a.Path, errTooBig))
	}
	c, no, err := begin(env, "write", a.Path)
	if no != nil || err != nil {
		return c, no, err
	}
	if filepath.Base(a.Path) == "." || a.Path[len(a.Path)-1] == '/' {
		return refused(tools.Refuse(tools.Validation, "write "+a.Path+": this names a directory: add the file's name"))
	}
	if no := c.stale(env, a.Path, []span{{1, max(1, countLines(c.before))}}); no != nil {
		return c, no, nil
	}
	if why := lossy(c.before, a.Content); why != "" {
		return refused(tools.Refuse(tools.Validation, "write "+a.Path+": "+why))
	}
	c.become([]byte(a.Content), compare(string(c.before), a.Content))
	return c, nil, nil
}

// lossy says why a text cannot take the place of a content without damage that its writer may not see: it is no text, or
// the new one holds what read shows in the place of bytes that are not UTF-8.
func lossy(before []byte, text string) string {
	const next = ": if it is to become text, convert or remove it with sh first"
	switch {
	case utf16(before):
		return "the file is UTF-16 text, and would become UTF-8" + next
	case binary(before):
		return "it is a binary file" + next
	case utf8.Valid(before):
		return ""
	case strings.ContainsRune(text, utf8.RuneError):
		return "content holds U+FFFD, which stands for bytes that are not UTF-8: use edit, which leaves them as they are"
	}
	for _, shown := range escapes(before) {
		if strings.Contains(text, shown) && !bytes.Contains(before, []byte(shown)) {
			return "content holds " + shown + ", which read shows for a byte that is not UTF-8: use edit, which leaves it as it is"
		}
	}
	return ""
}

const maxCompared = 512 << 10 // bytes that are compared line by line, which takes long where little agrees

// compare is the edits between two contents. Of big ones it is everything between where they begin to
// differ and where they end to.
func compare(before, after string) []udiff.Edit {
	if len(before)+len(after) <= maxCompared {
		return udiff.Lines(before, after)
	}
	size := min(len(before), len(after))
	head, tail := 0, 0
	for head < size && before[head] == after[head] {
		head++
	}
	for tail < size-head && before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	if head == len(before) && head == len(after) {
		return nil
	}
	return []udiff.Edit{{Start: head, End: len(before) - tail, New: after[head : len(after)-tail]}}
}

// writes are the effects of a call that changes the file at a path.
func writes(env *tools.Env, path string) (tools.Effects, error) {
	p, err := locate(env, path)
	if err != nil {
		return tools.Effects{}, err
	}
	return tools.Effects{Known: true, Writes: []string{p.abs}, Subjects: []string{p.subject()}}, nil
}

// locked runs a change of one file while no other call of the ant can change it.
func locked(ctx context.Context, env *tools.Env, path string, run func() (tools.Result, error)) (tools.Result, error) {
	p, err := locate(env, path)
	if err != nil {
		return invalid(err)
	}
	if !p.inside {
		return outside(env, path, p), nil
	}
	unlock, err := env.Locks.Lock(ctx, p.abs)
	switch {
	case err != nil && ctx.Err() != nil:
		return tools.Refuse(tools.Cancelled, "cancelled before "+path+" was touched"), nil
	case err != nil:
		return broken("lock", path, err), nil
	}
	defer unlock()
	return run()
}

func orRefused(r *tools.Result) tools.Result {
	if r == nil {
		return tools.Result{}
	}
	return *r
}

var _ tools.Previewer = write{}
