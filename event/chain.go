package event

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// record is an event as it is kept: the head and the fields apart, and the checksum over both and over the
// checksum of the record before.
type record struct {
	seq          Seq
	head, fields []byte
	sum          [sha256.Size]byte
}

// CorruptError names the place where a log is not what was written.
type CorruptError struct {
	Log  string
	Seq  Seq // 0 where the file itself cannot be read
	What string
	Err  error
}

func (e *CorruptError) Error() string {
	if e.Seq == 0 {
		return fmt.Sprintf("log %s is damaged: %s", e.Log, e.What)
	}
	return fmt.Sprintf("log %s is damaged at event %d: %s", e.Log, e.Seq, e.What)
}

func (e *CorruptError) Unwrap() error { return e.Err }

// seal is the checksum that a record has after prev.
func (r *record) seal(prev [sha256.Size]byte) [sha256.Size]byte {
	h := sha256.New()
	var n [16]byte
	binary.BigEndian.PutUint64(n[:8], uint64(r.seq))
	binary.BigEndian.PutUint64(n[8:], uint64(len(r.head)))
	h.Write(prev[:])
	h.Write(n[:])
	h.Write(r.head)
	h.Write(r.fields)
	return [sha256.Size]byte(h.Sum(nil))
}

// event decodes a record that was verified.
func (r *record) event() (Event, error) {
	var h head
	if err := json.Unmarshal(r.head, &h); err != nil {
		return Event{}, err
	}
	b, err := decodeBody(h.Type, r.fields)
	if err != nil {
		return Event{}, err
	}
	return h.event(b), nil
}

// chain makes records in order. It is not safe for concurrent use.
type chain struct {
	run  string
	now  func() time.Time
	ids  ids
	seq  Seq
	last [sha256.Size]byte
}

// draft is an event whose body is encoded already.
type draft struct {
	event  Event
	fields []byte
}

func drafts(events []Event) ([]draft, error) {
	out := make([]draft, len(events))
	for i, e := range events {
		if e.Body == nil {
			return nil, errors.New("append event: it has no body")
		}
		fields, err := encodeBody(e.Body)
		if err != nil {
			return nil, err
		}
		out[i] = draft{e, fields}
	}
	return out, nil
}

// add seals one draft as the next record.
func (c *chain) add(d draft) (record, error) {
	e := d.event
	now := c.now().UTC()
	e.ID, e.Seq, e.Time = c.ids.next(now), c.seq+1, now
	if e.Run == "" {
		e.Run = c.run
	}
	h, err := encode(headOf(e))
	if err != nil {
		return record{}, fmt.Errorf("encode %s: %w", e.Body.Type(), err)
	}
	r := record{seq: e.Seq, head: h, fields: d.fields}
	r.sum = r.seal(c.last)
	c.seq, c.last = r.seq, r.sum
	return r, nil
}

// verifier reads records in order from the one after which reading begins.
type verifier struct {
	log   string
	after Seq // the last record seen
	sum   [sha256.Size]byte
	begun bool
	want  map[string]bool // the types to decode; nil is all
}

// next verifies a record. The first one may be the record at after itself: it is the anchor, and is not
// yielded.
func (v *verifier) next(r record) (e Event, yield bool, err error) {
	if !v.begun && v.after > 0 {
		if r.seq != v.after {
			return Event{}, false, v.corrupt(v.after, "it is missing")
		}
		v.begun, v.sum = true, r.sum
		return Event{}, false, nil
	}
	v.begun = true
	if r.seq != v.after+1 {
		return Event{}, false, v.corrupt(v.after+1, "it is missing")
	}
	if r.sum != r.seal(v.sum) {
		return Event{}, false, v.corrupt(r.seq, "its checksum does not match")
	}
	if !v.wanted(r.head) {
		v.after, v.sum = r.seq, r.sum
		return Event{}, false, nil
	}
	if v.want != nil {
		if e, ok := r.quickly(); ok {
			v.after, v.sum = r.seq, r.sum
			return e, true, nil
		}
	}
	if e, err = r.event(); err != nil {
		return Event{}, false, &CorruptError{Log: v.log, Seq: r.seq, What: err.Error(), Err: err}
	}
	v.after, v.sum = r.seq, r.sum
	return e, true, nil
}

func (v *verifier) corrupt(at Seq, what string) error {
	return &CorruptError{Log: v.log, Seq: at, What: what}
}

// from is the first record that is needed: the anchor, or the one after the last seen.
func (v *verifier) from() Seq {
	if v.begun {
		return v.after + 1
	}
	return max(v.after, 1)
}
