package builtin

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"colony/tools"
)

//go:embed edit.md
var editText string

// edit replaces text in one file. It is a Previewer.
type edit struct{ tools.Base }

type editArgs struct {
	Path string `json:"path"`
	swap
	Edits []swap `json:"edits"`
}

type swap struct {
	Old        string `json:"old"`
	New        string `json:"new"`
	ReplaceAll bool   `json:"replace_all"`
}

func (edit) Spec() tools.Spec {
	return tools.Spec{Name: "edit", Description: text(editText), Noncredential: true, Params: json.RawMessage(`{
"type":"object","additionalProperties":false,"required":["path"],"properties":{
"path":{"type":"string","minLength":1,"description":"file to change"},
"old":{"type":"string","description":"exact text to replace, unique in the file unless replace_all"},
"new":{"type":"string","description":"text to put there, taken literally"},
"replace_all":{"type":"boolean","description":"replace every match"},
"edits":{"type":"array","minItems":1,"maxItems":200,"description":"several replacements, made in order, all or none; instead of old and new",
 "items":{"type":"object","additionalProperties":false,"required":["old","new"],"properties":{
  "old":{"type":"string","description":"exact text to replace"},
  "new":{"type":"string","description":"text to put there"},
  "replace_all":{"type":"boolean","description":"replace every match"}}}}}}`)}
}

// Effects are one write, wherever the path leads now.
func (edit) Effects(env *tools.Env, args json.RawMessage) (tools.Effects, error) {
	a, err := decodeEdit(args)
	if err != nil {
		return tools.Effects{}, err
	}
	return writes(env, a.Path)
}

func (edit) Preview(_ context.Context, env *tools.Env, args json.RawMessage) (tools.Result, error) {
	c, said, refused, err := planEdit(env, args)
	if refused != nil || err != nil {
		return orRefused(refused), err
	}
	return c.preview("would edit " + said), nil
}

func (edit) Run(ctx context.Context, env *tools.Env, args json.RawMessage) (tools.Result, error) {
	a, err := decodeEdit(args)
	if err != nil {
		return invalid(err)
	}
	return locked(ctx, env, a.Path, func() (tools.Result, error) {
		c, said, refused, err := planEdit(env, args)
		if refused != nil || err != nil {
			return orRefused(refused), err
		}
		if err := c.apply(env); err != nil {
			return broken("edit", a.Path, err), nil
		}
		return c.done("edited " + said), nil
	})
}

func decodeEdit(args json.RawMessage) (editArgs, error) {
	a, err := decode[editArgs](args)
	if err != nil {
		return a, err
	}
	one := a.swap != swap{}
	switch {
	case one && len(a.Edits) > 0:
		return a, badArg("edits", "stands beside old and new", "give one or the other")
	case !one && len(a.Edits) == 0:
		return a, badArg("old", "is missing", "give old and new, or edits")
	case one:
		a.Edits = []swap{a.swap}
	}
	for i, s := range a.Edits {
		name := "old"
		if !one {
			name = fmt.Sprintf("edits[%d].old", i)
		}
		if s.Old == "" {
			return a, badArg(name, "is empty", "use write for a new file")
		}
		if s.Old == s.New {
			return a, badArg(name, "is the same as new", "")
		}
		if err := cmp.Or(whole(name, s.Old), whole(strings.TrimSuffix(name, "old")+"new", s.New)); err != nil {
			return a, err
		}
	}
	return a, nil
}

