package hatch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"colony/ant"
	"colony/cards"
	"colony/event"
	"colony/ledger"
	"colony/plan"
	"colony/queen"
	"colony/repo"
	"colony/strict"
)

// The planner: an ant like any other, but that it has no task and lands nothing.
const (
	queenCard = "queen"
	queenAnt  = "queen-1"
)

// plan is the run's plan and what it may cost: as it was given, or as the queen makes it of the goal.
func (c *Colony) plan(ctx context.Context) (plan.Plan, *event.Estimate, error) {
	made := c.parts.Plan
	if c.parts.Goal != "" {
		var err error
		if made, err = c.draft(ctx); err != nil {
			return made, nil, err
		}
	}
	book := c.experience(ctx)
	estimate := book.estimate(made)
	if c.parts.Goal != "" || c.unseen != nil {
		var err error
		if made, estimate, err = c.approve(ctx, made, book); err != nil {
			return made, nil, err
		}
	}
	for _, t := range made.Tasks {
		c.book.OpenTask(t.ID, taskCaps(t))
	}
	return made, estimate, nil
}

// Plan is Run for Parts with Only: it has the goal planned and nothing else done: no gate runs and no branch is made. Where the queen could not plan it
// is a *Problem. The log ends with run.finished in all cases.
func (c *Colony) Plan(ctx context.Context) (plan.Plan, *event.Estimate, error) {
	if err := c.repo.Look(ctx, c.base); err != nil {
		return plan.Plan{}, nil, repoProblem(err)
	}
	if err := c.readAdvice(ctx); err != nil {
		return plan.Plan{}, nil, err
	}
	if err := c.begin(ctx); err != nil {
		return plan.Plan{}, nil, err
	}
	made, err := c.draft(ctx)
	var no *queen.Unplanned
	stopped := ctx.Err() != nil
	finished := event.RunFinished{Status: "stopped", Base: c.base, Commit: c.base, Reason: "planned only"}
	switch {
	case errors.As(err, &no):
		finished.Status, finished.Exit, finished.Reason = "failed", no.Exit, no.Reason
		err = &Problem{Exit: no.Exit, Code: "unplanned", Message: no.Reason, Next: "colony log " + c.run + " shows what she did"}
	case err != nil && stopped:
		finished.Exit, finished.Reason = 130, context.Cause(ctx).Error()
	case err != nil:
		finished.Status, finished.Exit, finished.Reason = "failed", 1, err.Error()
	}
	var estimate *event.Estimate
	if err == nil {
		estimate = c.experience(ctx).estimate(made)
		err = c.record("", queen.Made(made, estimate))
	}
	finished.Usage, finished.USD, finished.Price = c.log.of("")
	err = errors.Join(err, c.record("", finished))
	_, closeErr := c.repo.Close(context.WithoutCancel(ctx))
	return made, estimate, errors.Join(err, closeErr)
}

// Expect is what the plan that was given may cost. Nothing is written or asked.
func (c *Colony) Expect(ctx context.Context) *event.Estimate {
	return c.experience(ctx).estimate(c.parts.Plan)
}

// drafting is the planner at work: how often a faulty plan may still go back to her, and the plan that was taken.
type drafting struct {
	colony *Colony
	left   int
	giveUp context.CancelCauseFunc
	fault  error // the first of her last plan
	taken  *plan.Plan
}

// check takes a plan without faults. The first that comes when none may go back ends the planner.
func (d *drafting) check(args json.RawMessage) (plan.Plan, strict.Faults) {
	made, faults := queen.PlanOf(args)
	made.Goal = cmp.Or(made.Goal, d.colony.parts.Goal)
	if faults = append(faults, d.colony.faults(&made)...).Sorted(); len(faults) == 0 {
		d.taken = &made
		return made, nil
	}
	d.fault = fmt.Errorf("her plan still has faults, the first: %s", faults[0].Text)
	if d.left == 0 {
		d.giveUp(d.fault)
	}
	d.left--
	return made, faults
}

