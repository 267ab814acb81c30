package queen

import (
	"context"
	"fmt"
	"strings"

	"colony/event"
)

// review is how far a task's work was looked at.
type review struct {
	approved string // the commit that a reviewer approved
	seen     string // the commit of the last verdict
	rounds   int    // verdicts
	returned int    // how often work went back because of one
	findings []event.Finding
}

// wantsReview reports whether a reviewer has to see the work before it lands.
func (r *run) wantsReview(t *task) bool {
	return (t.Review || r.p.Review) && t.review.approved != t.work
}

// review has a reviewer look at a task's work. Inputs are what changed of that which gates run, where that is why.
func (r *run) review(ctx context.Context, t *task, inputs []string) error {
	if r.p.Reviewer == "" {
		t.detail = "it needs a reviewer, and there is no such card"
		if len(inputs) > 0 {
			t.detail = "it changes what gates run (" + strings.Join(inputs, ", ") + ") and " + t.detail
		}
		return r.end(ctx, t, failed, "review")
	}
	r.send(t, reviewer, Order{Base: t.work, Kind: "review", Review: r.question(t, inputs)})
	return nil
}

// question is what a reviewer is asked about a task's work.
func (r *run) question(t *task, inputs []string) *Review {
	return &Review{From: t.from, Since: t.review.seen, Round: t.review.rounds + 1,
		Receipt: t.report.Receipt.Gates, Inputs: inputs, Old: t.review.findings}
}

// judged takes a reviewer's outcome. Work that it sends back goes to its author, a bounded number of times.
func (r *run) judged(ctx context.Context, t *task, o Outcome) error {
	if o.Verdict == "" {
		t.detail = "the reviewer gave no verdict: " + o.Detail
		status, reason := o.verdict()
		if status != cancelled && reason != string(Model) && !(reason == "caps" && o.Scope == "run") {
			status, reason = failed, "review"
		}
		return r.end(ctx, t, status, reason)
	}
	t.review.rounds++
	t.review.findings, t.review.seen = o.Findings, t.work
	done := event.ReviewDone{Reviewer: t.crew[reviewer].ant, Round: t.review.rounds, Verdict: o.Verdict, Findings: o.Findings}
	if err := r.append(ctx, event.Event{Task: t.ID, Ant: t.crew[reviewer].ant, Body: done}); err != nil {
		return err
	}
	if o.Verdict == Approve {
		t.review.approved = t.work
		r.wait(t)
		return nil
	}
	if t.review.returned >= r.p.Rounds || r.halted(ctx) {
		t.detail = fmt.Sprintf("sent back by the reviewer in round %d: %s", t.review.rounds, worst(o.Findings))
		return r.end(ctx, t, failed, "review")
	}
	t.review.returned++
	r.send(t, author, Order{Base: t.work, Kind: "review", Told: toldFindings(o.Findings)})
	return nil
}

// worst is the text of the gravest finding.
func worst(findings []event.Finding) string {
	if len(findings) == 0 {
		return "without a finding"
	}
	most := findings[0]
	for _, f := range findings {
		if f.Severity < most.Severity {
			most = f
		}
	}
	return fmt.Sprintf("%s:%d %s", most.File, most.Line, most.Text)
}

// toldFindings says to an author what a reviewer found.
func toldFindings(findings []event.Finding) string {
	return "A reviewer read your work and sends it back. Your worktree holds it as you left it.\n" + List(findings) +
		"Mend what has severity 0 or 1, and of the rest what is cheap; then call done. If a finding is wrong, end blocked with the evidence."
}

// List is findings as an ant reads them, a line each.
func List(findings []event.Finding) string {
	var b strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&b, "- %s:%d (severity %d) %s\n", f.File, f.Line, f.Severity, strings.Join(strings.Fields(f.Text), " "))
	}
	return b.String()
}
