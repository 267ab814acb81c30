package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"colony/blame"
	"colony/event"
	"colony/guard/secrets"
	"colony/hatch"
	"colony/ledger"
	tables "colony/ledger/report"
	"colony/view"

	"github.com/spf13/cobra"
)

func (a *app) blameCmd() *cobra.Command {
	var state, page string
	cmd := &cobra.Command{
		Use: "blame FILE[:LINE]", Short: "which ant wrote each line, and what it cost", Args: exactArgs(1, 1),
		Long: "Say of each line of a file, as the commit has it that the checkout is at, which run, task, ant, card and model wrote it, and\n" +
			"what a line of that task cost. An ant is named only where it is proved: the log names the commit, or the commit says by its\n" +
			"trailers, or by a note of refs/notes/colony, of which task it is and changes the file as that task did, after a rebase or a\n" +
			"squash too. All else is unknown, with the reason. LINE may be a range, 10-20.\n" + exitHelp,
		Example: "  colony blame limiter/bucket.go\n  colony blame limiter/bucket.go:42 --json\n  colony blame limiter/bucket.go --html heat.html",
		RunE: func(cmd *cobra.Command, args []string) error {
			file, from, to := lineOf(args[0])
			blames, err := a.blames(cmd.Context(), hatch.Locate(a.where(state)), file, from, to)
			if err != nil {
				return err
			}
			if page != "" {
				if err := os.WriteFile(a.path(page), []byte(a.detector().Redact(tables.Heat(blames.Path, heated(blames), view.Line))), 0o600); err != nil {
					return &hatch.Problem{Exit: 2, Code: "no_file", Message: fmt.Sprintf("the page cannot be written: %v", err), Next: "name another file with --html"}
				}
				if !a.json {
					return nil
				}
			}
			if a.json {
				return printJSON(a.out, blames)
			}
			return a.sayBlames(blames)
		},
	}
	cmd.Flags().StringVar(&page, "html", "", "write the file as a heat map of what lines cost to `PAGE`")
	a.stateFlag(cmd, &state)
	a.jsonFlag(cmd)
	return cmd
}

// lineOf takes FILE:LINE or FILE:FROM-TO apart. What names no line is all file.
func lineOf(word string) (file string, from, to int) {
	i := strings.LastIndexByte(word, ':')
	if i < 0 {
		return word, 0, 0
	}
	first, last, ranged := strings.Cut(word[i+1:], "-")
	if !ranged {
		last = first
	}
	from, err := strconv.Atoi(first)
	to, wrong := strconv.Atoi(last)
	if err != nil || wrong != nil || from < 1 || to < from {
		return word, 0, 0
	}
	return word[:i], from, to
}

func (a *app) blames(ctx context.Context, house *hatch.House, file string, from, to int) (blame.File, error) {
	b := books{app: a, house: house}
	bill, err := b.bill(ctx, nil)
	if err != nil {
		return blame.File{}, err
	}
	if b.last != nil { // what a damaged log does not tell is not blamed on anybody
		fmt.Fprintf(a.err, "a log cannot be read to its end, and lines of its run may be unknown: %s\n", view.Line(b.last.Error()))
	}
	others, err := b.imported(true)
	if err != nil {
		return blame.File{}, err
	}
	var all ledger.Bill
	for _, run := range append(bill.Runs(), others...) {
		all.Join(run)
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(a.path("."), file)
	}
	blames, err := house.Blame(ctx, all.Runs(), file, from, to)
	a.mask(&blames)
	return blames, err
}

// mask puts markers in the place of lines that credentials lie on: one may go over several, which are shown apart.
func (a *app) mask(b *blame.File) {
	text, starts := b.Text(), []int{0}
	for i := range len(text) {
		if text[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	for _, found := range a.detector().Find(text) {
		for i, l := range b.Lines {
			if l.Line < len(starts) && found.From < starts[l.Line] && found.To > starts[l.Line-1] {
				b.Lines[i].Text = secrets.Marker(found.Kind)
			}
		}
	}
}

func (a *app) sayBlames(b blame.File) error {
	wide := 0
	for _, l := range b.Lines {
		wide = max(wide, len([]rune(blamedOn(l))))
	}
	wide = min(wide, 60)
	reasons := map[string]bool{}
	for _, l := range b.Lines {
		who := []rune(blamedOn(l))
		if len(who) > wide {
			who = append(who[:wide-1], '…')
		}
		fmt.Fprintf(a.out, "%5d  %-*s  %s\n", l.Line, wide, string(who), view.Text(l.Text))
		if l.Reason != "" && !reasons[l.Reason] {
			reasons[l.Reason] = true
		}
	}
	for _, l := range b.Lines {
		if reasons[l.Reason] {
			delete(reasons, l.Reason)
			fmt.Fprintf(a.out, "unknown: %s\n", view.Line(l.Reason))
		}
	}
	if b.Dirty {
		fmt.Fprintln(a.err, "the checkout has another content: what is not committed is not in it")
	}
	return nil
}

func blamedOn(l blame.Line) string {
	ant := "unknown"
	if l.Ant != "" {
		ant = l.Ant
	}
	if l.Run == "" {
		return ant
	}
	return view.Line(strings.Join([]string{ant, l.Task, l.Run, l.Card, l.Model, perLine(l)}, " "))
}

func perLine(l blame.Line) string {
	switch {
	case l.Price == event.Free:
		return "free"
	case l.USD == nil:
		return "cost unknown"
	}
	return "$" + l.USD.Rounded()
}

func heated(b blame.File) []tables.HeatLine {
	var out []tables.HeatLine
	for _, l := range b.Lines {
		who := blamedOn(l)
		if l.Reason != "" {
			who += ": " + l.Reason
		}
		out = append(out, tables.HeatLine{Line: l.Line, Text: l.Text, Who: who, Ant: l.Ant, USD: l.USD})
	}
	return out
}
