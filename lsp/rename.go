package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"colony/tools"
)

// maxRenamed bounds the files that one rename changes.
const maxRenamed = 200

// rewrite is one file of a rename.
type rewrite struct {
	path          string
	before, after string
	edits         int
}

// renaming is what a rename of a worktree would do, as it was last shown.
type renaming struct {
	args  string
	files []rewrite
}

// current reports whether all files are as they were.
func (p renaming) current(root string) bool {
	return !slices.ContainsFunc(p.files, func(f rewrite) bool {
		now, _, ok := read(root, f.path)
		return !ok || now != f.before
	})
}

// plan is what a rename would change. While the files stay as they are it is the same one, so that what was shown and allowed is
// what is done.
func (s symbols) plan(env *tools.Env, raw json.RawMessage, a symbolsArgs) ([]rewrite, error) {
	key := env.Root + "\x00" + env.Ant
	s.all.mu.Lock()
	last, ok := s.all.renames[key]
	s.all.mu.Unlock()
	if ok && last.args == string(raw) && last.current(env.Root) {
		return last.files, nil
	}
	ctx, cancel := context.WithTimeout(s.all.ctx, askLimit)
	defer cancel()
	var files []rewrite
	err := s.at(ctx, env, a, func(q query) (err error) {
		files, err = q.rename(ctx, a.NewName)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	s.all.renames[key] = renaming{string(raw), files}
	return files, nil
}

// planned is the rename that Effects was asked about last; false where a file changed since.
func (s symbols) planned(env *tools.Env, raw json.RawMessage) ([]rewrite, bool) {
	key := env.Root + "\x00" + env.Ant
	s.all.mu.Lock()
	last, ok := s.all.renames[key]
	delete(s.all.renames, key)
	s.all.mu.Unlock()
	return last.files, ok && last.args == string(raw) && last.current(env.Root)
}

// rename asks the server for the edits of a rename.
func (q query) rename(ctx context.Context, word string) ([]rewrite, error) {
	r := q.root
	if !r.server.can.can["renameProvider"] {
		return nil, refuse(tools.Missing, "%s cannot rename: edit each place", r.server.kind.def.Name)
	}
	var said struct {
		Changes         map[uri.URI][]protocol.TextEdit
		DocumentChanges []struct {
			Kind         string
			TextDocument struct{ URI uri.URI }
			Edits        []protocol.TextEdit
		}
	}
	if err := r.server.ask(ctx, protocol.MethodTextDocumentRename, &protocol.RenameParams{TextDocumentPositionParams: q.params(), NewName: word}, &said); err != nil {
		return nil, err
	}
	all := map[string][]protocol.TextEdit{}
	for u, edits := range said.Changes {
		all[pathOf(u)] = append(all[pathOf(u)], edits...)
	}
	for _, c := range said.DocumentChanges {
		if c.Kind != "" {
			return nil, refuse(tools.Validation, "this rename would also %s a file, which symbols does not do: edit each place", clip(c.Kind, 20))
		}
		all[pathOf(c.TextDocument.URI)] = append(all[pathOf(c.TextDocument.URI)], c.Edits...)
	}
	return r.rewrites(all)
}

// rewrites are edits applied to the files that they are about, of which none is changed yet.
func (r *root) rewrites(all map[string][]protocol.TextEdit) ([]rewrite, error) {
	if len(all) == 0 {
		return nil, refuse(tools.Missing, "there is no name at that place that can be renamed")
	}
	if len(all) > maxRenamed {
		return nil, refuse(tools.Validation, "this would change %d files, at most %d", len(all), maxRenamed)
	}
	var out []rewrite
	for path, edits := range all {
		if _, in := within(r.dir, path); !in {
			return nil, refuse(tools.PermissionDenied, "this would change %s, which is not in your worktree", path)
		}
		text, _, ok := read(r.dir, path)
		if !ok {
			return nil, refuse(tools.Missing, "%s: the server would change it, and it cannot be read", name(r.dir, path))
		}
		if !utf8.ValidString(text) {
			return nil, refuse(tools.Validation, "%s is not UTF-8: edit each place", name(r.dir, path))
		}
		after, ok := apply(text, edits, r.server.can.enc)
		if !ok {
			return nil, refuse(tools.Validation, "%s: the server's edits overlap: edit each place", name(r.dir, path))
		}
		out = append(out, rewrite{path: path, before: text, after: after, edits: len(edits)})
	}
	slices.SortFunc(out, func(a, b rewrite) int { return strings.Compare(a.path, b.path) })
	return out, nil
}

// apply makes edits that do not overlap.
func apply(text string, edits []protocol.TextEdit, enc protocol.PositionEncodingKind) (string, bool) {
	type cut struct {
		from, to int
		text     string
	}
	var cuts []cut
	for _, e := range edits {
		from, to := span(text, e.Range, enc)
		cuts = append(cuts, cut{from, to, e.NewText})
	}
	slices.SortStableFunc(cuts, func(a, b cut) int { return a.from - b.from })
	var b strings.Builder
	at := 0
	for _, c := range cuts {
		if c.from < at || c.to < c.from {
			return "", false
		}
		b.WriteString(text[at:c.from])
		b.WriteString(c.text)
		at = c.to
	}
	b.WriteString(text[at:])
	return b.String(), true
}

// rename changes what was planned when its effects were judged, or nothing.
func (s symbols) rename(ctx context.Context, env *tools.Env, raw json.RawMessage, a symbolsArgs) (tools.Result, error) {
	files, ok := s.planned(env, raw)
	if !ok {
		if _, err := s.plan(env, raw, a); err != nil {
			return failure(ctx, a, err)
		}
		s.planned(env, raw)
		return tools.Refuse(tools.StaleRead, "files changed while this was looked at, so that nothing was renamed: call again"), nil
	}
	if r, err := s.each(ctx, env, files, true); err != nil || r.Fault != "" {
		return r, err
	}
	return s.each(ctx, env, files, false)
}

// Preview is what a rename would change.
func (s symbols) Preview(ctx context.Context, env *tools.Env, raw json.RawMessage) (tools.Result, error) {
	a, err := decodeSymbols(raw)
	if err != nil || a.Action != rename {
		return tools.Result{Text: "nothing would change"}, err
	}
	files, err := s.plan(env, raw, a)
	if err != nil {
		return failure(ctx, a, err)
	}
	return s.each(ctx, env, files, true)
}

// each rewrites the files one after the other, or says what that would come to.
func (s symbols) each(ctx context.Context, env *tools.Env, files []rewrite, dry bool) (tools.Result, error) {
	var all tools.Result
	var b strings.Builder
	edits := 0
	for _, f := range files {
		r, err := s.all.parts.Rewrite(ctx, env, f.path, []byte(f.before), []byte(f.after), dry)
		if err != nil || r.Fault != "" {
			if b.Len() > 0 && !dry {
				r.Text += "\nchanged before that:" + b.String()
				r.Views, r.Seen = append(all.Views, r.Views...), append(all.Seen, r.Seen...)
			}
			return r, err
		}
		all.Views, all.Seen = append(all.Views, r.Views...), append(all.Seen, r.Seen...)
		edits += f.edits
		fmt.Fprintf(&b, "\n%s: %s", name(env.Root, f.path), plural(f.edits, "place", "places"))
	}
	word := "renamed"
	if dry {
		word = "would rename"
	}
	all.Text = fmt.Sprintf("%s %s in %s:%s", word, plural(edits, "place", "places"), plural(len(files), "file", "files"), b.String())
	return all, nil
}
