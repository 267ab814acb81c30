package queen

import (
	"maps"
	"slices"

	"colony/event"
	"colony/plan"
)

// Task states and final statuses.
const (
	pending   = "pending"
	ready     = "ready"
	running   = "running"
	landing   = "landing"
	landed    = "landed"
	noChange  = "no_change"
	failed    = "failed"
	cancelled = "cancelled"
	blocked   = "blocked"
)

// task is a node of the graph.
type task struct {
	plan.Task
	place      int         // in depth-first order
	gates      []plan.Gate // all that it must pass: the repository's, its card's, its own
	unmet      int         // needs not yet met
	dependents []*task

	state, reason, detail string

	role    string          // whose turn it is: author, reviewer or resolver
	order   Order           // of the ant at work, or of the next
	crew    map[string]crew // by role
	from    string          // the commit between which and work lies what the task does
	work    string          // the last commit of it
	account string          // what its author said of it, for the message of the landing
	kept    string
	before  string // where the work is kept that was done before the task began again
	report  event.TaskReport
	again   bool     // its work was found not to join the branch as it was then
	queued  int      // its place among what came to land; 0 before
	turn    int      // its place among those with a right of way; 0 where it has none
	way     []string // where others wait for it
	clash   []string // where its work did not join while another had the right of way

	attempts, returns, retries int
	review                     review
}

// crew is the ant of a role and how often it was hatched for the task.
type crew struct {
	ant   string
	times int
}

// The roles of ants on a task.
const (
	author   = "author"
	reviewer = "reviewer"
	resolver = "resolver"
)

// ant is who works, or worked, on the task itself.
func (t *task) ant() string {
	if r, ok := t.crew[resolver]; ok {
		return r.ant
	}
	return t.crew[author].ant
}

// holds reports whether the task keeps others from its files and locks.
func (t *task) holds() bool { return t.attempts > 0 && !t.ended() }

func (t *task) ended() bool {
	return slices.Contains([]string{landed, noChange, failed, cancelled, blocked}, t.state)
}

// met reports whether a dependent may go on.
func (t *task) met() bool { return t.state == landed || t.state == noChange }

// graph is the tasks, in depth-first order, and those that could start.
type graph struct {
	plan  plan.Plan
	order []*task
	queue []*task // ready: those that come back first, else in depth-first order
}

func newGraph(p Parts, of plan.Plan) *graph {
	of.Tasks = slices.Clone(of.Tasks) // scopes widen
	g := &graph{plan: of}
	byID := map[string]*task{}
	for _, t := range of.Tasks {
		byID[t.ID] = &task{Task: t, state: pending, role: author, order: Order{Card: t.Card}, crew: map[string]crew{},
			gates: union(p.Gates, p.Cards(t.Card), t.Gates)}
	}
	for i, id := range of.Order() {
		t := byID[id]
		t.place = i
		g.order = append(g.order, t)
		needs := slices.Clone(t.Needs)
		slices.Sort(needs)
		for _, need := range slices.Compact(needs) {
			if on, ok := byID[need]; ok {
				on.dependents = append(on.dependents, t)
				t.unmet++
			}
		}
	}
	return g
}

// roots are the tasks that need nothing and have not begun.
func (g *graph) roots() []*task {
	var roots []*task
	for _, t := range g.order {
		if t.unmet == 0 && t.state == pending {
			roots = append(roots, t)
		}
	}
	return roots
}

// push makes a task wait for an ant.
func (g *graph) push(t *task) {
	t.state = ready
	at, _ := slices.BinarySearchFunc(g.queue, t, func(a, b *task) int {
		if (a.attempts > 0) != (b.attempts > 0) {
			if a.attempts > 0 {
				return -1
			}
			return 1
		}
		return a.place - b.place
	})
	g.queue = slices.Insert(g.queue, at, t)
}

// pop takes the first ready task whose card has a place free and that meets no task which is under way, one that has not
// begun only where fresh is true; nil where there is none.
func (g *graph) pop(most func(card string) int, fresh bool) *task {
	at := map[string]int{} // ants at work, by card
	var under []*task
	for _, t := range g.order {
		if t.state == running {
			at[t.order.Card]++
		}
		if t.holds() {
			under = append(under, t)
		}
	}
	for i, t := range g.queue {
		if m := most(t.order.Card); m > 0 && at[t.order.Card] >= m {
			continue
		}
		if !t.holds() && (!fresh || slices.ContainsFunc(under, func(other *task) bool { return t.Meets(other.Task) })) {
			continue
		}
		g.queue = slices.Delete(g.queue, i, i+1)
		return t
	}
	return nil
}

// freed are the dependents of a met task that now need nothing more.
func (t *task) freed() []*task {
	var out []*task
	for _, d := range t.dependents {
		if d.unmet--; d.unmet == 0 && !d.ended() {
			out = append(out, d)
		}
	}
	return out
}

// downstream are all tasks that need t, directly or not, in depth-first order.
func (t *task) downstream() []*task {
	seen := map[*task]bool{}
	var visit func(*task)
	visit = func(t *task) {
		for _, d := range t.dependents {
			if !seen[d] {
				seen[d] = true
				visit(d)
			}
		}
	}
	visit(t)
	return slices.SortedFunc(maps.Keys(seen), func(a, b *task) int { return a.place - b.place })
}

// planMade is the graph as the log keeps it, in the order of the file.
func (g *graph) planMade(estimate *event.Estimate) event.PlanMade {
	made := event.PlanMade{Estimate: estimate, Edited: g.plan.Edited}
	for _, t := range g.plan.Tasks {
		made.Tasks = append(made.Tasks, event.PlanTask{ID: t.ID, Title: t.Title, Prompt: t.Prompt, Card: t.Card, Needs: t.Needs,
			Files: t.Files, Locks: t.Locks, Gates: commands(t.Gates), Checks: checks(t.Gates), Caps: logCaps(t.Caps), Review: t.Review})
	}
	return made
}

func checks(gates []plan.Gate) []event.Check {
	out := make([]event.Check, len(gates))
	for i, g := range gates {
		out[i] = event.Check{Run: g.Run, Name: g.Name, Dir: g.Dir, TimeoutMs: g.Timeout.Milliseconds(), Retry: g.Retry}
	}
	return out
}

func commands(gates []plan.Gate) []string {
	out := make([]string, len(gates))
	for i, g := range gates {
		out[i] = g.Run
	}
	return out
}

func logCaps(c plan.Caps) event.Caps {
	out := event.Caps{USD: (*event.PicoUSD)(c.PicoUSD), Tokens: c.Tokens, Turns: c.Turns, Calls: c.Calls}
	if c.Wall != nil {
		ms := c.Wall.Milliseconds()
		out.WallMs = &ms
	}
	return out
}
