// Package event is what happened, in order: the closed set of event bodies and the run's durable log.
// A log has one owner, which appends, and any number of readers.
package event

import (
	"context"
	"iter"
	"time"
)

// Seq is the place of an event in its log, from 1 without gaps.
type Seq uint64

// Event is one fact. ID, Seq and Time are set by the log that appends it.
type Event struct {
	ID     string
	Origin string // the process that appended it; empty in the log's own
	Seq    Seq
	Time   time.Time // UTC
	Run    string
	Task   string
	Ant    string
	Body   Body
}

// Body is what an event says: one of the types in this package that have a Type.
type Body interface{ Type() string }

// Log is a run's ordered list of events. It is safe for concurrent use.
type Log interface {
	// Append adds the events together, all or none, and returns the last one's place after they are durable.
	Append(ctx context.Context, events ...Event) (Seq, error)
	// Note adds events that are durable no later than those of the next Append, and does not wait for that. It is for
	// what nobody outside acts on before an Append follows.
	Note(events ...Event) error
	// Read yields what follows after, to the end as it is now.
	Read(ctx context.Context, after Seq) iter.Seq2[Event, error]
	// Follow is Read that goes on with what is appended later, until ctx is done.
	Follow(ctx context.Context, after Seq) iter.Seq2[Event, error]
}
