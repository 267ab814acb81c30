package queen

import (
	"encoding/json"
	"strings"

	"colony/event"
)

// Where a task stands between two events.
const (
	stageWork   = "work"   // an ant has a conversation about it
	stageLand   = "land"   // its work waits to land, also where it was looked at before
	stageJudged = "judged" // a reviewer sent it back, and its author does not know yet
)

// trace is how far a task came: a fold over its events.
type trace struct {
	stage  string // empty before an ant was told of it
	member string // the role whose attempt it is
	ant    string
	base   string // at which the attempt began
	kind   string // of what the ant was told first
	claim  *claim // that no ant was told of yet

	crew     map[string]crew
	from     string
	work     string
	account  string
	receipts []event.GateReceipt // of the gates in the worktree, in this attempt

	attempts, returns int
	review            review

	ended bool // a task.done is its last event
	over  bool // and the process that wrote it finished its share of the run
	end   event.TaskDone
}

// claim is a lease on an attempt.
type claim struct{ role, ant, base string }

func (t *trace) add(e event.Event) {
	switch b := e.Body.(type) {
	case event.TaskReady:
		t.reopen()
	case event.TaskClaimed:
		t.claimed(e.Ant, b)
	case event.AntTold:
		t.enter(e.Ant, b)
	case event.ToolStarted:
		if e.Ant == t.ant {
			t.account = said(b, t.account)
		}
	case event.GateDone:
		t.gate(b)
	case event.ReviewDone:
		t.judged(b)
	case event.LandingStarted:
		t.stage, t.work = stageLand, b.Commit
	case event.LandingDone:
		if b.Outcome == "conflict" || b.Outcome == "gate" {
			t.from = b.Onto
		}
	case event.TaskDone:
		t.ended, t.end = true, b
	}
}

// reopen lets a task that ended go on, or begin with another ant.
func (t *trace) reopen() {
	if t.anew() {
		*t = trace{crew: map[string]crew{}}
	}
	t.ended, t.over = false, false
}

// author is who worked last on the task itself.
func (t *trace) author() string {
	if r, ok := t.crew[resolver]; ok {
		return r.ant
	}
	return t.crew[author].ant
}

func (t *trace) claimed(ant string, b event.TaskClaimed) {
	t.reopen()
	role := author
	if words := strings.Split(b.Lease, "."); len(words) > 2 {
		role = words[len(words)-2]
	}
	t.crew[role] = crew{ant, t.crew[role].times + 1}
	if role != reviewer {
		t.attempts++
	}
	t.claim = &claim{role, ant, b.Base}
}

// enter begins an attempt once its ant was told what it is for. One that goes on stays as it was.
func (t *trace) enter(ant string, b event.AntTold) {
	c := t.claim
	if c == nil || c.ant != ant {
		return
	}
	t.claim = nil
	if t.stage == stageWork && t.member == c.role && t.ant == ant {
		return
	}
	t.stage, t.member, t.ant, t.base, t.kind = stageWork, c.role, ant, c.base, b.Kind
	if t.from == "" {
		t.from = c.base
	}
	switch {
	case c.role == reviewer:
		t.work = c.base
	case c.role == author && (b.Kind == "conflict" || b.Kind == "gate"):
		t.returns++
	}
	if c.role != reviewer {
		t.receipts = nil
	}
}

func (t *trace) gate(b event.GateDone) {
	if b.Where == "task" {
		t.receipts = append(t.receipts, event.GateReceipt{Command: b.Command, Exit: b.Exit, Ms: b.Ms, Output: b.Output, Tree: b.Tree})
	}
}

func (t *trace) judged(b event.ReviewDone) {
	t.review.rounds++
	t.review.findings, t.review.seen = b.Findings, t.work
	t.stage = stageLand
	if b.Verdict == Approve {
		t.review.approved = t.work
		return
	}
	t.review.returned++
	t.stage = stageJudged
}

// said is the account that a call of done gives.
func said(b event.ToolStarted, before string) string {
	var args struct{ Summary string }
	if b.Tool != "done" || json.Unmarshal(b.Args, &args) != nil {
		return before
	}
	return args.Summary
}

// last are the receipts of the gates on the last tree that they ran on.
func (t *trace) last() []event.GateReceipt {
	if len(t.receipts) == 0 {
		return nil
	}
	tree := t.receipts[len(t.receipts)-1].Tree
	var out []event.GateReceipt
	for _, r := range t.receipts {
		if r.Tree == tree {
			out = append(out, r)
		}
	}
	return out
}

// anew reports whether a task that ended begins with another ant, if it begins again: what its ant made of it was judged,
// or it gave up. What was only cut off goes on.
func (t *trace) anew() bool {
	if !t.ended || t.end.Status == cancelled || t.end.Status == landed || t.end.Status == noChange {
		return false
	}
	switch t.end.Reason {
	case "caps", string(Model), string(Internal), string(Timeout):
		return false
	}
	return t.needed() == ""
}

// needed is the task for which this one is blocked.
func (t *trace) needed() string {
	root, _ := strings.CutPrefix(t.end.Reason, "needs:")
	if root == t.end.Reason {
		return ""
	}
	return root
}

// stays reports whether a task that did not end well has ended for good in this run: the process that ended it died before
// it could finish, so nobody has asked for another attempt.
func (p *Past) stays(task string) bool {
	t := p.trace(task)
	if !t.ended || t.over {
		return false
	}
	if root := t.needed(); root != "" {
		return p.stays(root)
	}
	return t.anew()
}
