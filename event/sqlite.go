package event

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
)

// format is the version of the file; a file with a higher one is refused.
const format = 1

// pollEvery is how often a reader in another process looks whether the log has grown.
const pollEvery = 5 * time.Millisecond

const schema = `CREATE TABLE events (seq INTEGER PRIMARY KEY, head BLOB NOT NULL, fields BLOB NOT NULL, sum BLOB NOT NULL)`

const insert = `INSERT INTO events (seq, head, fields, sum) VALUES (?, ?, ?, ?)`

// FormatError is a log that a newer colony wrote.
type FormatError struct {
	Log        string
	Have, Know int
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("log %s has format %d, this colony knows %d: use a newer colony", e.Log, e.Have, e.Know)
}

func dbPath(dir string) string { return filepath.Join(dir, "events.db") }

// connect opens the database for writing or, with query_only, for reading.
func connect(dir, more string) (*sql.DB, error) {
	path, err := filepath.Abs(dbPath(dir))
	if err != nil {
		return nil, err
	}
	name := "file:" + (&url.URL{Path: path}).EscapedPath() +
		"?_pragma=busy_timeout(5000)&_pragma=synchronous(FULL)&_pragma=trusted_schema(0)" + more
	return sql.Open("sqlite", name)
}

// makeDir makes a log's directory where there is none, and its name is on the disk too.
func makeDir(dir string) error {
	if err := os.Mkdir(dir, 0o700); err == nil {
		return syncDir(filepath.Dir(dir))
	}
	return os.MkdirAll(dir, 0o700)
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// create makes an empty file that only its owner may read, where there is none.
func create(dir string) error {
	f, err := os.OpenFile(dbPath(dir), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// prepare checks the format and, in a new file, makes the table.
func prepare(ctx context.Context, db *sql.DB, dir string) error {
	have, err := formatOf(ctx, db)
	if err != nil || have == format {
		return damage(dir, err)
	}
	if have > format {
		return &FormatError{dir, have, format}
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, schema+fmt.Sprintf("; PRAGMA user_version = %d", format)); err != nil {
		return damage(dir, err)
	}
	return tx.Commit()
}

func formatOf(ctx context.Context, db *sql.DB) (have int, err error) {
	err = db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have)
	return have, err
}

// damage names an error of the file itself.
func damage(dir string, err error) error {
	var e *sqlite.Error
	if errors.As(err, &e) {
		switch e.Code() & 0xff {
		case 1, 11, 26: // no such table, malformed, not a database
			return &CorruptError{Log: dir, What: e.Error(), Err: err}
		}
	}
	return err
}

// file is the records of a database.
type file struct {
	db  *sql.DB
	dir string
}

func (f file) name() string { return f.dir }

// end is the place of the last record, in a log that is as long as it ever was.
func (f file) end(ctx context.Context) (end Seq, err error) {
	if err := f.reachesMark(ctx); err != nil {
		return 0, err
	}
	err = f.db.QueryRowContext(ctx, "SELECT coalesce(max(seq), 0) FROM events").Scan(&end)
	return end, damage(f.dir, err)
}

func (f file) fetch(ctx context.Context, from Seq) ([]record, error) {
	rows, err := f.db.QueryContext(ctx, "SELECT seq, head, fields, sum FROM events WHERE seq >= ? ORDER BY seq LIMIT ?", from, pageSize)
	if err != nil {
		return nil, damage(f.dir, err)
	}
	defer rows.Close()
	var page []record
	for rows.Next() {
		var r record
		var sum []byte
		if err := rows.Scan(&r.seq, &r.head, &r.fields, &sum); err != nil {
			return nil, &CorruptError{Log: f.dir, Seq: from + Seq(len(page)), What: err.Error(), Err: err}
		}
		if len(sum) == len(r.sum) {
			r.sum = [sha256.Size]byte(sum)
		}
		page = append(page, r)
	}
	return page, damage(f.dir, rows.Err())
}
