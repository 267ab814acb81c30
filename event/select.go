package event

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"iter"

	"github.com/sourcegraph/conc"
)

const (
	chunkSize = 4096 // records that one goroutine reads at once
	chunks    = 4    // that are read side by side
)

// Select yields the events of some types that follow after, up to the end as it is now, without the content of replies. All
// records are verified, also those of other types; several are read at once.
func (r *Reader) Select(ctx context.Context, after Seq, types ...string) iter.Seq2[Event, error] {
	want := map[string]bool{}
	for _, t := range types {
		want[t] = true
	}
	return func(yield func(Event, error) bool) {
		end, err := r.file.end(ctx)
		if err != nil {
			yield(Event{}, err)
			return
		}
		next := r.wave(ctx, after, end, want)
		for len(next) > 0 {
			now := next
			after += chunks * chunkSize
			var reading conc.WaitGroup
			reading.Go(func() { next = r.wave(ctx, after, end, want) })
			more := say(now, yield)
			reading.Wait()
			if !more {
				return
			}
		}
	}
}

// chunk is what was read of a part of a log, and what was found wrong after it.
type chunk struct {
	events []Event
	err    error
}

func say(read []chunk, yield func(Event, error) bool) bool {
	for _, c := range read {
		for _, e := range c.events {
			if !yield(e, nil) {
				return false
			}
		}
		if c.err != nil {
			yield(Event{}, c.err)
			return false
		}
	}
	return true
}

// wave reads the next chunks side by side; none where the log has ended.
func (r *Reader) wave(ctx context.Context, after, end Seq, want map[string]bool) []chunk {
	var read [chunks]chunk
	var reading conc.WaitGroup
	n := 0
	for ; n < chunks && after+Seq(n)*chunkSize < end; n++ {
		i, from := n, after+Seq(n)*chunkSize
		reading.Go(func() { read[i] = r.chunk(ctx, from, min(from+chunkSize, end), want) })
	}
	reading.Wait()
	return read[:n]
}

func (r *Reader) chunk(ctx context.Context, after, end Seq, want map[string]bool) (c chunk) {
	v := verifier{log: r.file.name(), after: after, want: want}
	c.events = make([]Event, 0, end-after)
	c.err = r.file.each(ctx, v.from(), end, func(one record) error {
		e, ok, err := v.next(one)
		if err == nil && ok {
			c.events = append(c.events, e)
		}
		return err
	})
	if c.err == nil && v.after < end {
		c.err = v.corrupt(v.after+1, "it is missing")
	}
	return c
}

// each hands the records from one place to another over, in order. What they hold is not theirs to keep.
func (f file) each(ctx context.Context, from, to Seq, take func(record) error) error {
	rows, err := f.db.QueryContext(ctx, "SELECT seq, head, fields, sum FROM events WHERE seq BETWEEN ? AND ? ORDER BY seq", from, to)
	if err != nil {
		return damage(f.dir, err)
	}
	defer rows.Close()
	for at := from; rows.Next(); at++ {
		var r record
		var head, fields, sum sql.RawBytes
		if err := rows.Scan(&r.seq, &head, &fields, &sum); err != nil {
			return &CorruptError{Log: f.dir, Seq: at, What: err.Error(), Err: err}
		}
		r.head, r.fields = head, fields
		if len(sum) == len(r.sum) {
			r.sum = [sha256.Size]byte(sum)
		}
		if err := take(r); err != nil {
			return err
		}
	}
	return damage(f.dir, rows.Err())
}

// Sum is the checksum of the record at a place, and so of the log up to it; empty where there is none.
func (r *Reader) Sum(ctx context.Context, at Seq) (string, error) {
	page, err := r.file.fetch(ctx, at)
	if err != nil || len(page) == 0 || page[0].seq != at {
		return "", err
	}
	return hex.EncodeToString(page[0].sum[:]), nil
}

// End is the place of the last record.
func (r *Reader) End(ctx context.Context) (Seq, error) { return r.file.end(ctx) }

// wanted reports whether a record is of a type that is asked for. Where its head does not end as heads do, it is read.
func (v *verifier) wanted(head []byte) bool {
	if v.want == nil {
		return true
	}
	const mark = `"type":"`
	i := bytes.LastIndex(head, []byte(mark))
	if i < 0 || !bytes.HasSuffix(head, []byte(`"}`)) {
		return true
	}
	return v.want[string(head[i+len(mark):len(head)-2])]
}
