package builtin

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sourcegraph/conc/pool"
	"golang.org/x/sys/unix"
)

const (
	maxDepth  = 128       // directories below each other that a walk enters
	maxIgnore = 1 << 20   // bytes of an ignore file
	maxWalk   = 2_000_000 // names that a walk takes
	walkChunk = 128       // files of one directory that are looked at in one go
	walkWidth = 16        // workers of a walk: they wait for the disk more than they compute
)

var errTooMany = errors.New("too many files: narrow path")

// walker looks at the files below a directory, many at a time. It follows no link, never enters .git, and honours every
// ignore file from the root of the worktree down.
type walker struct {
	root   string
	hidden bool
	want   func(rel string) bool
	look   func(h *hand, dir int, f *found) bool // is called from several goroutines; false leaves the file out

	queue   *queue
	seen    atomic.Int64
	leftOut atomic.Int64 // names that are hidden or ignored
}

// found is a file below the root.
type found struct {
	rel    string
	link   bool
	time   int64  // of the last change, in nanoseconds
	lines  int    // that match
	reason string // why it was not searched
}

// hand is what one worker of a walk has to itself.
type hand struct {
	ctx   context.Context
	buf   []byte
	files []found
}

// walk returns the files below the place that are wanted, newest first. The rules of the directories above it hold too.
func (w *walker) walk(ctx context.Context, p place) ([]found, error) {
	var above []rules
	at := ""
	for _, name := range strings.Split(p.rel, "/") {
		if name == "." {
			break
		}
		above = append(above, rulesIn(w.root, at)...)
		at = path.Join(at, name)
	}
	w.queue = newQueue(errand{rel: at, rules: above})
	hands := make([]hand, walkWidth)
	workers := pool.New().WithMaxGoroutines(len(hands))
	for i := range hands {
		hands[i].ctx = ctx
		workers.Go(func() { w.work(&hands[i]) })
	}
	workers.Wait()
	var out []found
	for _, h := range hands {
		out = append(out, h.files...)
	}
	slices.SortFunc(out, newestFirst)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case w.seen.Load() > maxWalk:
		return nil, errTooMany
	}
	return out, nil
}

func newestFirst(a, b found) int {
	switch {
	case a.time > b.time:
		return -1
	case a.time < b.time:
		return 1
	}
	return strings.Compare(a.rel, b.rel)
}

func (w *walker) work(h *hand) {
	for {
		e, ok := w.queue.take()
		if !ok {
			return
		}
		func() {
			defer w.queue.done()
			if e.dir != nil {
				defer e.dir.release()
			}
			switch {
			case h.ctx.Err() != nil || w.seen.Load() > maxWalk:
			case e.dir != nil:
				w.lookAt(h, e.dir, e.files)
			default:
				w.enter(h, e)
			}
		}()
	}
}

// enter lists a directory, gives its directories to whoever is free, and looks at its files. What is gone or unreadable
// meanwhile is left out.
func (w *walker) enter(h *hand, e errand) {
	dir, err := openDir(w.root, path.Clean(e.rel), false)
	if err != nil {
		return
	}
	shared := &sharedDir{file: dir}
	shared.holders.Store(1)
	defer shared.release()
	entries, err := dir.ReadDir(-1)
	if err != nil || w.seen.Add(int64(len(entries))) > maxWalk {
		return
	}
	all := e.rules
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return slices.Contains(ignoreFiles, e.Name()) }) {
		all = append(slices.Clip(all), readRules(dir, e.rel)...)
	}
	var files []found
	for _, one := range entries {
		rel := one.Name()
		if e.rel != "" {
			rel = e.rel + "/" + rel
		}
		switch {
		case strings.EqualFold(one.Name(), ".git"):
		case one.Name()[0] == '.' && !w.hidden || ignored(all, rel, one.IsDir()):
			w.leftOut.Add(1)
		case one.IsDir() && e.depth < maxDepth:
			w.queue.put(errand{rel: rel, rules: all, depth: e.depth + 1})
		case one.Type().IsRegular() || one.Type()&fs.ModeSymlink != 0:
			if w.want(rel) {
				files = append(files, found{rel: rel, link: !one.Type().IsRegular()})
			}
		}
	}
	for len(files) > walkChunk {
		shared.holders.Add(1)
		w.queue.put(errand{dir: shared, files: files[:walkChunk:walkChunk]})
		files = files[walkChunk:]
	}
	w.lookAt(h, shared, files)
}

func (w *walker) lookAt(h *hand, dir *sharedDir, files []found) {
	fd := int(dir.file.Fd())
	for i := range files {
		if h.ctx.Err() != nil {
			return
		}
		if w.look(h, fd, &files[i]) {
			h.files = append(h.files, files[i])
		}
	}
}

// dated notes when a file last changed. It is false of one that is gone.
func dated(_ *hand, dir int, f *found) bool {
	var st unix.Stat_t
	if err := unix.Fstatat(dir, path.Base(f.rel), &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return false
	}
	f.time = st.Mtim.Nano()
	return true
}

func rulesIn(root, rel string) []rules {
	dir, err := openDir(root, path.Clean(rel), false)
	if err != nil {
		return nil
	}
	defer dir.Close()
	return readRules(dir, rel)
}

// readRules is empty where there is no readable ignore file; a link is not followed.
func readRules(dir *os.File, rel string) (all []rules) {
	for _, name := range ignoreFiles {
		f, info, err := statOf(openAt(dir, name, plainly, 0))
		if err != nil {
			continue
		}
		if data, err := load(f, info, maxIgnore); err == nil {
			all = append(all, parseRules(rel, data))
		}
		f.Close()
	}
	return all
}

// errand is a directory to list, or some files of one that is open.
type errand struct {
	rel   string
	rules []rules
	depth int

	dir   *sharedDir
	files []found
}

// sharedDir is an open directory that closes when nobody holds it.
type sharedDir struct {
	file    *os.File
	holders atomic.Int32
}

func (d *sharedDir) release() {
	if d.holders.Add(-1) == 0 {
		d.file.Close()
	}
}

// queue is the errands that wait. The last one put is the first one taken, which keeps few directories open.
type queue struct {
	mu      sync.Mutex
	changed *sync.Cond
	waiting []errand // guarded by mu
	open    int      // guarded by mu: errands that are not done
}

func newQueue(first errand) *queue {
	q := &queue{waiting: []errand{first}, open: 1}
	q.changed = sync.NewCond(&q.mu)
	return q
}

func (q *queue) put(e errand) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, e)
	q.open++
	q.changed.Signal()
}

// take waits for an errand. It is false when all are done.
func (q *queue) take() (errand, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.waiting) == 0 && q.open > 0 {
		q.changed.Wait()
	}
	if q.open == 0 {
		return errand{}, false
	}
	last := len(q.waiting) - 1
	e := q.waiting[last]
	q.waiting = q.waiting[:last]
	return e, true
}

func (q *queue) done() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.open--; q.open == 0 {
		q.changed.Broadcast()
	}
}
