package event

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"time"

	"modernc.org/sqlite"
)

// Reader reads a log that another process may be appending to. It is safe for concurrent use.
type Reader struct {
	file file
	copy string // a directory to remove at the end; empty where the log itself is read
}

// OpenReader opens the log in dir for reading, and changes nothing in it. It returns an error that is fs.ErrNotExist
// where there is none, a *FormatError where it is newer, and a *CorruptError where it is none, or had events and is
// empty. A log in a directory that cannot be written to and has no owner is read from a private copy.
func OpenReader(dir string) (*Reader, error) {
	if err := notEmptied(dir); err != nil {
		return nil, err
	}
	if _, err := os.Stat(dbPath(dir)); err != nil {
		return nil, fmt.Errorf("read log: %w", err)
	}
	r, err := readerAt(dir, dir)
	if !unwritable(err) {
		return r, err
	}
	copied, err := copyLog(dir)
	if err != nil {
		return nil, fmt.Errorf("read log %s: %w", dir, err)
	}
	if r, err = readerAt(copied, dir); err != nil {
		return nil, errors.Join(err, os.RemoveAll(copied))
	}
	r.copy = copied
	return r, nil
}

// unwritable reports whether SQLite needs a file beside the log that it cannot make.
func unwritable(err error) bool {
	var of *sqlite.Error
	return errors.As(err, &of) && (of.Code()&0xff == 14 || of.Code()&0xff == 8)
}

// copyLog copies what a log consists of to a directory of its own.
func copyLog(dir string) (string, error) {
	to, err := os.MkdirTemp("", "colony-log-")
	if err != nil {
		return "", err
	}
	if err := copyFiles(dir, to); err != nil {
		return "", errors.Join(err, os.RemoveAll(to))
	}
	return to, nil
}

// readerAt reads the database in place, which is the log in dir or a copy of it.
func readerAt(place, dir string) (*Reader, error) {
	db, err := connect(place, "&mode=ro")
	if err != nil {
		return nil, fmt.Errorf("read log %s: %w", dir, err)
	}
	db.SetMaxOpenConns(8)
	have, err := formatOf(context.Background(), db)
	switch {
	case err != nil:
		err = damage(dir, err)
	case have == 0 && readMark(dir).seq > 0:
		err = emptied(dir, readMark(dir))
	case have == 0:
		err = fmt.Errorf("read log %s: nothing is written yet: %w", dir, fs.ErrNotExist)
	case have > format:
		err = &FormatError{dir, have, format}
	}
	if err != nil {
		db.Close()
		return nil, err
	}
	return &Reader{file: file{db, dir}}, nil
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
func (r *Reader) Close() error {
	err := r.file.db.Close()
	if r.copy != "" {
		err = errors.Join(err, os.RemoveAll(r.copy))
	}
	return err
}

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
