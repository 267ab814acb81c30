package hatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"colony/ant"
	"colony/queen"
	"colony/repo"
)

const (
	verdictReturns = 2   // how often a verdict on what was not read comes back
	listedFiles    = 400 // files that are named one by one
)

// review lets a reviewer read work and judge it. Its verdict counts once it has read every file that changed.
func (l *life) review(ctx context.Context) (out queen.Outcome, err error) {
	about := l.order.Review
	changed, err := l.repo.Files(ctx, about.From, l.order.Base)
	if err != nil {
		return out, err
	}
	must := changed
	if about.Since != "" {
		since, err := l.repo.Files(ctx, about.Since, l.order.Base)
		if err != nil {
			return out, err
		}
		must = slices.DeleteFunc(slices.Clone(changed), func(f string) bool { return !slices.Contains(since, f) })
	}
	first := l.reviewed(changed)
	if l.order.Told = first; about.Round > 1 {
		l.order.Told = l.reviewedAgain(must)
	}
	l.order.Kind = "review"
	err = l.lead(ctx, first, func(ctx context.Context) (ended ant.Reason, err error) {
		out, ended, err = l.judge(ctx, must)
		return ended, err
	})
	out.Asked = out.Reason != queen.Done && l.denied.Load()
	var held *repo.HeldError // what a reviewer leaves behind is no work
	if gone := l.tree.Remove(context.WithoutCancel(ctx)); gone != nil && !errors.As(gone, &held) {
		err = errors.Join(err, gone)
	}
	return out, err
}

// judge works until there is a verdict on what was read, or there will be none.
func (l *life) judge(ctx context.Context, must []string) (queen.Outcome, ant.Reason, error) {
	for returned := 0; ; returned++ {
		ending, err := l.ant.Work(ctx)
		if err != nil {
			return queen.Outcome{}, "", err
		}
		if ending.Reason != ant.Done {
			return l.stopped(ending), ending.Reason, nil
		}
		read, err := l.readings(ctx)
		if err != nil {
			return queen.Outcome{}, "", err
		}
		if read.verdict == nil {
			return queen.Outcome{Reason: queen.NoProgress, Detail: "it ended without a call of review"}, ending.Reason, nil
		}
		missed := slices.DeleteFunc(slices.Clone(must), func(f string) bool { return read.files[f] })
		if len(missed) == 0 {
			verdict, findings, err := queen.ReadVerdict(read.verdict)
			return queen.Outcome{Reason: queen.Done, Verdict: verdict, Findings: findings}, ending.Reason, err
		}
		if returned == verdictReturns {
			return queen.Outcome{Reason: queen.NoProgress, Detail: "it judged without reading " + strings.Join(missed, ", ")}, ending.Reason, nil
		}
		text := "Your verdict does not count yet: you have not read these changed files, nor their diff:\n" + listed(missed) +
			"Read each, by read or by git diff with its path, then call review again with all findings."
		if err := l.ant.Tell(ctx, "nudge", text); err != nil {
			return queen.Outcome{}, "", err
		}
	}
}

// reviewed is what a reviewer is told first: the task, what changed and what the gates said; not a word of the author's.
func (l *life) reviewed(changed []string) string {
	var b strings.Builder
	about := l.order.Review
	fmt.Fprintf(&b, "Task %s: %s\n\nReview the work that was done on this task. Its author was told:\n\n%s\n", l.order.Task, l.order.Title, strings.TrimSpace(l.order.Prompt))
	if len(about.Receipt) > 0 {
		b.WriteString("\nIt is done when these gates pass. Colony ran them on the work:\n")
		for _, g := range about.Receipt {
			fmt.Fprintf(&b, "- `%s` ended with %d\n", g.Command, g.Exit)
		}
	}
	if len(about.Inputs) > 0 {
		b.WriteString("\nThese decide what a gate runs, or are tests of which fewer run now. Look at them first:\n" + listed(about.Inputs))
	}
	fmt.Fprintf(&b, "\nYour worktree holds the work, at commit %s. It changed since %s:\n%s", l.order.Base, about.From, listed(changed))
	fmt.Fprintf(&b, "\n`git diff %s %s -- FILE` shows what it changed in a file; the files beside it are yours to read too.\n", about.From, l.order.Base)
	return b.String()
}

// reviewedAgain is what a reviewer is told of the next round.
func (l *life) reviewedAgain(must []string) string {
	about := l.order.Review
	text := fmt.Sprintf("Round %d: the author changed the work. Your worktree holds it now, at commit %s.\n", about.Round, l.order.Base)
	if len(about.Old) > 0 {
		text += "\nYour findings of the last round:\n" + queen.List(about.Old)
	}
	return text + "\nChanged since you read it:\n" + listed(must) +
		fmt.Sprintf("\n`git diff %s %s -- FILE` shows what changed since then. Look at the old findings and at what the changes broke, then call review.\n", about.Since, l.order.Base)
}

// listed is paths, one a line, as text that no path can break out of.
func listed(paths []string) string {
	var b strings.Builder
	for _, p := range paths[:min(len(paths), listedFiles)] {
		if strings.IndexFunc(p, unicode.IsControl) >= 0 {
			p = strconv.Quote(p)
		}
		b.WriteString("- " + p + "\n")
	}
	if more := len(paths) - listedFiles; more > 0 {
		fmt.Fprintf(&b, "- and %d more: git diff --name-only names them\n", more)
	}
	return b.String()
}