// nobodyPlans is the check of a plan call by an ant that is no planner.
func nobodyPlans(json.RawMessage) (plan.Plan, strict.Faults) {
	return plan.Plan{}, strict.Faults{{Text: "only the queen plans, before the tasks begin"}}
}

// faults are what is wrong with a plan in this run, after its tasks have got their cards.
func (c *Colony) faults(p *plan.Plan) strict.Faults {
	c.cast(p)
	faults := p.Check(c.offered())
	for i, t := range p.Tasks {
		if !c.verified(t) {
			faults = append(faults, p.Fault(fmt.Sprintf("tasks[%d]", i), fmt.Sprintf("nothing verifies task %s: give it gates", t.ID)))
		}
		if t.Review && c.helper(reviewerCard) == "" {
			faults = append(faults, p.Fault(fmt.Sprintf("tasks[%d].review", i), "there is no reviewer in this run: leave review out"))
		}
	}
	return faults
}

// draft has the queen plan the goal. When she cannot, the goal is the only task, unless only a plan is wanted.
func (c *Colony) draft(ctx context.Context) (plan.Plan, error) {
	d := &drafting{colony: c, left: c.settings.limits.PlanFaults}
	shelf, err := c.toolsWith(d.check)
	if err != nil {
		return plan.Plan{}, err
	}
	told, args, err := c.drafted(ctx)
	if err != nil {
		return plan.Plan{}, err
	}
	if args != nil {
		if made, faults := d.check(args); len(faults) == 0 {
			return made, nil
		}
	}
	l, err := c.newLife(ctx, queen.Order{
		Run: c.run, Ant: queenAnt, Card: queenCard, Base: c.base, Attempt: told + 1, Continues: told > 0, Caps: antCaps(c.cards[queenCard]),
	}, shelf)
	if err != nil {
		return plan.Plan{}, err
	}
	var ending ant.Ending
	err = l.lead(ctx, c.assignment(), func(ctx context.Context) (ant.Reason, error) {
		ctx, stop := context.WithCancelCause(ctx)
		defer stop(nil)
		d.giveUp = stop
		var err error
		ending, err = l.ant.Work(ctx)
		return ending.Reason, err
	})
	var held *repo.HeldError
	if gone := l.tree.Remove(context.WithoutCancel(ctx)); gone != nil && !errors.As(gone, &held) {
		err = errors.Join(err, gone)
	}
	switch {
	case err != nil:
		return plan.Plan{}, err
	case d.taken != nil:
		return *d.taken, nil
	case ctx.Err() != nil:
		return plan.Plan{}, context.Cause(ctx)
	}
	outcome := l.stopped(ending)
	if d.fault != nil && !outcome.Fatal && outcome.Scope == "" {
		outcome.Detail = d.fault.Error()
	}
	return c.undrafted(outcome)
}

// drafted is how often the queen of a run that goes on was told something, and the plan that was taken of her; nil where
// none was.
func (c *Colony) drafted(ctx context.Context) (told int, args json.RawMessage, err error) {
	called := map[string]json.RawMessage{}
	for e, err := range c.log.Read(ctx, 0) {
		if err != nil {
			return 0, nil, err
		}
		if e.Ant != queenAnt {
			continue
		}
		switch b := e.Body.(type) {
		case event.AntTold:
			told++
		case event.ToolStarted:
			called[b.Call] = b.Args
		case event.ToolDone:
			if b.Tool == "plan" && b.Ends && b.Fault == "" {
				args = called[b.Call]
			}
		}
	}
	return told, args, nil
}

// undrafted is what comes of a queen who ended without a plan.
func (c *Colony) undrafted(o queen.Outcome) (plan.Plan, error) {
	why := cmp.Or(o.Detail, string(o.Reason))
	no := &queen.Unplanned{Exit: 3, Reason: "the queen could not plan: " + why}
	one := plan.One(c.parts.Goal)
	c.cast(&one)
	switch {
	case o.Fatal:
		return plan.Plan{}, &queen.Unplanned{Exit: 6, Reason: why}
	case o.Scope == "run":
		return plan.Plan{}, &queen.Unplanned{Exit: 4, Reason: why}
	case c.parts.Only:
		return plan.Plan{}, no
	case !c.verified(one.Tasks[0]):
		no.Reason += "; and nothing would verify the goal as one task: give a gate with --gate"
		return plan.Plan{}, no
	}
	return one, c.record("", event.Warned{
		Code: "one_task", Text: "the queen could not plan, so the goal is one task: " + why, Next: "colony log @ --ant " + queenAnt + " shows what she did",
	})
}

