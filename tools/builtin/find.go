package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"colony/tools"
	"colony/view"
)

//go:embed find.md
var findText string

// find lists files by name and searches their contents.
type find struct{ tools.Base }

type findArgs struct {
	Pattern    string `json:"pattern"`
	Content    string `json:"content"`
	Path       string `json:"path"`
	Literal    bool   `json:"literal"`
	IgnoreCase bool   `json:"ignore_case"`
	Hidden     bool   `json:"hidden"`
	Context    int    `json:"context"`
	Mode       string `json:"mode"`
	Limit      int    `json:"limit"`

	query query
}

func (find) Spec() tools.Spec {
	return tools.Spec{Name: "find", Description: text(findText), ReadOnly: true, Noncredential: true, Params: json.RawMessage(`{
"type":"object","additionalProperties":false,"properties":{
"pattern":{"type":"string","description":"names: a glob; without / it matches the last name at any depth, ** crosses directories"},
"content":{"type":"string","description":"contents: an RE2 regular expression, matched line by line"},
"path":{"type":"string","description":"directory or file to look in; default the working directory"},
"literal":{"type":"boolean","description":"content is the text itself"},
"ignore_case":{"type":"boolean","description":"names and contents in any case"},
"hidden":{"type":"boolean","description":"names that begin with a dot too"},
"context":{"type":"integer","minimum":0,"maximum":20,"description":"lines shown around a match"},
"mode":{"type":"string","enum":["matches","files","count"],"description":"default matches with content, files without"},
"limit":{"type":"integer","minimum":1,"maximum":1000,"description":"matches or files shown, default 100"}}}`)}
}

// IsConcurrencySafe is true: a search changes nothing.
func (find) IsConcurrencySafe(json.RawMessage) bool { return true }

// Effects are one read, of the directory and what is below it.
func (find) Effects(env *tools.Env, args json.RawMessage) (tools.Effects, error) {
	a, err := decodeFind(args)
	if err != nil {
		return tools.Effects{}, err
	}
	return reads(env, a.Path)
}

func decodeFind(args json.RawMessage) (findArgs, error) {
	a, err := decode[findArgs](args)
	if err != nil {
		return a, err
	}
	if a.Path == "" {
		a.Path = "."
	}
	if a.Limit == 0 {
		a.Limit = 100
	}
	if a.Mode == "" {
		a.Mode = "matches"
		if a.Content == "" {
			a.Mode = "files"
		}
	}
	switch {
	case a.Mode != "matches" && a.Mode != "files" && a.Mode != "count":
		return a, badArg("mode", fmt.Sprintf("is %q", a.Mode), "matches, files or count")
	case a.Mode == "matches" && a.Content == "":
		return a, badArg("mode", "matches needs content", "use files")
	case a.Limit < 1 || a.Limit > 1000:
		return a, badArg("limit", "is not from 1 to 1000", "")
	case a.Context < 0 || a.Context > 20:
		return a, badArg("context", "is not from 0 to 20", "")
	case readings(a.Pattern) > maxReadings:
		return a, badArg("pattern", "has too many alternatives", "name fewer in braces")
	case !doublestar.ValidatePattern(a.Pattern):
		return a, badArg("pattern", "is not a glob", "*, **, ?, [a-z], {a,b}")
	}
	a.query, err = newQuery(a)
	return a, err
}

// maxReadings bounds the readings of a glob, each of which is tried on every name.
const maxReadings = 256

// readings is at least how many plain globs the alternatives in braces stand for, as far as the bound.
func readings(glob string) int {
	all, open := 1, []int(nil)
	for i := 0; i < len(glob) && all <= maxReadings; i++ {
		switch c := glob[i]; {
		case c == '\\':
			i++
		case c == '{':
			open = append(open, 1)
		case c == ',' && len(open) > 0:
			open[len(open)-1]++
		case c == '}' && len(open) > 0:
			all *= open[len(open)-1]
			open = open[:len(open)-1]
		}
	}
	return all
}

func (find) Run(ctx context.Context, env *tools.Env, args json.RawMessage) (tools.Result, error) {
	a, err := decodeFind(args)
	if err != nil {
		return invalid(err)
	}
	p, err := locate(env, a.Path)
	if err != nil {
		return invalid(err)
	}
	if !p.inside {
		return outside(env, a.Path, p), nil
	}
	files, err := candidates(ctx, env, a, p)
	if err != nil {
		return stopped(ctx, a.Path, err), nil
	}
	if a.Content == "" {
		return named(env, a, files), nil
	}
	limit := 0
	if a.Mode == "matches" {
		limit = a.Limit
	}
	all, err := a.query.searchAll(ctx, env, files, limit)
	if err != nil {
		return stopped(ctx, a.Path, err), nil
	}
	return contained(env, a, all, len(files)), nil
}

