package hatch

import (
	"bytes"
	"context"
	"errors"
	"io"

	"colony/event"
	"colony/ledger"
	"colony/ledger/audit"
)

// Verify makes the bill of a run anew from its log and holds all that was written down against it. What is wrong with the
// log itself is a fault of the proof.
func (p Past) Verify(ctx context.Context) (audit.Proof, error) {
	run := ledger.NewRun(p.ID, p.kept)
	run.Live = p.Owned()
	proof, err := audit.Verify(run, p.Events(ctx), p.kept)
	if err != nil && ctx.Err() != nil {
		return proof, err
	}
	if err == nil && !run.Live && !p.Owned() { // else the log may have grown since
		err = p.snapshotHolds(ctx, run, &proof)
	}
	if unreadable := (*Problem)(nil); errors.As(err, &unreadable) {
		err = nil // it is a fault of the proof
	}
	return proof, err
}

// snapshotHolds adds a fault where what is kept for speed is not what the log gives.
func (p Past) snapshotHolds(ctx context.Context, run *ledger.Run, proof *audit.Proof) error {
	quick, err := p.Account(ctx)
	if err != nil {
		return err
	}
	quick = quick.Bare()
	have, err := quick.Snapshot("")
	if err != nil {
		return err
	}
	want, err := run.Bare().Snapshot("")
	if err == nil && !bytes.Equal(have, want) {
		proof.Faults = append(proof.Faults, "what is kept beside the log for speed is not what the log gives: remove "+p.snapshotPath())
	}
	return err
}

// Export writes the run without what was said, each line as clean makes it. Where its log cannot be read to the end, nothing
// is written.
func (p Past) Export(ctx context.Context, w io.Writer, clean func(string) string) error {
	run, err := p.Account(ctx)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := ledger.Export(&text, run, upTo(p.Events(ctx), run.Seq), clean); err != nil {
		return err
	}
	_, err = w.Write(text.Bytes())
	return err
}

// upTo are events up to one of them, where a log grows meanwhile.
func upTo(events func(func(event.Event, error) bool), last event.Seq) func(func(event.Event, error) bool) {
	return func(yield func(event.Event, error) bool) {
		for e, err := range events {
			if err == nil && e.Seq > last || !yield(e, err) {
				return
			}
		}
	}
}