// assignment is what the planner is told. Its first line names the task that it is.
func (c *Colony) assignment() string {
	var b strings.Builder
	goal := strings.TrimSpace(c.parts.Goal)
	first, rest, _ := strings.Cut(goal, "\n")
	fmt.Fprintf(&b, "Task plan: %s\n", first)
	if strings.TrimSpace(rest) != "" {
		fmt.Fprintf(&b, "\nThe goal:\n%s\n", goal)
	}
	if len(c.parts.Plan.Tasks) > 0 {
		fmt.Fprintf(&b, "\nThis is the plan so far. Change it so that it meets the goal; a task that still holds stays as it is, with its id:\n%s", plan.Write(c.parts.Plan))
	}
	if len(c.gates) > 0 {
		b.WriteString("\nGates of the repository, which colony runs for every task beside its own:\n")
	} else if !c.parts.NoGate {
		b.WriteString("\nThe repository names no gates: give every task gates of its own.\n")
	}
	for _, g := range c.gates {
		fmt.Fprintf(&b, "- %s\n", g.Run)
	}
	fmt.Fprintf(&b, "\nCards for tasks (%s where none is named):\n", c.settings.run.Card)
	for _, name := range c.offered() {
		card := c.cards[name]
		fmt.Fprintf(&b, "- %s: %s At most %s an ant.\n", name, card.Description, capsWords(antCaps(card)))
	}
	fmt.Fprintf(&b, "\nLimits of the run: %s; %d ants at once.\n", capsWords(c.caps), c.width())
	return b.String()
}

func capsWords(caps ledger.Caps) string {
	var words []string
	if caps.PicoUSD != nil {
		words = append(words, "$"+event.PicoUSD(*caps.PicoUSD).String())
	}
	for _, n := range []struct {
		value *int64
		what  string
	}{{caps.Tokens, "tokens"}, {caps.Turns, "turns"}, {caps.Calls, "calls"}} {
		if n.value != nil {
			words = append(words, fmt.Sprintf("%d %s", *n.value, n.what))
		}
	}
	if caps.Wall != nil {
		words = append(words, caps.Wall.String())
	}
	if len(words) == 0 {
		return "what is left"
	}
	return strings.Join(words, ", ")
}

func (c *Colony) goal() string { return cmp.Or(c.parts.Goal, c.parts.Plan.Goal) }

// offered are the cards of this run that tasks may name, sorted.
func (c *Colony) offered() []string {
	return slices.DeleteFunc(c.cardNames(), func(name string) bool { return !works(c.cards[name]) })
}

// works reports whether a card's ants do tasks of a plan: they end with done, and are not sent by colony itself.
func works(card cards.Card) bool {
	has := func(tool string) bool { return slices.Contains(card.Tools, tool) }
	return card.Name != queenCard && card.Name != "resolver" && has("done") && !has("plan") && !has("review")
}

// workers are the cards that tasks may name.
func (h *House) workers() []string {
	var names []string
	for _, card := range h.Cards.List() {
		if works(card) {
			names = append(names, card.Name)
		}
	}
	return names
}

// CheckCards names each task's card that does not exist, or whose ants do no tasks.
func (h *House) CheckCards(p plan.Plan) strict.Faults { return p.Check(h.workers()) }

// spare reports whether the run can do without a card whose model cannot be had: nobody asked for it.
func (c *Colony) spare(name string) bool {
	if c.parts.Models[name] != "" {
		return false
	}
	if name == reviewerCard || name == resolverCard {
		return !c.needs(name)
	}
	return c.parts.Goal != "" && name != queenCard && name != c.settings.run.Card
}
