package event

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"

	"colony/failpoint"
)

// mark is the last record of a log as a second file beside it tells. It is written after each flush and not
// flushed itself, so it may be behind the log and is never ahead of it.
type mark struct {
	seq Seq
	sum [sha256.Size]byte
}

// line is a mark as the head file has it: the last number is a check of the rest, so that a head that was torn itself is
// not taken for a log that lost its end.
func (m mark) line() []byte {
	text := fmt.Appendf(nil, "%020d %064x", m.seq, m.sum)
	return fmt.Appendf(text, " %08x\n", crc32.ChecksumIEEE(text))
}

func markPath(dir string) string { return filepath.Join(dir, "head") }

// writeMark replaces what f says.
func writeMark(f *os.File, m mark) error {
	if err := failpoint.Hit("event.head.before"); err != nil {
		return err
	}
	if _, err := f.WriteAt(m.line(), 0); err != nil {
		return err
	}
	return failpoint.Hit("event.head.after")
}

// oldLine is how long a head was before it had a check.
const oldLine = 86

// readMark is the mark of the log in dir: the zero mark where there is none that can be read.
func readMark(dir string) (m mark) {
	data, err := os.ReadFile(markPath(dir))
	if err != nil {
		return mark{}
	}
	var sum []byte
	if n, err := fmt.Sscanf(string(data), "%d %x", &m.seq, &sum); n != 2 || err != nil || len(sum) != sha256.Size {
		return mark{}
	}
	m.sum = [sha256.Size]byte(sum)
	if len(data) > oldLine && !bytes.Equal(data, m.line()) {
		return mark{}
	}
	return m
}

// notEmptied is a *CorruptError where the file of a log that had events is gone or has no bytes. It opens nothing:
// SQLite would remove what is beside an empty file.
func notEmptied(dir string) error {
	m := readMark(dir)
	if m.seq == 0 {
		return nil
	}
	info, err := os.Stat(dbPath(dir))
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return emptied(dir, m)
	}
	return nil
}

func emptied(dir string, m mark) error {
	return &CorruptError{Log: dir, Seq: m.seq, What: "the log had this event, and now is empty"}
}

// reachesMark is a *CorruptError where the log is not what its mark says it was. A mark that changes while
// it is looked at is looked at again.
func (f file) reachesMark(ctx context.Context) error {
	for m := readMark(f.dir); m.seq > 0; {
		var sum []byte
		err := f.db.QueryRowContext(ctx, "SELECT sum FROM events WHERE seq = ?", int64(m.seq)).Scan(&sum)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return damage(f.dir, err)
		}
		if bytes.Equal(sum, m.sum[:]) {
			return nil
		}
		again := readMark(f.dir)
		if again == m {
			return &CorruptError{Log: f.dir, Seq: m.seq, What: "the log had this event, and now has none or another"}
		}
		m = again
	}
	return nil
}
