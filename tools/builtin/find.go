package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync/atomic"

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
	case path.IsAbs(a.Pattern) || slices.Contains(strings.Split(a.Pattern, "/"), ".."):
		return a, badArg("pattern", "leads out of path", "it is matched against the names below path: give the directory there")
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
	all, err := a.gather(ctx, env, p)
	if err != nil {
		return stopped(ctx, a.Path, err), nil
	}
	if a.Content == "" {
		return named(env, a, all), nil
	}
	var shown []hits
	if a.Mode == "matches" {
		if shown, err = a.query.show(ctx, env, all.files, a.Limit); err != nil {
			return stopped(ctx, a.Path, err), nil
		}
	}
	return contained(env, a, all, shown), nil
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

// gathered is what a walk brought: the files that are wanted, newest first, those that hold a match where contents are.
type gathered struct {
	files    []found
	searched int64 // files whose names are wanted
	leftOut  int64 // names that are hidden or ignored
}

// gather walks what is below a place. A path that is a file is the only one that is wanted.
func (a findArgs) gather(ctx context.Context, env *tools.Env, p place) (gathered, error) {
	f, info, err := openPlace(env, p)
	if err != nil {
		return gathered{}, err
	}
	defer f.Close()
	look, searched := dated, new(atomic.Int64)
	if a.Content != "" {
		look = func(h *hand, dir int, f *found) bool {
			if f.link {
				return false
			}
			searched.Add(1)
			return a.query.count(h, dir, f)
		}
	}
	if info.IsDir() {
		w := walker{root: env.Root, hidden: a.Hidden || asksHidden(a.Pattern), want: wanted(a, p), look: look}
		files, err := w.walk(ctx, p)
		return gathered{files, searched.Load(), w.leftOut.Load()}, err
	}
	if !info.Mode().IsRegular() {
		return gathered{}, errNotRegular
	}
	dir, err := openDir(env.Root, path.Dir(p.rel), false)
	if err != nil {
		return gathered{}, err
	}
	defer dir.Close()
	one := []found{{rel: p.rel}}
	if !look(&hand{ctx: ctx}, int(dir.Fd()), &one[0]) {
		one = nil
	}
	return gathered{files: one, searched: searched.Load()}, nil
}

// asksHidden reports whether a glob itself names something that begins with a dot.
func asksHidden(glob string) bool {
	glob = strings.TrimPrefix(glob, "./")
	return strings.HasPrefix(glob, ".") || strings.Contains(glob, "/.")
}

func wanted(a findArgs, p place) func(rel string) bool {
	if a.Pattern == "" {
		return func(string) bool { return true }
	}
	fold := func(s string) string { return s }
	if a.IgnoreCase {
		fold = strings.ToLower
	}
	text := strings.TrimPrefix(fold(a.Pattern), "./")
	whole := strings.Contains(text, "/") || strings.Contains(text, "**")
	pattern := newGlob(text)
	below := ""
	if p.rel != "." {
		below = p.rel + "/"
	}
	return func(rel string) bool {
		if whole {
			return pattern.match(fold(strings.TrimPrefix(rel, below)))
		}
		return pattern.match(fold(path.Base(rel)))
	}
}

func named(env *tools.Env, a findArgs, all gathered) tools.Result {
	files := all.files
	v := view.Matches{Total: len(files)}
	var out strings.Builder
	out.WriteString(plural(len(files), "file", "files"))
	if a.Mode != "count" {
		shown := files[:min(len(files), a.Limit)]
		more(&out, len(shown), len(files))
		for _, f := range shown {
			out.WriteString("\n" + display(env, f.rel))
			if f.link {
				out.WriteString("@")
			}
			v.Items = append(v.Items, view.Match{Path: f.rel})
		}
	}
	all.sayNone(&out)
	return tools.Result{Text: out.String(), Views: view.List{v}}
}

// sayNone tells of names that were left out where nothing was found.
func (g gathered) sayNone(out *strings.Builder) {
	if len(g.files) == 0 && g.leftOut > 0 {
		fmt.Fprintf(out, "\n[%s left out: hidden, or named by .gitignore or .colonyignore]", plural(int(g.leftOut), "name was", "names were"))
	}
}

func more(out *strings.Builder, shown, total int) {
	if shown < total {
		fmt.Fprintf(out, " (the first %d shown, newest files first: narrow pattern or path, or raise limit)", shown)
	}
}

func contained(env *tools.Env, a findArgs, all gathered, shown []hits) tools.Result {
	lines, with, skipped := 0, 0, map[string]int{}
	for _, f := range all.files {
		lines += f.lines
		with += min(f.lines, 1)
		if f.reason != "" {
			skipped[f.reason]++
		}
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s in %s of %d searched", plural(lines, "matching line", "matching lines"), plural(with, "file", "files"), all.searched)
	v := view.Matches{Total: lines}
	if a.Mode == "matches" {
		more(&out, min(a.Limit, lines), lines)
		for _, h := range shown {
			writeHits(&out, env, a, h)
			v.Items = append(v.Items, items(h)...)
		}
	} else {
		v.Total = with
		more(&out, min(a.Limit, with), with)
		v.Items = writeFiles(&out, env, a, all.files)
	}
	if n := skipped[tooBigToSearch]; n > 0 {
		fmt.Fprintf(&out, "\n[%s over %d MiB not searched: use sh]", plural(n, "file", "files"), maxSearched>>20)
	}
	if n := skipped[notText]; n > 0 {
		fmt.Fprintf(&out, "\n[%s not searched]", plural(n, "binary file", "binary files"))
	}
	all.sayNone(&out)
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

func writeFiles(out *strings.Builder, env *tools.Env, a findArgs, all []found) []view.Match {
	var shown []view.Match
	for _, f := range all {
		if f.lines == 0 {
			continue
		}
		if len(shown) == a.Limit {
			break
		}
		out.WriteString("\n" + display(env, f.rel))
		if a.Mode == "count" {
			fmt.Fprintf(out, ": %d", f.lines)
		}
		shown = append(shown, view.Match{Path: f.rel})
	}
	return shown
}
