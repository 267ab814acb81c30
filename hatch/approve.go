package hatch

import (
	"context"
	"fmt"
	"strings"

	"colony/event"
	"colony/plan"
	"colony/queen"
	"colony/strict"
	"colony/tools"
)

// What a person may do about a plan.
const (
	planStart = "start"
	planEdit  = "edit"
	planSave  = "save"
	planEnd   = "end"
)

// approve asks a person about the plan, who may change it before it starts. Where nobody can be asked, or plans up to some
// estimate start unseen, it starts if there is no doubt about it. What was answered before a crash about the same plan counts, and a question
// that was open is asked again under its id. An *queen.Unplanned says why the plan does not start.
func (c *Colony) approve(ctx context.Context, p plan.Plan, book experience) (plan.Plan, *event.Estimate, error) {
	estimate := book.estimate(p)
	doubt := c.doubt(estimate)
	last, err := c.judged(ctx, shownPlan(p, estimate, doubt.text, nil))
	switch {
	case err != nil || last.answer == planStart:
		return p, estimate, err
	case c.parts.Yes:
		return p, estimate, c.startUnasked(last, "yes")
	case c.parts.Headless:
		return p, estimate, c.unattended(ctx, last, doubt)
	case c.unseen != nil && doubt.text == "":
		return p, estimate, c.startUnasked(last, "approve_over")
	}
	text := plan.Write(p)
	var faults strict.Faults
	for n := last.next; ; n++ {
		word, err := c.judge(ctx, n, shownPlan(p, estimate, doubt.text, faults), len(faults) > 0)
		if err != nil {
			return p, nil, err
		}
		switch word {
		case planStart:
			return p, estimate, nil
		case planEdit:
			p, text, faults = c.edit(ctx, p, text)
			estimate = book.estimate(p)
			doubt = c.doubt(estimate)
		case planSave:
			file, err := c.parts.Save(c.run, text)
			if err == nil {
				return p, nil, &queen.Unplanned{Exit: 5, Reason: fmt.Sprintf("the plan is saved: colony run -f %s starts it", file)}
			}
			faults = strict.Faults{{Text: err.Error()}}
		case planEnd:
			return p, nil, errDeclined
		}
	}
}

var errDeclined = &queen.Unplanned{Exit: 5, Reason: "the plan was declined"}

// unattended lets a plan start that nobody can be asked about: an answer that was left for its question counts, else
// whether there is a doubt.
func (c *Colony) unattended(ctx context.Context, last judgement, d doubt) error {
	if last.open && c.crew.early(last.ask()) {
		word, err := c.judge(ctx, last.next, last.text, false)
		switch {
		case err != nil || word == planStart:
			return err
		case word == planEnd:
			return errDeclined
		}
		last.open = false
	}
	if d.text != "" {
		return &queen.Unplanned{Exit: 5, Reason: d.code + ": " + d.text + ": raise " + d.raise + ", or start it as it is with --yes"}
	}
	return c.startUnasked(last, "headless")
}

// startUnasked closes the question that was left open about a plan which starts without it.
func (c *Colony) startUnasked(last judgement, via string) error {
	if !last.open {
		return nil
	}
	return c.record("", event.AskAnswered{Ask: last.ask(), Answer: planStart, By: event.By{Via: via}})
}

// shownPlan is the plan as a person reads it before it starts.
func shownPlan(p plan.Plan, estimate *event.Estimate, over string, faults strict.Faults) string {
	if len(faults) > 0 {
		return "The plan cannot start:\n" + faults.Error()
	}
	text := p.Tree() + "estimate: " + estimate.Words()
	if p.Why != "" {
		text = "why: " + p.Why + "\n" + text
	}
	if over != "" {
		text += "\nnote: " + over
	}
	return text
}

// judgement is what came of the questions about plans in earlier processes of a run: the number of the next one, whether
// that is an old one which is open still, and the answer that the last one got. Open and answer are about this text.
type judgement struct {
	next         int
	open         bool
	text, answer string
}

func (j judgement) ask() string { return fmt.Sprintf("plan.%d", j.next) }

// judged folds them. A question that was left open about another plan is closed.
func (c *Colony) judged(ctx context.Context, text string) (judgement, error) {
	j := judgement{next: 1, text: text}
	if c.past == nil {
		return j, nil
	}
	var last event.AskOpened
	for e, err := range c.log.Read(ctx, 0) {
		if err != nil {
			return j, err
		}
		switch b := e.Body.(type) {
		case event.AskOpened:
			if b.Kind == "plan" && (b.Ask != last.Ask || !j.open) {
				j.next++
			}
			if b.Kind == "plan" {
				last, j.open, j.answer = b, true, ""
			}
		case event.AskAnswered:
			if b.Ask == last.Ask {
				j.open, j.answer = false, b.Answer
			}
		}
	}
	switch {
	case last.Text == text && j.open:
		j.next--
	case j.open:
		j.open = false
		return j, c.record("", event.AskAnswered{Ask: last.Ask, By: event.By{Via: "resume"}})
	case last.Text != text:
		j.answer = ""
	}
	return j, nil
}

