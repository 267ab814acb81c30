package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// quiet is how long a server that says nothing of its work may be silent before it counts as having said all.
const quiet = 60 * time.Millisecond

// maxAgain is how often a request is repeated that a server gave up since something changed.
const maxAgain = 3

// pullsAs reports whether the server is asked for diagnostics, and by which name.
func (s *server) pullsAs() (id string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pullsOn {
		return s.pulls, true
	}
	return s.can.pullID, s.can.pull
}

// pulled asks for the problems of an open file, and keeps them as if they had been pushed.
func (r *root) pulled(ctx context.Context, path string) error {
	id, _ := r.server.pullsAs()
	params := &protocol.DocumentDiagnosticParams{TextDocument: protocol.TextDocumentIdentifier{URI: uriOf(path)}}
	if id != "" {
		params.Identifier = &id
	}
	for again := 0; ; again++ {
		var said struct {
			Kind  string
			Items []json.RawMessage
		}
		err := r.server.ask(ctx, protocol.MethodTextDocumentDiagnostic, params, &said)
		var refused *jsonrpc2.Error
		if errors.As(err, &refused) && again < maxAgain && ctx.Err() == nil {
			continue // the server gave it up: something it needs had changed
		}
		if err != nil {
			return err
		}
		if said.Kind != "unchanged" {
			r.server.keep(path, push{version: r.docs[path].version, numbered: true, problems: problems(said.Items), more: max(0, len(said.Items)-maxProblems)})
		}
		return nil
	}
}

// mark is how many pushes there were.
func (s *server) mark() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// hear waits until the server has said what it has to say of these open files as they are now, and of what depends on them.
func (r *root) hear(ctx context.Context, since int, paths ...string) error {
	for again := 0; ; again++ {
		refreshed := r.server.refreshes()
		for _, path := range paths {
			if r.docs[path] == nil {
				continue
			}
			if err := r.saidOf(ctx, since, path); err != nil {
				return err
			}
		}
		if err := r.server.settle(ctx); err != nil {
			return err
		}
		if again == maxAgain || r.server.refreshes() == refreshed {
			r.opened = false
			return nil
		}
	}
}

// hearOut gives a server to which something was opened the time that an edit gives it: some answer a question from what they have
// read so far. One that says nothing is asked all the same.
func (r *root) hearOut(ctx context.Context, path string) {
	if !r.opened {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, r.server.kind.all.parts.Wait)
	defer cancel()
	r.hear(ctx, 0, path) //nolint:errcheck // see above
	r.opened = true      // whoever edits next wants to hear it too
}

func (s *server) refreshes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refreshed
}

// settle waits until the server says that it works on nothing. One that says nothing of its work, and is not asked, has said
// all when it is silent.
func (s *server) settle(ctx context.Context) error {
	if err := s.until(ctx, func() bool { return len(s.working) == 0 }); err != nil {
		return err
	}
	_, pulls := s.pullsAs()
	for at := -1; !pulls && at != s.mark(); {
		at = s.mark()
		select {
		case <-s.kind.all.parts.After(quiet):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// saidOf waits for what the server says of an open file as it is now: asked where it can be asked, which a server may offer
// late, else unasked, of this version, or where the server names none, the first after a mark.
func (r *root) saidOf(ctx context.Context, since int, path string) error {
	d, s := r.docs[path], r.server
	err := s.until(ctx, func() bool {
		p, ok := s.pushed[path]
		return s.pullsOn || s.can.pull || ok && (p.numbered && p.version >= d.version || !p.numbered && p.at > since)
	})
	if _, pulls := s.pullsAs(); err != nil || !pulls {
		return err
	}
	return r.pulled(ctx, path)
}

// state is what is known of all files of the worktree, by path: of open ones, as they are now.
func (r *root) state() map[string]push {
	out := map[string]push{}
	s := r.server
	s.mu.Lock()
	defer s.mu.Unlock()
	for path, p := range s.pushed {
		if _, in := within(r.dir, path); !in {
			continue
		}
		if d := r.docs[path]; d == nil || !p.numbered || p.version >= d.version {
			out[path] = p
		}
	}
	return out
}
