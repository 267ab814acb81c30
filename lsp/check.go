package lsp

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"colony/view"
)

// maxChecked bounds the files of one server that a check asks about, one by one.
const maxChecked = 2000

// Checked is what servers say of a whole tree.
type Checked struct {
	Errors  []view.Problem // by file and line
	Servers []string       // that were asked
	Left    int            // files that were too many
}

// Check asks every server that reads a file of a tree for the errors in all of it. An error is that of a server that did not
// answer.
func (s *Servers) Check(ctx context.Context, dir string) (Checked, error) {
	var out Checked
	files := s.files(dir)
	for _, k := range s.kinds {
		if len(files[k]) == 0 {
			continue
		}
		found, err := k.check(ctx, dir, files[k][:min(len(files[k]), maxChecked)])
		if err != nil {
			return out, fmt.Errorf("%s: %w", k.def.Name, err)
		}
		if !k.def.Tells { // others speak of all files
			out.Left += max(0, len(files[k])-maxChecked)
		}
		out.Servers = append(out.Servers, k.def.Name)
		out.Errors = append(out.Errors, found...)
	}
	return out, nil
}

// files are those of a tree, for each the best server that can be started.
func (s *Servers) files(dir string) map[*kind][]string {
	out := map[*kind][]string{}
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error { //nolint:errcheck // what cannot be read is passed over
		if err != nil {
			return nil
		}
		if base := d.Name(); d.IsDir() && path != dir && (strings.HasPrefix(base, ".") || base == "node_modules" || base == "vendor") {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() {
			return nil
		}
		for _, k := range s.kindsOf(path) {
			if !k.over() {
				out[k] = append(out[k], path)
				break
			}
		}
		return nil
	})
	return out
}

// check asks one server.
func (k *kind) check(ctx context.Context, dir string, files []string) ([]view.Problem, error) {
	r, err := k.open(ctx, dir)
	if err != nil {
		return nil, err
	}
	done, err := r.take(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if k.def.Tells {
		files = files[:1] // it speaks of all
	}
	all := map[string][]view.Problem{}
	for _, path := range files {
		text, at, ok := read(dir, path)
		if !ok {
			continue
		}
		since := r.server.mark()
		if err := r.show(ctx, path, text, at); err != nil {
			return nil, err
		}
		if err := r.hear(ctx, since, path); err != nil {
			return nil, err
		}
		if !k.def.Tells {
			all[path] = r.errors(path, r.state()[path].problems)
		}
	}
	if k.def.Tells {
		for path, p := range r.state() {
			all[path] = r.errors(path, p.problems)
		}
	}
	var out []view.Problem
	for _, found := range all {
		out = append(out, found...)
	}
	slices.SortFunc(out, func(a, b view.Problem) int {
		if d := strings.Compare(a.Path, b.Path); d != 0 {
			return d
		}
		return a.Line - b.Line
	})
	return out, nil
}

// errors are the errors among the problems of a file.
func (r *root) errors(path string, problems []problem) []view.Problem {
	var out []view.Problem
	for _, p := range atMost(problems, 1) {
		at := placeIn(r.linesOf(path), p.line, p.column, r.server.can.enc)
		out = append(out, view.Problem{Path: name(r.dir, path), Line: at.line, Column: at.column, Severity: severities[1], Text: clip(oneLine(p.text), maxSaid)})
	}
	return out
}
