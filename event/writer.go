package event

import (
	"context"
	"database/sql"
	"fmt"
	"os"
)

// writer is the one goroutine that appends to a file. What waits while it flushes shares the next
// transaction and its flush.
type writer struct {
	conn   *sql.Conn
	insert *sql.Stmt // closed with conn: one left open would keep the file from being tidied up
	mark   *os.File
	chain  *chain
	grew   func()
	broken error // a flush that failed: what the disk holds is not known any more
}

func (w *writer) run(queue <-chan appending, stop <-chan struct{}) {
	defer w.conn.Close()
	defer w.insert.Close()
	defer w.mark.Close()
	for {
		select {
		case first := <-queue:
			w.group(gather(first, queue))
		case <-stop:
			return
		}
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

// group appends all in one transaction and answers each.
func (w *writer) group(group []appending) {
	ends := make([]Seq, len(group))
	if w.broken == nil {
		w.broken = w.write(group, ends)
	}
	if w.broken == nil {
		w.grew()
	}
	for i, a := range group {
		a.result <- appended{ends[i], w.broken}
	}
}

// write is one transaction. On an error every end is 0.
func (w *writer) write(group []appending, ends []Seq) error {
	ctx := context.Background()
	tx, err := w.conn.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("append to log: %w", err)
	}
	defer tx.Rollback()
	insert := tx.StmtContext(ctx, w.insert)
	for i, a := range group {
		for _, d := range a.drafts {
			r, err := w.chain.add(d)
			if err == nil {
				_, err = insert.ExecContext(ctx, int64(r.seq), r.head, r.fields, r.sum[:])
			}
			if err != nil {
				clear(ends)
				return fmt.Errorf("append to log: %w", err)
			}
		}
		ends[i] = w.chain.seq
	}
	err = tx.Commit()
	if err == nil {
		err = writeMark(w.mark, mark{w.chain.seq, w.chain.last})
	}
	if err != nil {
		clear(ends)
		return fmt.Errorf("append to log: %w", err)
	}
	return nil
}
