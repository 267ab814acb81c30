package event

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"syscall"
	"time"

	"modernc.org/sqlite"
)

// retryEvery is how long the writer waits for a disk that takes nothing before it tries again.
const retryEvery = 100 * time.Millisecond

// StuckError is a disk that takes nothing of a log for now: it is full, or it answers with errors. What was to be
// appended is not in the log.
type StuckError struct {
	Log   string
	Since time.Time
	Err   error
}

func (e *StuckError) Error() string { return fmt.Sprintf("log %s cannot be written: %v", e.Log, e.Err) }

func (e *StuckError) Unwrap() error { return e.Err }

// Full reports whether the disk has no room, and not some other trouble.
func (e *StuckError) Full() bool {
	var of *sqlite.Error
	if errors.As(e.Err, &of) {
		return of.Code()&0xff == 13
	}
	return errors.Is(e.Err, syscall.ENOSPC) || errors.Is(e.Err, syscall.EDQUOT)
}

// passes reports whether an error of a write may be gone when it is tried again. All others mean that the file is not
// what it should be.
func passes(err error) bool {
	var of *sqlite.Error
	if errors.As(err, &of) {
		switch of.Code() & 0xff {
		case 5, 8, 10, 13, 14: // busy, read-only, i/o, full, cannot open
			return true
		}
		return false
	}
	for _, e := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO, syscall.EROFS} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// land appends what was noted and then the group, and waits for a disk that takes nothing. When that is over the log
// says so itself: a run.paused comes before what had to wait.
func (w *writer) land(group []appending, ends []Seq) error {
	before, noted := *w.chain, w.noted()
	records, err := w.seal(noted, group, ends)
	if err != nil || len(records) == 0 {
		return err
	}
	since := before.now()
	for err = w.write(records); err != nil && passes(err); {
		stuck := &StuckError{w.file.dir, since, err}
		if !w.again(stuck) {
			return stuck
		}
		var written bool
		switch written, err = w.settle(before); {
		case err != nil:
		case written:
			err = w.tell()
		default:
			*w.chain = before
			var paused []draft
			if paused, err = drafts([]Event{stuck.paused(before.now())}); err != nil {
				return err
			}
			if records, err = w.seal(append(paused, noted...), group, ends); err != nil {
				return err
			}
			err = w.write(records)
		}
	}
	if err == nil {
		w.grew(records)
	}
	return err
}

// again waits for a while, and reports whether to try again.
func (w *writer) again(stuck *StuckError) bool {
	if w.stuck != nil && !w.stuck(stuck) {
		return false
	}
	select {
	case <-time.After(retryEvery):
		return true
	case <-w.stop:
		return false
	}
}

// settle takes back what a write left half done and reports whether the file holds it all the same: a flush may have
// come to the disk and its answer not. The file's end is asked for on another connection, which sees what is committed.
func (w *writer) settle(before chain) (written bool, err error) {
	ctx := context.Background()
	if _, err := w.conn.ExecContext(ctx, "ROLLBACK"); err != nil && passes(err) {
		return false, err
	} // any other error says that nothing was left
	end, err := w.file.last(ctx)
	switch {
	case err != nil:
		return false, err
	case end == mark{before.seq, before.last}:
		return false, nil
	case end == mark{w.chain.seq, w.chain.last}:
		return true, nil
	}
	return false, &CorruptError{Log: w.file.dir, Seq: end.seq, What: "after an error of the disk the log ends with an event that was not to be its last"}
}

// paused is what the log says of the pause when it is over.
func (e *StuckError) paused(now time.Time) Event {
	return Event{Body: RunPaused{Why: fmt.Sprintf("the log could not be written for %s: %v", now.Sub(e.Since).Round(time.Millisecond), e.Err)}}
}

// last is the mark of the last record in the file: the zero mark where there is none. Where its checksum is none it has
// its place beside the error.
func (f file) last(ctx context.Context) (m mark, err error) {
	var sum []byte
	err = f.db.QueryRowContext(ctx, "SELECT seq, sum FROM events ORDER BY seq DESC LIMIT 1").Scan(&m.seq, &sum)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return mark{}, nil
	case err != nil:
		return mark{}, damage(f.dir, err)
	case len(sum) != sha256.Size:
		return m, &CorruptError{Log: f.dir, Seq: m.seq, What: "its checksum has another length"}
	}
	m.sum = [sha256.Size]byte(sum)
	return m, nil
}
