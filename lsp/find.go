package lsp

import (
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"colony/tools"
)

// maxWalked bounds the search for files that say which servers to ask.
const maxWalked = 3000

// only is the one declaration of a name in the worktree.
func (s symbols) only(ctx context.Context, env *tools.Env, a symbolsArgs) (spot, error) {
	found, err := s.find(ctx, env, a)
	if err != nil {
		return spot{}, err
	}
	exact := slices.DeleteFunc(slices.Clone(found), func(f spot) bool {
		_, word, _ := strings.Cut(f.what, " ")
		return word != a.Name && !strings.HasSuffix(word, "."+a.Name)
	})
	switch len(exact) {
	case 0:
		return spot{}, refuse(tools.Missing, "no declaration is named %s: look for it with find", a.Name)
	case 1:
		return exact[0], nil
	}
	return spot{}, refuse(tools.Validation, "%s is declared more than once: give path and line of the one you mean\n%s", a.Name, list(relative(env.Root, exact), "declaration"))
}

// find are the declarations whose name matches, of all servers that have something to read here.
func (s symbols) find(ctx context.Context, env *tools.Env, a symbolsArgs) ([]spot, error) {
	var all []spot
	var failed error
	samples := s.all.samples(env.Root)
	if path, err := a.file(env); err != nil {
		return nil, err
	} else if path != "" {
		samples = map[*kind]string{}
		for _, k := range s.all.kindsOf(path) {
			samples[k] = path
		}
	}
	if len(samples) == 0 {
		return nil, errNone
	}
	for _, k := range s.all.kinds {
		sample, ok := samples[k]
		if !ok || k.over() {
			continue
		}
		found, err := s.findIn(ctx, k, env.Root, sample, a.Name)
		if err != nil {
			failed = err
		}
		all = append(all, found...)
	}
	if len(all) > 0 {
		return all, nil
	}
	return nil, failed
}

// findIn asks one server. Some know only what belongs to an open file.
func (s symbols) findIn(ctx context.Context, k *kind, dir, sample, word string) ([]spot, error) {
	r, err := k.open(ctx, dir)
	if err != nil {
		return nil, err
	}
	done, err := r.take(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if _, err := r.notice(ctx); err != nil {
		return nil, err
	}
	if len(r.docs) == 0 {
		text, stamp, ok := read(dir, sample)
		if !ok {
			return nil, nil
		}
		if err := r.show(ctx, sample, text, stamp); err != nil {
			return nil, err
		}
		r.hearOut(ctx, sample)
	}
	if !r.server.can.can["workspaceSymbolProvider"] {
		return nil, nil
	}
	var said []struct {
		Name          string
		ContainerName string
		Kind          protocol.SymbolKind
		Location      struct {
			URI   uri.URI
			Range protocol.Range
		}
	}
	if err := r.server.ask(ctx, protocol.MethodWorkspaceSymbol, &protocol.WorkspaceSymbolParams{Query: word}, &said); err != nil {
		return nil, err
	}
	var found []spot
	for _, one := range said {
		path := pathOf(one.Location.URI)
		if _, in := within(dir, path); !in || !strings.Contains(strings.ToLower(one.Name), strings.ToLower(word)) {
			continue
		}
		found = append(found, spot{path: path, at: r.placeOf(path, one.Location.Range.Start), what: kindName(one.Kind) + " " + one.Name})
	}
	slices.SortStableFunc(found, func(a, b spot) int { return len(a.what) - len(b.what) }) // the nearest names first
	return found, nil
}

// samples are servers that have a file to read in a worktree, with one such file.
func (s *Servers) samples(dir string) map[*kind]string {
	out := map[*kind]string{}
	walked := 0
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error { //nolint:errcheck // what cannot be read is passed over
		if walked++; err != nil || walked > maxWalked || len(out) == len(s.kinds) {
			return fs.SkipAll
		}
		if base := d.Name(); d.IsDir() && path != dir && (strings.HasPrefix(base, ".") || base == "node_modules" || base == "vendor") {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() {
			return nil
		}
		for _, k := range s.kindsOf(path) {
			if _, ok := out[k]; !ok && !k.over() && !answeredFor(out, k) {
				out[k] = path
			}
		}
		return nil
	})
	return out
}

// answeredFor reports whether a better server of the same files is asked already.
func answeredFor(out map[*kind]string, k *kind) bool {
	for other := range out {
		if other != k {
			for end := range k.def.Files {
				if _, both := other.def.Files[end]; both {
					return true
				}
			}
		}
	}
	return false
}

// kindName is a word for what a declaration is.
func kindName(k protocol.SymbolKind) string {
	words := map[protocol.SymbolKind]string{2: "module", 3: "namespace", 4: "package", 5: "class", 6: "method", 7: "property", 8: "field", 9: "constructor",
		10: "enum", 11: "interface", 12: "function", 13: "variable", 14: "constant", 22: "member", 23: "struct", 25: "operator", 26: "type"}
	if word := words[k]; word != "" {
		return word
	}
	return "name"
}
