package lsp

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

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

// list are the files in a directory of the worktree that the server reads; none where the path leads out of it.
func (r *root) list(dir string) map[string]stamp {
	out := map[string]stamp{}
	rel, in := within(r.dir, dir)
	tree, err := os.OpenRoot(r.dir)
	if !in || err != nil {
		return out
	}
	defer tree.Close()
	f, err := tree.OpenFile(rel, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0) // it may have become anything
	if err != nil {
		return out
	}
	defer f.Close()
	names, _ := f.Readdirnames(maxEntries) // what cannot be read is not there
	for _, name := range names {
		if !r.server.kind.def.watches(name) {
			continue
		}
		if info, err := tree.Lstat(filepath.Join(rel, name)); err == nil && info.Mode().IsRegular() {
			out[name] = stampOf(info)
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
			if err := r.gone(ctx, path); err != nil {
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
		names, isDir := r.names[path]
		if isDir {
			r.compareNames(path, names, say, but)
			continue
		}
		now := stampAt(path)
		r.beside[path] = now
		switch {
		case now == was || slices.Contains(but, path) || r.docs[path] != nil:
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

// compareNames says which files came to a directory, which left it and which are others there now, but for open ones.
func (r *root) compareNames(dir string, before map[string]stamp, say func(string, protocol.FileChangeType), but []string) {
	now := r.list(dir)
	r.names[dir] = now
	for name, at := range now {
		path := filepath.Join(dir, name)
		was, known := before[name]
		switch {
		case r.docs[path] != nil || slices.Contains(but, path) || r.isBeside(path):
		case !known:
			say(path, protocol.FileChangeTypeCreated)
		case at != was:
			say(path, protocol.FileChangeTypeChanged)
		}
	}
	for name := range before {
		path := filepath.Join(dir, name)
		if _, still := now[name]; !still && r.docs[path] == nil && !slices.Contains(but, path) && !r.isBeside(path) {
			say(path, protocol.FileChangeTypeDeleted)
		}
	}
}

func (r *root) isBeside(path string) bool { _, ok := r.beside[path]; return ok }

// lookAt begins to look at the directories of files that a command is about to write, in servers that have the worktree open
// already.
func (s *Servers) lookAt(ctx context.Context, dir string, paths []string) {
	ctx, cancel := context.WithTimeout(ctx, briefly)
	defer cancel()
	for _, k := range s.kinds {
		for _, server := range k.running() {
			r := server.root(dir)
			if r == nil || !server.alive() {
				continue
			}
			done, err := r.take(ctx)
			if err != nil {
				continue
			}
			for _, path := range paths {
				if _, in := within(dir, path); in && k.def.watches(path) {
					r.watch(filepath.Dir(path))
				}
			}
			done()
		}
	}
}

// briefly is how long a command waits for a worktree that somebody asks about.
const briefly = 200 * time.Millisecond

// tell tells the server of files that changed on the disk.
func (r *root) tell(ctx context.Context, events []protocol.FileEvent) error {
	return r.server.notify(ctx, protocol.MethodWorkspaceDidChangeWatchedFiles, &protocol.DidChangeWatchedFilesParams{Changes: events})
}
