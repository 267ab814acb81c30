package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// snapshotForm changes with what a fold keeps: a snapshot of another form is none.
const snapshotForm = 1

// Snapshot is the fold of a run as bytes. Sum is the checksum of the log at its last event.
func (r *Run) Snapshot(sum string) ([]byte, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("write a snapshot of %s: %w", r.ID, err)
	}
	digest := sha256.Sum256(append([]byte(sum), body...))
	return append(fmt.Appendf(nil, "colony-bill %d %s %s\n", snapshotForm, sum, hex.EncodeToString(digest[:])), body...), nil
}

// Restore is the run that a snapshot holds, to go on with, and the checksum of the log there. What is torn or of another
// form is an error.
func Restore(data []byte, blob func(sha256 string) ([]byte, error)) (*Run, string, error) {
	head, body, _ := bytes.Cut(data, []byte("\n"))
	var form int
	var sum, digest string
	if n, err := fmt.Sscanf(string(head), "colony-bill %d %s %s", &form, &sum, &digest); n != 3 || err != nil || form != snapshotForm {
		return nil, "", errors.New("it is no snapshot of this form")
	}
	if have := sha256.Sum256(append([]byte(sum), body...)); hex.EncodeToString(have[:]) != digest {
		return nil, "", errors.New("it is torn")
	}
	r := newRun("")
	r.blob = blob
	if err := json.Unmarshal(body, r); err != nil {
		return nil, "", err
	}
	r.index()
	return r, sum, nil
}

// Types are the events that a bill rests on.
func Types() []string {
	return []string{
		"run.started", "run.resumed", "plan.made", "plan.changed", "ant.hatched", "ant.told", "ant.compacted", "ant.ended",
		"model.requested", "model.replied", "tool.done", "commit.made", "task.done", "run.finished",
	}
}

// Bare is the run without what does not follow from its own events: where it was, and how many lines its commits have.
func (r *Run) Bare() *Run {
	bare := *r
	bare.Repo, bare.Seq, bare.Last = "", 0, time.Time{}
	bare.Tasks = nil
	for _, t := range r.Tasks {
		one := *t
		one.Lines, one.Counted = 0, false
		bare.Tasks = append(bare.Tasks, &one)
	}
	return &bare
}
