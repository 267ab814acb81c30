package lsp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"go.lsp.dev/protocol"
)

// Bounds of what a server is given.
const (
	maxDocs = 64      // files that are open at once, for each worktree
	maxSize = 4 << 20 // bytes of one file
)

// root is a worktree that is open in a server. What stands below turn is used by who holds it.
type root struct {
	server *server
	dir    string
	used   atomic.Int64 // when it was last asked about
	held   atomic.Int32 // rounds of edits that go on in it
	turn   chan struct{}

	closed bool
	docs   map[string]*doc
	order  []string                    // of docs, the one least recently used first
	beside map[string]stamp            // files that the server reads and that are not open, and directories of open ones
	names  map[string]map[string]stamp // of files, by directory in beside
	needs  map[string]map[string]bool  // files that use what another one declares, as far as was seen
	opened bool                        // something was opened since the server was last heard out
}

// doc is an open file as the server knows it.
type doc struct {
	path    string
	text    string
	version int32
	stamp   stamp
}

// stamp is by what a change of a file is noticed.
type stamp struct {
	there       bool
	regular     bool
	size, nanos int64
	inode       uint64
}

func newRoot(s *server, dir string) *root {
	r := &root{server: s, dir: dir, turn: make(chan struct{}, 1), docs: map[string]*doc{}, beside: map[string]stamp{},
		names: map[string]map[string]stamp{}, needs: map[string]map[string]bool{}, opened: true}
	r.touch()
	return r
}

func (r *root) touch() { r.used.Store(r.server.kind.all.parts.Now().UnixNano()) }

func (r *root) name() string { return filepath.Base(r.dir) }

func (r *root) folder() protocol.WorkspaceFolder {
	return protocol.WorkspaceFolder{URI: uriOf(r.dir), Name: r.name()}
}

// take waits for the worktree's turn.
func (r *root) take(ctx context.Context) (done func(), err error) {
	select {
	case r.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if r.closed {
		<-r.turn
		return nil, errGone
	}
	r.touch()
	r.server.touch()
	return func() { <-r.turn }, nil
}

// close closes the worktree in its server.
func (r *root) close(ctx context.Context) error {
	done, err := r.take(ctx)
	if errors.Is(err, errGone) {
		return nil
	}
	if err != nil {
		return err
	}
	defer done()
	for path := range r.docs {
		if err := r.shut(ctx, path); err != nil {
			return err
		}
	}
	r.closed = true
	s := r.server
	s.mu.Lock()
	delete(s.roots, r.dir)
	for path := range s.pushed {
		if _, in := within(r.dir, path); in {
			delete(s.pushed, path)
		}
	}
	s.mu.Unlock()
	return s.changeFolders(ctx, nil, r)
}

// changeFolders tells the server of worktrees that come or go, where it listens.
func (s *server) changeFolders(ctx context.Context, added, removed *root) error {
	if !s.can.folders {
		return nil
	}
	event := protocol.WorkspaceFoldersChangeEvent{Added: []protocol.WorkspaceFolder{}, Removed: []protocol.WorkspaceFolder{}}
	if added != nil {
		event.Added = append(event.Added, added.folder())
	}
	if removed != nil {
		event.Removed = append(event.Removed, removed.folder())
	}
	return s.notify(ctx, "workspace/didChangeWorkspaceFolders", &protocol.DidChangeWorkspaceFoldersParams{Event: event})
}

// read is a file of the worktree as it is on the disk, by no link out of it; false where there is none that a server reads.
func read(dir, path string) (text string, at stamp, ok bool) {
	rel, in := within(dir, path)
	tree, err := os.OpenRoot(dir)
	if !in || err != nil {
		return "", stamp{}, false
	}
	defer tree.Close()
	f, err := tree.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return "", stamp{}, false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSize {
		return "", stamp{}, false
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil || len(data) > maxSize {
		return "", stamp{}, false
	}
	return string(data), stampOf(info), true
}

func stampOf(info fs.FileInfo) stamp {
	at := stamp{there: true, regular: info.Mode().IsRegular(), size: info.Size(), nanos: info.ModTime().UnixNano()}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		at.inode = sys.Ino
	}
	return at
}

func stampAt(path string) stamp {
	info, err := os.Lstat(path)
	if err != nil {
		return stamp{}
	}
	return stampOf(info)
}

// show lets the server know a file's text: opens it, or changes it where it is open with another.
func (r *root) show(ctx context.Context, path, text string, at stamp) error {
	id, _ := r.server.kind.def.language(path)
	text = strings.ToValidUTF8(text, "\uFFFD")
	d := r.docs[path]
	r.order = append(slices.DeleteFunc(r.order, func(one string) bool { return one == path }), path)
	switch {
	case d == nil:
		if err := r.makeRoom(ctx); err != nil {
			return err
		}
		d = &doc{path: path, text: text, version: 1, stamp: at}
		r.docs[path], r.opened = d, true
		r.watch(filepath.Dir(path))
		return r.server.notify(ctx, protocol.MethodTextDocumentDidOpen, &protocol.DidOpenTextDocumentParams{
			TextDocument: protocol.TextDocumentItem{URI: uriOf(path), LanguageID: protocol.LanguageKind(id), Version: 1, Text: text},
		})
	case d.text == text:
		d.stamp = at
		return nil
	}
	d.text, d.stamp, d.version = text, at, d.version+1
	err := r.server.notify(ctx, protocol.MethodTextDocumentDidChange, &protocol.DidChangeTextDocumentParams{
		TextDocument:   protocol.VersionedTextDocumentIdentifier{TextDocumentIdentifier: protocol.TextDocumentIdentifier{URI: uriOf(path)}, Version: d.version},
		ContentChanges: []protocol.TextDocumentContentChangeEvent{&protocol.TextDocumentContentChangeWholeDocument{Text: text}},
	})
	if err != nil || !r.server.can.save {
		return err
	}
	return r.server.notify(ctx, protocol.MethodTextDocumentDidSave, &protocol.DidSaveTextDocumentParams{TextDocument: protocol.TextDocumentIdentifier{URI: uriOf(path)}})
}

// makeRoom closes files that were not used for long.
func (r *root) makeRoom(ctx context.Context) error {
	for len(r.docs) >= maxDocs {
		at := slices.IndexFunc(r.order, func(path string) bool { return r.docs[path] != nil })
		if at < 0 {
			return nil
		}
		if err := r.shut(ctx, r.order[at]); err != nil {
			return err
		}
	}
	return nil
}

// gone closes a file that is not there any more, and forgets what was wrong with it.
func (r *root) gone(ctx context.Context, path string) error {
	s := r.server
	s.mu.Lock()
	delete(s.pushed, path)
	s.mu.Unlock()
	return r.shut(ctx, path)
}

// shut closes a file.
func (r *root) shut(ctx context.Context, path string) error {
	if r.docs[path] == nil {
		return nil
	}
	delete(r.docs, path)
	r.order = slices.DeleteFunc(r.order, func(one string) bool { return one == path })
	err := r.server.notify(ctx, protocol.MethodTextDocumentDidClose, &protocol.DidCloseTextDocumentParams{TextDocument: protocol.TextDocumentIdentifier{URI: uriOf(path)}})
	if err != nil {
		return fmt.Errorf("close %s: %w", path, err)
	}
	return nil
}
