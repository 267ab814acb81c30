// Package lsp speaks with language servers: it tells an ant, in the result of its own edit, what the edit broke, and answers
// the symbols tool. One server serves all worktrees of a colony that it can; what a server says is never trusted, and no
// wait for one is longer than its bound.
package lsp

import (
	"context"
	"errors"
	"io"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/sourcegraph/conc"

	"colony/tools"
)

// Start starts the command of a server for a worktree and returns its standard input and output. Close ends all of its
// processes and returns when they have ended; then Read returns io.EOF.
type Start func(ctx context.Context, argv []string, root string) (io.ReadWriteCloser, error)

// Rewrite puts a new content in the place of one that a file still has, in the way of an edit, and says what changed. Dry only
// says it.
type Rewrite func(ctx context.Context, env *tools.Env, path string, before, after []byte, dry bool) (tools.Result, error)

// Parts is what Servers are made of.
type Parts struct {
	Start   Start
	Rewrite Rewrite
	Known   []Server      // of two for one file the earlier is asked, unless it cannot be started
	Wait    time.Duration // the most that servers may delay the result of an edit
	Idle    time.Duration // after which a server that nobody asks is ended
	Roots   int           // worktrees that are open at once, for each server
	Now     func() time.Time
	After   func(time.Duration) <-chan time.Time
	Log     func(format string, args ...any) // for the operator
}

// Servers are the language servers of a colony. They are safe for concurrent use.
type Servers struct {
	parts Parts
	kinds []*kind
	ctx   context.Context
	end   context.CancelFunc
	tasks conc.WaitGroup // starts, and the lives of servers

	mu      sync.Mutex          // guards renames
	renames map[string]renaming // by worktree and ant: what was last shown
}

// New starts nothing: a server is started when it is first needed.
func New(p Parts) *Servers {
	s := &Servers{parts: p, renames: map[string]renaming{}}
	s.ctx, s.end = context.WithCancel(context.Background())
	for _, known := range p.Known {
		s.kinds = append(s.kinds, newKind(s, known))
	}
	return s
}

// Close ends all servers. Nobody may ask them afterwards.
func (s *Servers) Close() {
	s.end()
	s.tasks.Wait()
}

// Leave closes a worktree in every server that has it open.
func (s *Servers) Leave(root string) {
	s.mu.Lock()
	maps.DeleteFunc(s.renames, func(key string, _ renaming) bool { return strings.HasPrefix(key, root+"\x00") })
	s.mu.Unlock()
	for _, k := range s.kinds {
		k.leave(root)
	}
}

// kindsOf are the kinds of servers that know a file, best first.
func (s *Servers) kindsOf(path string) []*kind {
	var all []*kind
	for _, k := range s.kinds {
		if _, ok := k.def.language(path); ok {
			all = append(all, k)
		}
	}
	return all
}

var (
	errNone = errors.New("no language server is known for this file")
	errGone = errors.New("the language server is not there")
)

// severities are the words of LSP's numbers.
var severities = [...]string{1: "error", 2: "warning", 3: "info", 4: "hint"}

// problem is one diagnostic, in the positions of the document that it was made for. Line and column count from 0, the column
// in units of the server's encoding.
type problem struct {
	line, column, severity int
	text                   string
}

// same is what two diagnostics share that are about one thing.
type same struct {
	severity int
	text     string
}

func (p problem) same() same { return same{p.severity, p.text} }
