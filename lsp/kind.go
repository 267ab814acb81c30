package lsp

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// How often a server may fail before it is not started any more.
const (
	maxStarts = 2 // starts that came to nothing, one after the other
	maxDeaths = 3 // ends that nobody wanted
	maxLate   = 8 // answers that did not come in time, one after the other, before it is ended
)

// kind is a known server with all of it that runs.
type kind struct {
	all  *Servers
	def  Server
	turn chan struct{} // held by who starts a server, or opens or closes a worktree

	mu      sync.Mutex // guards what follows
	servers []*server
	failed  int // starts that came to nothing, since one came to something
	died    int
	said    bool            // that it is over
	warmed  map[string]bool // worktrees that were opened before their first edit
	late    int             // how often it did not answer in time, one after the other
}

func newKind(all *Servers, def Server) *kind {
	return &kind{all: all, def: def, turn: make(chan struct{}, 1)}
}

// over reports whether the server is not started any more.
func (k *kind) over() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.failed >= maxStarts || k.died >= maxDeaths
}

// open is a worktree, opened in one of the servers that run, or in one that is started for it.
func (k *kind) open(ctx context.Context, dir string) (*root, error) {
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for !k.over() {
		s, err := k.choose(ctx, dir)
		if err != nil {
			return nil, err
		}
		select {
		case <-s.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if !s.alive() {
			k.bury()
			continue
		}
		return k.enter(ctx, s, dir)
	}
	return nil, errGone
}

// choose is the server that has a worktree or takes it; a new one is starting where none does.
func (k *kind) choose(ctx context.Context, dir string) (*server, error) {
	k.bury()
	running := k.running()
	for _, s := range running {
		if s.root(dir) != nil {
			return s, nil
		}
	}
	for _, s := range running {
		select {
		case <-s.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if s.alive() && s.can.folders {
			return s, nil
		}
	}
	if len(running) >= k.all.parts.Roots {
		if err := k.spare(ctx, running); err != nil {
			return nil, err
		}
	}
	life, stop := context.WithCancel(k.all.ctx)
	s := newServer(k, stop)
	k.mu.Lock()
	k.servers = append(k.servers, s)
	k.mu.Unlock()
	k.all.tasks.Go(func() { s.live(life, dir) })
	return s, nil
}

// spare ends the server whose worktree was least recently asked about.
func (k *kind) spare(ctx context.Context, running []*server) error {
	oldest := slices.MinFunc(running, func(a, b *server) int { return cmp.Compare(a.used.Load(), b.used.Load()) })
	k.retire(oldest)
	oldest.stop()
	select {
	case <-oldest.gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// enter opens a worktree in a server that runs, and closes the one there that was least recently asked about where there
// are too many.
func (k *kind) enter(ctx context.Context, s *server, dir string) (*root, error) {
	if r := s.root(dir); r != nil {
		r.touch()
		return r, nil
	}
	for open := s.open(); len(open) >= k.all.parts.Roots; open = s.open() {
		oldest := slices.MinFunc(open, func(a, b *root) int {
			return cmp.Or(cmp.Compare(min(1, a.held.Load()), min(1, b.held.Load())), cmp.Compare(a.used.Load(), b.used.Load()))
		})
		if err := oldest.close(ctx); err != nil {
			return nil, err
		}
	}
	r := newRoot(s, dir)
	s.mu.Lock()
	s.roots[dir] = r
	s.mu.Unlock()
	return r, s.changeFolders(ctx, r, nil)
}

// leave closes a worktree in all servers. One that cannot close it in time is ended; one that is starting keeps it.
func (k *kind) leave(dir string) {
	k.mu.Lock()
	delete(k.warmed, dir)
	k.mu.Unlock()
	ctx, cancel := context.WithTimeout(k.all.ctx, time.Second)
	defer cancel()
	for _, s := range k.running() {
		r := s.root(dir)
		if r == nil {
			continue
		}
		if !s.alive() {
			continue
		}
		if err := r.close(ctx); err != nil || !s.can.folders {
			k.retire(s)
			s.stop()
		}
	}
}

func (k *kind) running() []*server {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.servers)
}

// retire forgets a server that is ended because it is to be.
func (k *kind) retire(s *server) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.servers = slices.DeleteFunc(k.servers, func(one *server) bool { return one == s })
}

// bury forgets and counts the servers that ended by themselves.
func (k *kind) bury() {
	for _, s := range k.running() {
		select {
		case <-s.ready:
		default:
			continue // it is starting
		}
		if s.alive() {
			continue
		}
		k.retire(s)
		s.mu.Lock()
		begun := s.begun
		s.mu.Unlock()
		k.mu.Lock()
		if begun {
			k.died, k.failed = k.died+1, 0
		} else {
			k.failed++
		}
		k.mu.Unlock()
	}
}

// reserve reports whether a worktree may be opened before its first edit: once, and where no other has to be closed for it.
func (k *kind) reserve(dir string) bool {
	open := 0
	for _, s := range k.running() {
		open += len(s.open())
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.warmed[dir] || open >= k.all.parts.Roots || k.failed > 0 || k.died > 0 {
		return false
	}
	if k.warmed == nil {
		k.warmed = map[string]bool{}
	}
	k.warmed[dir] = true
	return true
}

// sayOnce is true once.
func (k *kind) sayOnce() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	first := !k.said
	k.said = true
	return first
}

// patience is how long an edit waits for the server. One that was late again and again, as while it reads a large repository,
// is mostly waited for only shortly.
func (k *kind) patience() time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.late >= 2 && k.late%4 != 0 {
		return k.all.parts.Wait / 10
	}
	return k.all.parts.Wait
}

// answered notes whether the server answered in time.
func (k *kind) answered(inTime bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.late++
	if inTime {
		k.late = 0
	}
	if k.late < maxLate {
		return
	}
	k.late = 0
	for _, s := range k.servers {
		s.stop() // it counts as one that ended
	}
}
