package queen

import (
	"context"

	"colony/event"
	"colony/ledger"
	"colony/plan"
)

// Order is one attempt at a task: plain data, so that it can be carried out on another machine.
type Order struct {
	Run, Task, Title string
	Ant, Card        string
	Base             string   // the commit the ant's worktree begins at
	From             string   // the commit between which and the work lies what the task does
	Prompt           string   // the task's
	Told             string   // why the ant comes back; empty at the first attempt
	Kind             string   // of Told, as in ant.told: conflict, gate, review or nudge; review is also a reviewer's order
	Attempt          int      // of this ant, from 1
	Continues        bool     // the ant goes on in the conversation and the worktree of its attempt before, which was cut off
	Files            []string // what the work may change; empty for all
	Locks            []string // what the task has for itself in this run
	Carve            [][2][]string
	Gates            []plan.Gate         // what binds this task: the repository's, its card's, its own
	Red              []event.GateReceipt // of Told: the gates that were red; their output is in blobs by hash
	Review           *Review             // what a reviewer looks at; nil for all other ants
	Caps             ledger.Caps
	Fence            int64 // the lease's fencing number, rising over the run
}

// Review is what a reviewer is asked about: the work between From and the order's Base. It never holds a word of the
// author's.
type Review struct {
	From    string
	Since   string // the commit that was read in the round before; empty in the first
	Round   int    // from 1
	Receipt []event.GateReceipt
	Inputs  []string        // files that decide what a gate runs, or tests that went
	Old     []event.Finding // of the round before
}

// The verdicts of a reviewer.
const (
	Approve  = "approve"
	SendBack = "send_back"
)

// Reason is why an ant ended. The set is closed.
type Reason string

// The reasons.
const (
	Done       Reason = "done"
	NoChange   Reason = "no_change"
	Blocked    Reason = "blocked"
	NoProgress Reason = "no_progress"
	NoWork     Reason = "no_work" // done was said of an unchanged tree
	GateRed    Reason = "gate"    // the gates stayed red in the worktree
	Turns      Reason = "turns"
	Calls      Reason = "calls"
	Tokens     Reason = "tokens"
	USD        Reason = "usd"
	Wall       Reason = "wall"
	Timeout    Reason = "timeout"
	Refused    Reason = "refused"
	Model      Reason = "model"
	Cancelled  Reason = "cancelled"
	Internal   Reason = "internal"
)

// Outcome is what an attempt came to.
type Outcome struct {
	Reason       Reason
	Detail       string // one sentence for a person; of Done and NoChange the ant's summary, of Blocked what was tried and is missing
	Commit, Tree string // of Done: the work
	Files        []string
	Stray        []string            // files that the order's do not cover
	Gates        []event.GateReceipt // one for each of the order's, in its order, as they ran on Tree
	Scope        string              // of a cap: run, task or ant
	Verdict      string              // of a reviewer that is Done
	Findings     []event.Finding     // of a reviewer
	Kept         string              // the ref that keeps work which will not land
	Fatal        bool                // no provider serves: no later request of the run can work
	Asked        bool                // it ended because of an unanswered ask or an untrusted file
}

// Hatcher carries out orders. It is safe for concurrent use. An error is colony's own failure and ends the run.
type Hatcher interface {
	Hatch(ctx context.Context, o Order) (Outcome, error)
}

// Gate runs one gate in a directory that holds a tree. An error is colony's own failure, never a red gate.
// The receipt's Tree, Reused and Red are the queen's to fill.
type Gate func(ctx context.Context, dir string, g plan.Gate) (event.GateReceipt, error)

// verdict is a task's final status and reason for an outcome that does not go on to land.
func (o Outcome) verdict() (status, reason string) {
	switch o.Reason {
	case NoChange:
		return noChange, o.Detail
	case Blocked:
		return blocked, "said"
	case Cancelled:
		return cancelled, ""
	case Turns, Calls, Tokens, USD, Wall:
		return failed, "caps"
	case GateRed, NoProgress, NoWork, Timeout, Refused, Model:
		return failed, string(o.Reason)
	case Done:
		return failed, string(NoWork)
	}
	return failed, string(Internal)
}
