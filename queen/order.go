package queen

import (
	"context"

	"colony/event"
	"colony/ledger"
	"colony/plan"
)

// Order is one attempt at a task: plain data, so that it can be hatched on another machine.
type Order struct {
	Run, Task, Title string
	Ant, Card        string
	Base             string // the commit the ant's worktree begins at
	Prompt           string // the task's
	Told             string // why the ant comes back; empty at the first attempt
	Kind             string // of Told, as in ant.told: conflict or gate
	Attempt          int    // from 1
	Carve            [][2][]string
	Gates            []plan.Gate // all that bind this task: the repository's, then its own
	Caps             ledger.Caps
	Fence            int64
}

// Reason is why an ant ended. The set is closed.
type Reason string

// The reasons.
const (
	Done       Reason = "done"
	NoChange   Reason = "no_change"
	Blocked    Reason = "blocked"
	NoProgress Reason = "no_progress"
	NoWork     Reason = "no_work"
	GateRed    Reason = "gate" // the gates stayed red in the worktree
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
	Detail       string // one sentence for a person
	Commit, Tree string // of Done: the work, its gates passed in the worktree
	Files        []string
	Gates        []event.GateReceipt // as they ran on Tree in the worktree
	Scope        string              // of a cap: run, task or ant
	Kept         string              // the ref that keeps work which will not land
	Fatal        bool                // the provider refused: no later request of the run can work
	Code         string              // of a fatal one, as docs/errors.md lists them
	Asked        bool                // it did not land because of an unanswered ask or an untrusted file
	Denied       []event.Denied
}

// Hatcher carries out orders. It is safe for concurrent use. An error is colony's own failure and ends the run.
type Hatcher interface {
	Hatch(ctx context.Context, o Order) (Outcome, error)
}

// Gate runs one gate in a directory that holds a tree. An error is colony's own failure, never a red gate.
type Gate func(ctx context.Context, dir string, g plan.Gate) (event.GateReceipt, error)
