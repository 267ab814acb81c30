package event

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"time"

	"colony/failpoint"
)

// writer is the one goroutine that appends to a file. What waits while it flushes shares the next
// transaction and its flush.
type writer struct {
	conn   *sql.Conn
	insert *sql.Stmt // closed with conn, as begin and commit: one left open would keep the file from being tidied up
	begin  *sql.Stmt
	commit *sql.Stmt
	mark   *os.File
	chain  *chain
	grew   func([]record)
	noted  func() []draft // what was noted since the last flush
	broken error          // what ended it: the file is not what it should be, or nobody waits for the disk any more
	file   file
	stuck  func(*StuckError) bool // whether to try again; nil says yes
	stop   <-chan struct{}
}

func (w *writer) run(queue <-chan appending, kick <-chan struct{}) {
	defer w.conn.Close()
	defer w.commit.Close()
	defer w.begin.Close()
	defer w.insert.Close()
	defer w.mark.Close()
	var late <-chan time.Time // when what was noted waits no longer
	for {
		select {
		case first := <-queue:
			w.group(gather(first, queue))
		case <-kick:
			if late == nil {
				late = time.After(noteLag)
			}
			continue
		case <-late:
			w.group(nil)
		case <-w.stop:
			w.group(nil)
			return
		}
		late = nil
	}
}

// gather takes what waits, without waiting.
func gather(first appending, queue <-chan appending) []appending {
	group := []appending{first}
	for len(group) < groupSize {
		select {
		case next := <-queue:
			group = append(group, next)
		default:
			return group
		}
	}
	return group
}

// group appends what was noted and then all of the group in one transaction, and answers each.
func (w *writer) group(group []appending) {
	ends := make([]Seq, len(group))
	if w.broken == nil {
		if err := w.land(group, ends); err != nil {
			clear(ends)
			w.broken = fmt.Errorf("append to log: %w", err)
		}
	}
	for i, a := range group {
		a.result <- appended{ends[i], w.broken}
	}
}

// seal makes the records of what was noted and of a group, and tells where each of its appends ends.
func (w *writer) seal(noted []draft, group []appending, ends []Seq) (records []record, err error) {
	for _, d := range noted {
		r, err := w.chain.add(d)
		if err != nil {
			return nil, err
		}
		records = append(records, r)
	}
	for i, a := range group {
		for _, d := range a.drafts {
			r, err := w.chain.add(d)
			if err != nil {
				return nil, err
			}
			records = append(records, r)
		}
		ends[i] = w.chain.seq
	}
	return records, nil
}

// write is one transaction and one flush. A single record is a transaction by itself.
func (w *writer) write(records []record) error {
	ctx := context.Background()
	if err := failpoint.Hit("event.append.before"); err != nil {
		return err
	}
	grouped := len(records) != 1
	if grouped {
		if _, err := w.begin.ExecContext(ctx); err != nil {
			return err
		}
	}
	for _, r := range records {
		if _, err := w.insert.ExecContext(ctx, int64(r.seq), r.head, r.fields, r.sum[:]); err != nil {
			return err
		}
	}
	if err := failpoint.Hit("event.flush.before"); err != nil {
		return err
	}
	if grouped {
		if _, err := w.commit.ExecContext(ctx); err != nil {
			return err
		}
	}
	if err := failpoint.Hit("event.flush.after"); err != nil {
		return err
	}
	return w.tell()
}

// tell writes down in the head file how far the log reaches.
func (w *writer) tell() error {
	if err := writeMark(w.mark, mark{w.chain.seq, w.chain.last}); err != nil {
		return err
	}
	return failpoint.Hit("event.answer.before")
}
