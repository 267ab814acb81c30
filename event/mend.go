package event

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"colony/failpoint"
)

// Mended is what was done to a log that had lost its end. The zero value is a log that has lost nothing.
type Mended struct {
	Copy string // the directory with the files as they were
	Last Seq    // the last event that is left
	Lost Seq    // how many are gone after it
}

// Mend lets a log that lost its end go on from its last whole event: one that is shorter than its head tells, or whose
// last event is damaged. It keeps a copy first, and the log says what was lost in a warned of its own. It returns an
// *OwnedError where a living process appends, a *FormatError where a newer colony wrote it, and the *CorruptError of a
// log that is damaged before its end, or of which nothing is left: those it does not change.
func Mend(ctx context.Context, dir string, p Parts) (Mended, error) {
	lock, err := own(dir, p.Now())
	if err != nil {
		return Mended{}, err
	}
	defer lock.Close()
	f, err := survey(ctx, dir)
	if err != nil || f.lost == 0 {
		return Mended{}, err
	}
	m := Mended{Copy: filepath.Join(dir, "damaged-"+p.Now().UTC().Format("20060102T150405Z")), Last: f.whole.seq, Lost: f.lost}
	if err := keep(dir, m.Copy); err != nil {
		return Mended{}, fmt.Errorf("mend log: keep a copy: %w", err)
	}
	says := Event{Body: Warned{
		Code: "log_mended",
		Text: fmt.Sprintf("the log had lost its end: %d after event %d, which is the last that was whole", m.Lost, m.Last),
		Next: "the files as they were are in " + m.Copy,
	}}
	c := &chain{run: p.Run, now: p.Now, seq: f.whole.seq, last: f.whole.sum}
	if err := cut(ctx, dir, c, says); err != nil {
		return Mended{}, fmt.Errorf("mend log: %w", err)
	}
	return m, nil
}

// findings are what is left of a log.
type findings struct {
	whole mark // the last event up to which all is as it was written
	lost  Seq  // how many there were after it
}

// survey reads a whole log. It is a *CorruptError where more is damaged than its end.
func survey(ctx context.Context, dir string) (f findings, err error) {
	r, err := OpenReader(dir)
	if err != nil {
		return f, err
	}
	defer r.Close()
	var damaged error
	v := verifier{log: dir}
	v.upTo(ctx, poller{r.file}, 0, func(_ Event, err error) bool {
		damaged = err
		return err == nil
	})
	var corrupt *CorruptError
	if damaged != nil && !errors.As(damaged, &corrupt) {
		return f, damaged
	}
	last, err := r.file.last(ctx)
	if err != nil && last.seq == 0 {
		return f, err
	}
	if err == nil && last.seq == v.after && damaged == nil {
		damaged = r.file.reachesMark(ctx)
	}
	end := max(last.seq, readMark(dir).seq)
	switch {
	case damaged == nil:
		return f, nil
	case v.after == 0 || last.seq > v.after+1:
		return f, damaged
	}
	return findings{mark{v.after, v.sum}, max(end-v.after, 1)}, nil
}

// keep copies what a log consists of to a new directory, durably.
func keep(dir, to string) error {
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	if err := copyFiles(dir, to); err != nil {
		return err
	}
	return errors.Join(syncDir(to), syncDir(dir))
}

// copyFiles copies the database, what is written ahead of it, and the head.
func copyFiles(from, to string) error {
	for _, path := range []string{dbPath(from), dbPath(from) + "-wal", markPath(from)} {
		in, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		out, err := os.OpenFile(filepath.Join(to, filepath.Base(path)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return errors.Join(err, in.Close())
		}
		_, err = io.Copy(out, in)
		if err := errors.Join(err, out.Sync(), out.Close(), in.Close()); err != nil {
			return err
		}
	}
	return nil
}

// cut replaces what follows the end of the chain with an event that says so, and then lets the head tell of it. Until
// then the log is one that lost its end.
func cut(ctx context.Context, dir string, c *chain, says Event) error {
	whole := c.seq
	ds, err := drafts([]Event{says})
	if err != nil {
		return err
	}
	r, err := c.add(ds[0])
	if err != nil {
		return err
	}
	if err := failpoint.Hit("event.mend.before"); err != nil {
		return err
	}
	db, err := connect(dir, "&_txlock=immediate")
	if err != nil {
		return err
	}
	err = replaceEnd(ctx, db, whole, r)
	if err := errors.Join(err, db.Close()); err != nil {
		return damage(dir, err)
	}
	if err := failpoint.Hit("event.mend.after"); err != nil {
		return err
	}
	return replaceMark(dir, mark{c.seq, c.last})
}

func replaceEnd(ctx context.Context, db *sql.DB, whole Seq, r record) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "DELETE FROM events WHERE seq > ?", int64(whole)); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, insert, int64(r.seq), r.head, r.fields, r.sum[:]); err != nil {
		return err
	}
	return tx.Commit()
}

// replaceMark makes another head, durably, in place of the one there is.
func replaceMark(dir string, m mark) error {
	next := markPath(dir) + ".new"
	f, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(writeMark(f, m), f.Sync(), f.Close()); err != nil {
		return err
	}
	return errors.Join(os.Rename(next, markPath(dir)), syncDir(dir))
}
