package event

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"time"
)

// Reader reads a log that another process may be appending to. It is safe for concurrent use.
type Reader struct{ file file }

// OpenReader opens the log in dir for reading. It returns an error that is fs.ErrNotExist where there is
// none, a *FormatError where it is newer, and a *CorruptError where it is none.
func OpenReader(dir string) (*Reader, error) {
	if _, err := os.Stat(dbPath(dir)); err != nil {
		return nil, fmt.Errorf("read log: %w", err)
	}
	db, err := connect(dir, "&mode=ro")
	if err != nil {
		return nil, fmt.Errorf("read log %s: %w", dir, err)
	}
	db.SetMaxOpenConns(8)
	have, err := formatOf(context.Background(), db)
	switch {
	case err != nil:
		err = damage(dir, err)
	case have == 0:
		err = fmt.Errorf("read log %s: nothing is written yet: %w", dir, fs.ErrNotExist)
	case have > format:
		err = &FormatError{dir, have, format}
	}
	if err != nil {
		db.Close()
		return nil, err
	}
	return &Reader{file{db, dir}}, nil
}

// Read yields what follows after, to the end as it is now.
func (r *Reader) Read(ctx context.Context, after Seq) iter.Seq2[Event, error] {
	return read(ctx, poller{r.file}, after)
}

// Follow goes on with what is appended later, until ctx is done.
func (r *Reader) Follow(ctx context.Context, after Seq) iter.Seq2[Event, error] {
	return follow(ctx, poller{r.file}, after)
}

// Close frees the reader. What reads or follows still ends with an error.
func (r *Reader) Close() error { return r.file.db.Close() }

// poller is a file whose growth is seen by looking.
type poller struct{ file }

func (p poller) watch(ctx context.Context) (func(context.Context) error, func(), error) {
	conn, err := p.db.Conn(ctx)
	if err != nil {
		return nil, nil, err
	}
	version := func() (v int64, err error) {
		err = conn.QueryRowContext(ctx, "PRAGMA data_version").Scan(&v)
		return v, damage(p.dir, err)
	}
	last, err := version()
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	tick := time.NewTicker(pollEvery)
	wait := func(ctx context.Context) error {
		for {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-tick.C:
			}
			v, err := version()
			if err != nil {
				return err
			}
			if v != last {
				last = v
				return nil
			}
		}
	}
	return wait, func() { tick.Stop(); conn.Close() }, nil
}
