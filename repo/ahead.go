package repo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"colony/failpoint"
)

// spareMark begins the names of worktrees that nobody has yet; no ant's begins so. One that is found later is nobody's.
const spareMark = "@"

// spare is a worktree that is made before anybody asks for it. No ant and no gate has ever run in it.
type spare struct {
	made chan struct{} // closed when tree says what came of it
	tree *Tree         // nil where it could not be made
}

// pool is the run's spares.
type pool struct {
	mu       sync.Mutex         // guards what follows
	all      []*spare           // also one that is being made
	near     string             // the commit that was asked for last
	count    int                // names that were given
	most     int                // spares at once
	fixed    bool               // a spare serves only at its own commit
	released []*Tree            // to be let go
	changed  chan struct{}      // has one where there may be something to do
	stop     context.CancelFunc // ends Ahead; nil where nobody fills the pool
	filler   chan struct{}      // closed when Ahead has ended
}

// Ahead keeps up to so many worktrees ready for Worktree and Checkout, and lets those go that were released, in moments in
// which no git of the run is at work, until ctx ends. The first are made of the commit, later ones of what was asked for
// last. What keeps one from being made ends it: whoever needs that worktree finds it again, and says so.
func (r *Repo) Ahead(ctx context.Context, commit string, most int) {
	p := &r.pool
	p.mu.Lock()
	if p.stop != nil || checkID(commit) != nil {
		p.mu.Unlock()
		return
	}
	filler := make(chan struct{})
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	p.stop, p.filler, p.near, p.most = stop, filler, commit, most
	p.mu.Unlock()
	defer p.left(filler)
	for ctx.Err() == nil {
		released, lacks := p.next()
		switch {
		case released == nil && !lacks:
			select {
			case <-p.changed:
			case <-ctx.Done():
			}
		case !r.own.traffic.quiet(ctx):
		case released != nil:
			if released.Remove(ctx) != nil {
				continue // it stays, and is looked at again at the end of the run
			}
		case !r.makeSpare(ctx):
			return
		}
	}
}

// next is a worktree to let go, or says whether a spare is missing.
func (p *pool) next() (released *Tree, lacks bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.released) > 0 {
		released, p.released = p.released[0], p.released[1:]
	}
	return released, len(p.all) < p.most
}

// Release lets the worktree go in a quiet moment, as Remove does. Nothing runs in it any more.
func (t *Tree) Release() {
	p := &t.repo.pool
	p.mu.Lock()
	p.released = append(p.released, t)
	p.mu.Unlock()
	p.change()
}

// change wakes Ahead.
func (p *pool) change() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// left says that nobody fills the pool any more.
func (p *pool) left(filler chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stop = nil
	close(filler)
}

func (r *Repo) makeSpare(ctx context.Context) bool {
	s, p := &spare{made: make(chan struct{})}, &r.pool
	p.mu.Lock()
	p.all = append(p.all, s)
	commit := p.near
	p.mu.Unlock()
	defer close(s.made)
	t := r.nameless(commit)
	t.git.traffic = newTraffic() // it does not wait for itself
	if t.make(ctx) != nil {
		p.drop(s)
		return false
	}
	s.tree = t
	return true
}

// nameless is where a worktree is made before it gets its place, so that one with a name is always whole.
func (r *Repo) nameless(commit string) *Tree {
	r.pool.mu.Lock()
	defer r.pool.mu.Unlock()
	for {
		r.pool.count++
		name := spareMark + strconv.Itoa(r.pool.count)
		t := r.tree(name, r.Place(name), r.run+"."+name, commit)
		if !there(t.GitDir) && !there(t.Dir) {
			return t
		}
	}
}

func (p *pool) drop(s *spare) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = slices.DeleteFunc(p.all, func(x *spare) bool { return x == s })
}

