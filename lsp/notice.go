package lsp

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"go.lsp.dev/protocol"
)

// Bounds of what is looked at beside open files.
const (
	maxBeside  = 500  // directories and files
	maxEntries = 2000 // names in one directory
)

// watch begins to look at a directory of an open file, and at the files there that the server reads too.
func (r *root) watch(dir string) {
	if _, ok := r.beside[dir]; ok || len(r.beside) >= maxBeside {
		return
	}
	r.beside[dir], r.names[dir] = stampAt(dir), r.list(dir)
	for _, at := range []string{dir, r.dir} {
		for _, name := range r.server.kind.def.Watch {
			path := filepath.Join(at, name)
			if _, ok := r.beside[path]; !ok {
				r.beside[path] = stampAt(path)
			}
		}
	}
}

// list are the names in a directory that the server reads.
func (r *root) list(dir string) map[string]struct{} {
	out := map[string]struct{}{}
	f, err := os.Open(dir)
	if err != nil {
		return out
	}
	defer f.Close()
	entries, _ := f.ReadDir(maxEntries) // what cannot be read is not there
	for _, e := range entries {
		if e.Type().IsRegular() && r.server.kind.def.watches(e.Name()) {
			out[e.Name()] = struct{}{}
		}
	}
	return out
}

// notice tells the server what changed on the disk behind its back: open files, those that it reads beside them, and files
// that came to or left the directories of open ones. It reports whether anything did.
func (r *root) notice(ctx context.Context, but ...string) (bool, error) {
	var events []protocol.FileEvent
	say := func(path string, how protocol.FileChangeType) {
		events = append(events, protocol.FileEvent{URI: uriOf(path), Type: how})
	}
	for path, d := range r.docs {
		now := stampAt(path)
		if now == d.stamp || slices.Contains(but, path) {
			continue
		}
		text, at, ok := read(r.dir, path)
		if !ok {
			say(path, protocol.FileChangeTypeDeleted)
			if err := r.shut(ctx, path); err != nil {
				return false, err
			}
			continue
		}
		if text != d.text {
			say(path, protocol.FileChangeTypeChanged)
		}
		if err := r.show(ctx, path, text, at); err != nil {
			return false, err
		}
	}
	for path, was := range r.beside {
		now := stampAt(path)
		if now == was {
			continue
		}
		r.beside[path] = now
		names, isDir := r.names[path]
		switch {
		case isDir:
			r.compareNames(path, names, now.there, say)
		case slices.Contains(but, path):
		case !was.there:
			say(path, protocol.FileChangeTypeCreated)
		case !now.there:
			say(path, protocol.FileChangeTypeDeleted)
		default:
			say(path, protocol.FileChangeTypeChanged)
		}
	}
	if len(events) == 0 {
		return false, nil
	}
	r.opened = true
	return true, r.tell(ctx, events)
}

// compareNames says which files came to a directory and which left it.
func (r *root) compareNames(dir string, before map[string]struct{}, there bool, say func(string, protocol.FileChangeType)) {
	now := map[string]struct{}{}
	if there {
		now = r.list(dir)
	}
	r.names[dir] = now
	for name := range now {
		if path := filepath.Join(dir, name); !has(before, name) && r.docs[path] == nil {
			say(path, protocol.FileChangeTypeCreated)
		}
	}
	for name := range before {
		if path := filepath.Join(dir, name); !has(now, name) && r.docs[path] == nil {
			say(path, protocol.FileChangeTypeDeleted)
		}
	}
}

func has(set map[string]struct{}, name string) bool { _, ok := set[name]; return ok }

// tell tells the server of files that changed on the disk.
func (r *root) tell(ctx context.Context, events []protocol.FileEvent) error {
	return r.server.notify(ctx, protocol.MethodWorkspaceDidChangeWatchedFiles, &protocol.DidChangeWatchedFilesParams{Changes: events})
}
