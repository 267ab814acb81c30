package event

import (
	"context"
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
	if err := cut(ctx, dir, f.whole); err != nil {
		return Mended{}, fmt.Errorf("mend log: %w", err)
	}
	s, err := open(ctx, dir, p, lock)
	if err != nil {
		return Mended{}, fmt.Errorf("mend log: %w", err)
	}
	_, err = s.Append(ctx, Event{Body: Warned{
		Code: "log_mended",
		Text: fmt.Sprintf("the log had lost its end: %d after event %d, which is the last that was whole", m.Lost, m.Last),
		Next: "the files as they were are in " + m.Copy,
	}})
	return m, errors.Join(err, s.Close())
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

// cut removes what follows the last whole event, and then lets the head tell of it.
func cut(ctx context.Context, dir string, whole mark) error {
	if err := failpoint.Hit("event.mend.before"); err != nil {
		return err
	}
	db, err := connect(dir, "")
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "DELETE FROM events WHERE seq > ?", int64(whole.seq))
	if err := errors.Join(err, db.Close()); err != nil {
		return damage(dir, err)
	}
	if err := failpoint.Hit("event.mend.after"); err != nil {
		return err
	}
	f, err := os.OpenFile(markPath(dir), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(writeMark(f, whole), f.Sync(), f.Close())
}