// take hands a spare out: one of the commit, else the newest that is ready, else the one in the making.
func (p *pool) take(commit string) *spare {
	p.mu.Lock()
	defer p.mu.Unlock()
	best, rank := -1, 0
	for i, s := range p.all {
		now := 1
		select {
		case <-s.made:
			if now = 2; s.tree != nil && s.tree.Base == commit {
				now = 3
			}
		default:
		}
		if now >= rank && (now == 3 || !p.fixed) {
			best, rank = i, now
		}
	}
	p.near = commit
	if best < 0 {
		return nil
	}
	s := p.all[best]
	p.all = slices.Delete(p.all, best, best+1)
	p.change()
	return s
}

// fix says that spares serve only at their own commit from now on.
func (p *pool) fix() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fixed = true
}

// watch notices changes after which a worktree that is moved to another commit differs from one that is made there.
func (r *Repo) watch(files []string) {
	if slices.ContainsFunc(files, func(f string) bool { return f == ".gitattributes" || strings.HasSuffix(f, "/.gitattributes") }) {
		r.pool.fix()
	}
}

// spared is a spare at the commit; nil where there is none.
func (r *Repo) spared(ctx context.Context, commit string) (*Tree, error) {
	s := r.pool.take(commit)
	if s == nil {
		return nil, nil
	}
	<-s.made // Ahead ends with its own context
	if s.tree == nil {
		return nil, nil
	}
	t := s.tree
	t.git.traffic = r.own.traffic
	if err := t.shift(ctx, commit); err != nil {
		return nil, errors.Join(ctx.Err(), t.erase()) // what is wrong with the commit is found again by who makes it
	}
	return t, nil
}

// shift moves a worktree that nobody has touched to another commit: git writes only what differs.
func (t *Tree) shift(ctx context.Context, commit string) error {
	if t.Base == commit {
		return nil
	}
	if _, err := t.git.run(ctx, nil, "read-tree", "-m", "-u", commit); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(t.GitDir, "HEAD"), []byte(commit+"\n"), 0o600); err != nil {
		return err
	}
	t.Base, t.head = commit, commit
	return nil
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// become moves a worktree to the place of another, which is new, with all that it holds. The last step makes it whole.
func (t *Tree) become(to *Tree) error {
	for _, path := range []string{to.GitDir, to.Dir} {
		if there(path) {
			return fmt.Errorf("%s exists already", path)
		}
	}
	to.brought = t.brought
	if err := errors.Join(t.linkTo(to), os.MkdirAll(filepath.Dir(to.Dir), 0o700)); err != nil {
		return err
	}
	if err := failpoint.Hit("repo.rename.before"); err != nil {
		return err
	}
	if err := os.Rename(t.GitDir, to.GitDir); err != nil {
		return err
	}
	err := failpoint.Hit("repo.rename.half")
	if err == nil {
		err = os.Rename(t.Dir, to.Dir)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(to.GitDir))
	}
	return failpoint.Hit("repo.rename.after")
}

// linkTo lets a worktree and what git knows of it name each other where they are going to be.
func (t *Tree) linkTo(to *Tree) error {
	return errors.Join(
		os.WriteFile(filepath.Join(t.GitDir, "gitdir"), []byte(filepath.Join(to.Dir, ".git")+"\n"), 0o600),
		os.WriteFile(filepath.Join(t.Dir, ".git"), []byte("gitdir: "+to.GitDir+"\n"), 0o600))
}

// dropSpares ends Ahead and erases those that nobody took.
func (r *Repo) dropSpares() error {
	p := &r.pool
	p.mu.Lock()
	stop, filler := p.stop, p.filler
	p.mu.Unlock()
	if stop != nil {
		stop()
		<-filler
	}
	p.mu.Lock()
	all := p.all
	p.all = nil
	p.mu.Unlock()
	var errs []error
	for _, s := range all {
		if s.tree != nil {
			errs = append(errs, s.tree.erase())
		}
	}
	return errors.Join(errs...)
}
