package event

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"
	"sync"
	"time"
)

// ErrClosed is returned by an append to a log that was closed.
var ErrClosed = errors.New("log is closed")

// noteLag is how long what was noted may wait for a flush of its own.
const noteLag = 5 * time.Millisecond

// groupSize is how many appends may share a transaction.
const groupSize = 256

// Parts are what a Store is made of.
type Parts struct {
	Run string // stamped on events that name no run
	Now func() time.Time
	// Stuck is called before each further try while the disk takes nothing, and says whether there is to be one. Where
	// it is nil the log tries until it is closed.
	Stuck func(*StuckError) bool
}

// Store is a log in a file, held by the one process that appends to it.
type Store struct {
	file  file
	lock  *os.File
	queue chan appending
	stop  chan struct{} // closed by Close
	done  chan struct{} // closed when the writer has ended
	close sync.Once

	mu    sync.Mutex    // guards what follows
	grown chan struct{} // closed and replaced by each group
	tail  []record      // the last records, as they were flushed
	noted []draft       // what no flush has taken yet
	kick  chan struct{} // has room for one; tells the writer of what was noted
}

type appending struct {
	drafts []draft
	result chan appended // has room for the one answer
}

type appended struct {
	seq Seq
	err error
}

// Open creates the log in dir or goes on with it, and owns it until Close. It returns an *OwnedError where
// another process does, a *FormatError where a newer colony wrote it, and a *CorruptError where it is none.
func Open(ctx context.Context, dir string, p Parts) (*Store, error) {
	if p.Run == "" || p.Now == nil {
		return nil, errors.New("open log: it needs a run and a clock")
	}
	if err := makeDir(dir); err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	lock, err := own(dir, p.Now())
	if err != nil {
		return nil, err
	}
	s, err := open(ctx, dir, p, lock)
	if err != nil {
		lock.Close()
		return nil, fmt.Errorf("open log: %w", err)
	}
	return s, nil
}

func open(ctx context.Context, dir string, p Parts, lock *os.File) (*Store, error) {
	if err := sound(ctx, dir); err != nil {
		return nil, err
	}
	if err := create(dir); err != nil {
		return nil, err
	}
	db, err := connect(dir, "&_pragma=journal_mode(WAL)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	db.SetMaxIdleConns(4)
	db.SetMaxOpenConns(16)
	s := &Store{
		file: file{db, dir}, lock: lock, grown: make(chan struct{}),
		queue: make(chan appending), stop: make(chan struct{}), done: make(chan struct{}), kick: make(chan struct{}, 1),
	}
	c := &chain{run: p.Run, now: p.Now}
	w, err := s.writer(ctx, c)
	if err != nil {
		db.Close()
		return nil, err
	}
	w.stuck = p.Stuck
	go func() {
		defer close(s.done)
		w.run(s.queue, s.kick)
	}()
	return s, nil
}

// sound is an error where there is a log that is not to be written to: a newer one, or one that lost what it had. It is
// asked for before the file is opened for writing, which may change it.
func sound(ctx context.Context, dir string) error {
	r, err := OpenReader(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = r.file.end(ctx)
	return errors.Join(err, r.Close())
}

// writer prepares the file and takes up the chain where it ends.
func (s *Store) writer(ctx context.Context, c *chain) (*writer, error) {
	if err := prepare(ctx, s.file.db, s.file.dir); err != nil {
		return nil, err
	}
	end, err := s.file.last(ctx)
	if err != nil {
		return nil, err
	}
	c.seq, c.last = end.seq, end.sum
	conn, err := s.file.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	w := &writer{conn: conn, chain: c, grew: s.grew, noted: s.takeNoted, file: s.file, stop: s.stop}
	for _, p := range []struct {
		into *(*sql.Stmt)
		text string
	}{
		{&w.insert, insert},
		{&w.begin, "BEGIN IMMEDIATE"}, {&w.commit, "COMMIT"},
	} {
		if *p.into, err = conn.PrepareContext(ctx, p.text); err != nil {
			return nil, damage(s.file.dir, err)
		}
	}
	w.mark, err = os.OpenFile(markPath(s.file.dir), os.O_WRONLY|os.O_CREATE, 0o600)
	return w, err
}

// Append adds the events together, all or none, and returns the last one's place after they are durable.
// Once the writer has taken them it waits for the disk, whatever becomes of ctx: an error of ctx means that
// nothing was appended. A disk that is full or answers with errors is waited for as Parts.Stuck says; then the error is
// a *StuckError. Any error of the disk is what every later append returns too.
func (s *Store) Append(ctx context.Context, events ...Event) (Seq, error) {
	ds, err := drafts(events)
	if err != nil {
		return 0, err
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	a := appending{ds, make(chan appended, 1)}
	select {
	case s.queue <- a:
		r := <-a.result
		return r.seq, r.err
	case <-s.done:
		return 0, ErrClosed
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// Note adds the events to the next flush, which comes within noteLag at the latest. After an error of the disk the next
// Append returns it.
func (s *Store) Note(events ...Event) error {
	ds, err := drafts(events)
	if err != nil {
		return err
	}
	select {
	case <-s.done:
		return ErrClosed
	default:
	}
	s.mu.Lock()
	s.noted = append(s.noted, ds...)
	s.mu.Unlock()
	select {
	case s.kick <- struct{}{}:
	default: // the writer knows already
	}
	return nil
}

func (s *Store) takeNoted() []draft {
	s.mu.Lock()
	defer s.mu.Unlock()
	noted := s.noted
	s.noted = nil
	return noted
}

// Read yields what follows after, to the end as it is now.
func (s *Store) Read(ctx context.Context, after Seq) iter.Seq2[Event, error] {
	return read(ctx, owned{s.file, s}, after)
}

// Follow goes on with what is appended later, until ctx is done.
func (s *Store) Follow(ctx context.Context, after Seq) iter.Seq2[Event, error] {
	return follow(ctx, live{owned{s.file, s}}, after)
}

// Close ends the writer after what it has taken, and gives the log up. It may be called more than once.
func (s *Store) Close() error {
	var err error
	s.close.Do(func() {
		close(s.stop)
		<-s.done
		err = errors.Join(s.file.db.Close(), s.lock.Close())
	})
	return err
}

// tailSize is how many records a follower may be behind without reading the file.
const tailSize = 64

// grew takes what was flushed. A reader may hold a part of the old tail, so that is not written to.
func (s *Store) grew(records []record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tail = slices.Concat(s.tail, records)
	s.tail = s.tail[max(0, len(s.tail)-tailSize):]
	close(s.grown)
	s.grown = make(chan struct{})
}

func (s *Store) growth() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.grown
}

// owned is a file whose growth its own process tells.
type owned struct {
	file
	store *Store
}

func (o owned) watch(context.Context) (func(context.Context) error, func(), error) {
	grown := o.store.growth()
	wait := func(ctx context.Context) error {
		select {
		case <-grown:
			grown = o.store.growth()
			return nil
		case <-o.store.done:
			return ErrClosed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return wait, func() {}, nil
}

// live is an owned file whose last records need not be read again.
type live struct{ owned }

func (l live) fetch(ctx context.Context, from Seq) ([]record, error) {
	l.store.mu.Lock()
	tail := l.store.tail
	l.store.mu.Unlock()
	if len(tail) == 0 || from < tail[0].seq {
		return l.file.fetch(ctx, from)
	}
	return tail[min(int(from-tail[0].seq), len(tail)):], nil
}

var (
	_ Log = (*Store)(nil)
)