// judge puts the plan to the person and keeps question and answer in the log. Words that are none of the choices are
// asked about again; a plan with faults cannot start.
func (c *Colony) judge(ctx context.Context, n int, text string, faulty bool) (string, error) {
	q := tools.Question{Kind: "plan", Text: text, Choices: []string{planStart, planEdit, planSave, planEnd}}
	if faulty {
		q.Choices = []string{planEdit, planEnd}
	}
	id, limit := judgement{next: n}.ask(), c.patience()
	opened := event.AskOpened{Ask: id, Kind: q.Kind, Text: q.Text, Choices: q.Choices, Default: planEnd, Deadline: c.parts.Now().Add(limit)}
	answer, by, err := c.answered(ctx, opened, q, limit, func(b event.Body) error { return c.record("", b) })
	if err != nil {
		return "", err
	}
	word := chosenOf(q.Choices, answer.Text)
	if by.Via == "deadline" {
		word = planEnd
	}
	return word, c.record("", event.AskAnswered{Ask: id, Answer: word, By: by})
}

// chosenOf reads an answer: nothing is the first choice, a letter or a word the one that begins so; yes and allow start,
// no and deny end.
func chosenOf(choices []string, answer string) string {
	answer = strings.ToLower(strings.TrimSpace(answer))
	switch answer {
	case "":
		return choices[0]
	case "y", "yes", "allow":
		answer = planStart
	case "n", "no", "deny":
		answer = planEnd
	case "s":
		answer = planSave
	case "e":
		answer = planEdit
	}
	for _, c := range choices {
		if c == answer {
			return c
		}
	}
	return ""
}

// edit lets the person change the plan's text. With faults the plan stays as it was and the text is kept.
func (c *Colony) edit(ctx context.Context, p plan.Plan, text []byte) (plan.Plan, []byte, strict.Faults) {
	edited, err := c.parts.Edit(ctx, text)
	if err != nil {
		return p, text, strict.Faults{{Text: err.Error()}}
	}
	next, faults := plan.Parse("plan.yaml", edited)
	c.cleanse(&next)
	if len(faults) == 0 {
		faults = c.faults(&next)
	}
	if len(faults) > 0 {
		return p, edited, faults.Sorted()
	}
	next.Edited = p.Edited || string(edited) != string(text)
	return next, edited, nil
}

// A doubt is why a plan should be looked at before it starts; there is none where the text is empty.
type doubt struct{ code, text, raise string }

// doubt holds the estimate of the queen's plan to what the run may still spend, and that of any plan to what may start
// unseen.
func (c *Colony) doubt(e *event.Estimate) doubt {
	if c.parts.Goal != "" {
		if text := c.over(e); text != "" {
			return doubt{"over_budget", text, "the budget"}
		}
	}
	switch {
	case c.unseen == nil || e.Price == event.Free:
	case e.High == nil:
		return doubt{"over_approval", "what the plan may cost is not known", "--approve-over to none"}
	case int64(*e.High) > *c.unseen:
		most := event.PicoUSD(*c.unseen)
		return doubt{"over_approval", fmt.Sprintf("the high estimate $%s is more than the $%s that start unseen", e.High.Rounded(), most.Rounded()), "--approve-over"}
	}
	return doubt{}
}

// over says what of the high estimate is not within what the run may still spend; nothing where all is. Where money
// cannot hold it, tokens do.
func (c *Colony) over(e *event.Estimate) string {
	usage, spent, _ := c.log.of("")
	if e.High != nil && e.Price != event.Free && c.caps.PicoUSD != nil {
		left := event.PicoUSD(*c.caps.PicoUSD)
		if spent != nil {
			left -= *spent
		}
		if *e.High > left {
			return fmt.Sprintf("the high estimate $%s is more than the $%s that are left of the budget", e.High.Rounded(), left.Rounded())
		}
	}
	if c.caps.Tokens != nil && (e.Price == event.Unknown || c.typed("run.max_tokens")) {
		if left := *c.caps.Tokens - usage.Input - usage.Output; e.Tokens.High > left {
			return fmt.Sprintf("the high estimate of %d tokens is more than the %d that are left", e.Tokens.High, left)
		}
	}
	return ""
}
