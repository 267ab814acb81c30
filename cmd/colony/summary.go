package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"colony/event"
	"colony/hatch"
	"colony/view"
)

// printBrief says what is about to run, before anything is spent.
func printBrief(w io.Writer, b hatch.Brief) {
	fmt.Fprintf(w, "run %s: %s\n", b.Run, view.Line(b.Goal))
	switch {
	case b.Planned && b.Branch == "":
		fmt.Fprintf(w, "  base     %s, a plan by the queen and nothing else\n", short(b.Base))
	case b.Planned:
		fmt.Fprintf(w, "  base     %s, tasks by the queen, up to %d ants, branch %s\n", short(b.Base), b.Ants, b.Branch)
	default:
		fmt.Fprintf(w, "  base     %s, %d tasks, up to %d ants, branch %s\n", short(b.Base), b.Tasks, b.Ants, b.Branch)
	}
	for _, m := range b.Models {
		fmt.Fprintf(w, "  model    %s: %s (price %s)\n", m.Card, view.Line(m.Model), m.Price)
	}
	gates := strings.Join(b.Gates, "; ")
	if gates == "" {
		gates = "of the tasks only"
		if b.NoGate {
			gates = "none: what lands without one is unverified"
		}
	}
	fmt.Fprintf(w, "  gates    %s\n", view.Line(gates))
	if len(b.Setup) > 0 {
		fmt.Fprintf(w, "  setup    %s\n", view.Line(strings.Join(b.Setup, "; ")))
	}
	fmt.Fprintf(w, "  sandbox  %s by %s, mode %s\n", b.Level, b.Mechanism, b.Mode)
	for _, net := range b.Net {
		fmt.Fprintf(w, "  network  %s\n", view.Line(net))
	}
	fmt.Fprintf(w, "  budget   %s\n", budget(b.Caps))
	for _, h := range b.Held {
		fmt.Fprintf(w, "  no effect %s\n", view.Line(h))
	}
	if n := len(b.Left); n > 0 {
		word := "left out"
		if b.Taken {
			word = "taken in"
		}
		fmt.Fprintf(w, "  %s %d uncommitted files: %s\n", word, n, view.Line(clip(strings.Join(b.Left, ", "), 100)))
	}
}

func budget(c event.Caps) string {
	var parts []string
	if c.USD != nil {
		parts = append(parts, "$"+c.USD.String())
	}
	if c.Tokens != nil {
		parts = append(parts, fmt.Sprintf("%d tokens", *c.Tokens))
	}
	if c.WallMs != nil {
		parts = append(parts, (time.Duration(*c.WallMs) * time.Millisecond).String())
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// printSummary says what came of a run and what to do next.
func printSummary(w io.Writer, p palette, f event.RunFinished, b hatch.Brief, next []string) {
	landed, unverified := 0, 0
	for _, t := range f.Tasks {
		if t.Status == "landed" || t.Status == "no_change" {
			landed++
		}
	}
	fmt.Fprintf(w, "\n%s: %d of %d tasks landed on %s (base %s) in %s, %d tokens, %s of %s\n",
		p.paint(toneOf(f.Status), view.Line(withReason(f.Status, f.Reason))), landed, len(f.Tasks),
		f.Branch, short(f.Base), (time.Duration(f.WallMs) * time.Millisecond).Round(time.Millisecond), f.Usage.Input+f.Usage.Output, money(f.USD, f.Price), budget(b.Caps))
	rows := table(w, "TASK", "STATUS", "GATES", "COST", "COMMIT")
	for _, t := range f.Tasks {
		if t.Status == "landed" && !t.Verified {
			unverified++
		}
		row(rows, t.ID, withReason(t.Status, t.Reason), gatesWord(t), money(t.USD, t.Price), short(t.Commit))
	}
	rows.Flush()
	said := map[string]bool{"": true, f.Reason: true}
	for _, t := range f.Tasks {
		if !said[t.Detail] {
			said[t.Detail] = true
			fmt.Fprintf(w, "why: %s: %s\n", view.Line(t.ID), view.Line(clip(t.Detail, 400)))
		}
	}
	for _, k := range f.Kept {
		fmt.Fprintf(w, "kept: the work of %s on %s\n", view.Line(k.Task), view.Line(k.Ref))
	}
	for _, d := range f.Denied {
		fmt.Fprintf(w, "denied: %s of %s (%s)\n", view.Line(d.Tool), view.Line(d.Ant), view.Line(d.Rule))
	}
	for _, u := range f.Unclear {
		fmt.Fprintf(w, "unclear: %s of %s (%s) was cut off; nobody knows whether it had an effect\n", view.Line(u.Tool), view.Line(u.Ant), view.Line(u.Call))
	}
	if unverified > 0 {
		fmt.Fprintf(w, "unverified: %d tasks landed without any gate\n", unverified)
	}
	for _, n := range next {
		fmt.Fprintln(w, "next: "+n)
	}
}

func gatesWord(t event.TaskReport) string {
	if len(t.Receipt.Gates) == 0 {
		return "-"
	}
	passed := 0
	for _, g := range t.Receipt.Gates {
		if g.Exit == 0 {
			passed++
		}
	}
	return fmt.Sprintf("%d/%d passed", passed, len(t.Receipt.Gates))
}

// nextSteps are the commands that go on from a run.
func nextSteps(f event.RunFinished) []string {
	var next []string
	run := f.Branch[strings.LastIndex(f.Branch, "/")+1:]
	if f.Commit != f.Base {
		next = append(next, fmt.Sprintf("git diff %s %s", short(f.Base), f.Branch), "colony land "+run)
	}
	if f.Status != "landed" && f.Exit != 2 {
		next = append(next, "colony run -f PLAN --from "+run)
	}
	return append(next, "colony cost @")
}

func short(commit string) string {
	if len(commit) > 10 {
		return commit[:10]
	}
	return commit
}