func stopped(ctx context.Context, path string, err error) tools.Result {
	switch {
	case ctx.Err() != nil:
		return tools.Refuse(tools.Cancelled, "find in "+path+": cancelled before it was through")
	case errors.Is(err, errTooMany):
		return tools.Refuse(tools.Validation, "find in "+path+": "+err.Error())
	}
	return broken("find in", path, err)
}

// candidates are the files whose names are wanted. A path that is a file is the only one.
func candidates(ctx context.Context, env *tools.Env, a findArgs, p place) ([]found, error) {
	f, info, err := openPlace(env, p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if !info.IsDir() {
		if !info.Mode().IsRegular() {
			return nil, errNotRegular
		}
		return []found{{rel: p.rel}}, nil
	}
	w := walker{hidden: a.Hidden, want: wanted(a, p)}
	err = w.walk(ctx, env.Root, p)
	return w.files, err
}

func wanted(a findArgs, p place) func(rel string) bool {
	if a.Pattern == "" {
		return func(string) bool { return true }
	}
	fold := func(s string) string { return s }
	if a.IgnoreCase {
		fold = strings.ToLower
	}
	glob := strings.TrimPrefix(fold(a.Pattern), "./")
	return func(rel string) bool {
		name := path.Base(rel)
		if strings.Contains(glob, "/") || strings.Contains(glob, "**") {
			name = rel
			if p.rel != "." {
				name = strings.TrimPrefix(rel, filepath.ToSlash(p.rel)+"/")
			}
		}
		ok, err := doublestar.Match(glob, fold(name))
		return ok && err == nil
	}
}

func named(env *tools.Env, a findArgs, files []found) tools.Result {
	if a.Mode == "count" {
		return tools.Result{Text: plural(len(files), "file", "files"), Views: view.List{view.Matches{Total: len(files)}}}
	}
	var out strings.Builder
	v := view.Matches{Total: len(files)}
	out.WriteString(plural(len(files), "file", "files"))
	shown := files[:min(len(files), a.Limit)]
	more(&out, len(shown), len(files))
	for _, f := range shown {
		out.WriteString("\n" + display(env, f.rel))
		if f.link {
			out.WriteString("@")
		}
		v.Items = append(v.Items, view.Match{Path: f.rel})
	}
	return tools.Result{Text: out.String(), Views: view.List{v}}
}

func more(out *strings.Builder, shown, total int) {
	if shown < total {
		fmt.Fprintf(out, " (the first %d shown: narrow pattern or path, or raise limit)", shown)
	}
}

func contained(env *tools.Env, a findArgs, all []hits, searched int) tools.Result {
	total, with, skipped := 0, 0, 0
	for _, h := range all {
		total += h.count
		with += min(h.count, 1)
		if h.skipped {
			skipped++
		}
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s in %s of %d searched", plural(total, "matching line", "matching lines"), plural(with, "file", "files"), searched)
	v := view.Matches{Total: total}
	if a.Mode == "matches" {
		more(&out, min(a.Limit, total), total)
		for _, h := range all {
			writeHits(&out, env, a, h)
			v.Items = append(v.Items, items(h)...)
		}
	} else {
		v.Total = with
		more(&out, min(a.Limit, with), with)
		v.Items = writeFiles(&out, env, a, all)
	}
	if skipped > 0 {
		fmt.Fprintf(&out, "\n[%s over %d MiB not searched: use sh]", plural(skipped, "file", "files"), maxSearched>>20)
	}
	return tools.Result{Text: out.String(), Views: view.List{v}}
}

func writeHits(out *strings.Builder, env *tools.Env, a findArgs, h hits) {
	if len(h.lines) == 0 {
		return
	}
	fmt.Fprintf(out, "\n%s", display(env, h.rel))
	for i, l := range h.lines {
		if i > 0 && l.number > h.lines[i-1].number+1 && a.Context > 0 {
			out.WriteString("\n--")
		}
		sep := '-'
		if l.match {
			sep = ':'
		}
		fmt.Fprintf(out, "\n%d%c\t%s", l.number, sep, l.text)
	}
}

func items(h hits) []view.Match {
	var out []view.Match
	for _, l := range h.lines {
		if l.match {
			out = append(out, view.Match{Path: h.rel, Line: l.number, Text: l.text})
		}
	}
	return out
}

func writeFiles(out *strings.Builder, env *tools.Env, a findArgs, all []hits) []view.Match {
	var shown []view.Match
	for _, h := range all {
		if h.count == 0 || len(shown) == a.Limit {
			continue
		}
		out.WriteString("\n" + display(env, h.rel))
		if a.Mode == "count" {
			fmt.Fprintf(out, ": %d", h.count)
		}
		shown = append(shown, view.Match{Path: h.rel})
	}
	return shown
}