// planEdit makes the edits in memory. It says in words what they come to.
func planEdit(env *tools.Env, args json.RawMessage) (change, string, *tools.Result, error) {
	a, err := decodeEdit(args)
	if err != nil {
		res, err := invalid(err)
		return change{}, "", &res, err
	}
	c, refused, err := begin(env, "edit", a.Path)
	if refused == nil && err == nil {
		refused = c.editable(env, a)
	}
	if refused != nil || err != nil {
		return c, "", refused, err
	}
	s, lines := newSplice(c.before), []int(nil)
	for i, one := range a.Edits {
		offsets, fault := matches(s.now, one)
		if fault != "" {
			res := tools.Refuse(tools.Validation, a.where(i)+fault+"; nothing was changed")
			return c, "", &res, nil
		}
		if len(s.now)+len(offsets)*(len(one.New)-len(one.Old)) > maxEdit { // asked before the memory is taken
			res := broken("edit", a.Path, errTooBig)
			return c, "", &res, nil
		}
		for _, o := range offsets[:min(len(offsets), maxShown)] {
			lines = append(lines, lineAt(s.now, o))
		}
		s.replaceAt(offsets, len(one.Old), one.New)
	}
	edits := s.edits(len(c.before))
	if refused := c.stale(env, a.Path, touched(c.before, edits)); refused != nil {
		return c, "", refused, nil
	}
	if bytes.Equal(c.before, s.now) {
		edits = nil
	}
	c.become(s.now, edits)
	c.keepKnown(env.Files.Parts(c.place.abs, c.was))
	return c, fmt.Sprintf("%s: %s at line %s", a.Path, plural(len(a.Edits), "edit", "edits"), join(lines)), nil, nil
}

// editable refuses a file that is not there, not read as it is now, or not text.
func (c change) editable(env *tools.Env, a editArgs) *tools.Result {
	if !c.exists {
		res := tools.Refuse(tools.Missing, "edit "+a.Path+": no such file: check the name with find, or create it with write")
		return &res
	}
	if refused := c.stale(env, a.Path, nil); refused != nil {
		return refused
	}
	why := ""
	switch {
	case utf16(c.before):
		why = "UTF-16 text cannot be edited: convert it with sh first"
	case binary(c.before):
		why = "it is a binary file"
	case !utf8.Valid(c.before) && slices.ContainsFunc(a.Edits, func(s swap) bool { return strings.ContainsRune(s.New, utf8.RuneError) }):
		why = "new holds U+FFFD, which stands for bytes that are not UTF-8: edit around them"
	}
	if why == "" {
		return nil
	}
	res := tools.Refuse(tools.Validation, "edit "+a.Path+": "+why)
	return &res
}

func (a editArgs) where(i int) string {
	if len(a.Edits) == 1 {
		return "edit " + a.Path + ": "
	}
	return fmt.Sprintf("edit %s: edits[%d]: ", a.Path, i)
}

const maxFound = 10000 // matches that are counted

// matches finds where the old text stands. A fault says why it cannot be replaced.
func matches(data []byte, s swap) (offsets []int, fault string) {
	old := []byte(s.Old)
	step := 1 // overlapping matches count too
	if s.ReplaceAll {
		step = len(old)
	}
	for at := 0; s.ReplaceAll || len(offsets) < maxFound; {
		i := bytes.Index(data[at:], old)
		if i < 0 {
			break
		}
		offsets = append(offsets, at+i)
		at += i + step
	}
	switch {
	case len(offsets) == 0:
		return nil, "old was not found" + nearest(data, s.Old)
	case len(offsets) > 1 && !s.ReplaceAll:
		return nil, ambiguous(data, offsets)
	}
	return offsets, ""
}

func ambiguous(data []byte, offsets []int) string {
	lines := []int(nil)
	for _, o := range offsets[:min(len(offsets), maxShown)] {
		lines = append(lines, lineAt(data, o))
	}
	more := ""
	if len(offsets) > maxShown {
		more = ", …"
	}
	return fmt.Sprintf("old matches %d times, at line %s%s: give more of the text around the one you mean, or replace_all",
		len(offsets), join(lines), more)
}

// touched are the lines of the original that the edits replace.
func touched(before []byte, edits []udiff.Edit) []span {
	var out []span
	line, at := 1, 0
	to := func(offset int) int {
		line += bytes.Count(before[at:offset], []byte("\n"))
		at = offset
		return line
	}
	for _, e := range edits {
		from := to(e.Start)
		out = append(out, span{from, to(max(e.Start, e.End-1))})
	}
	return out
}

var _ tools.Previewer = edit{}
