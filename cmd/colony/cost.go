package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"colony/hatch"
	"colony/ledger"
	tables "colony/ledger/report"
	"colony/view"

	"github.com/spf13/cobra"
)

type costOptions struct {
	state, since, until, month, html string
	by                               []string
	all, merge, csv, chart, compare  bool
}

func (a *app) costCmd() *cobra.Command {
	var o costOptions
	cmd := &cobra.Command{
		Use: "cost [RUN]", Short: "the bill", Args: exactArgs(0, 2),
		Long: "Print what a run, or this repository where none is named, has cost. Bills that were imported are in it; --all takes in every\n" +
			"repository. --since, --until and --month bound it, in days of UTC, as providers count. --by groups it, twice for a matrix:\n" +
			"by tool, a request's input is shared out to the results and schemas that it held, and output is the conversation's.\n" +
			"Under it stand what a landed task and line cost, and what was spent for little, by whom and what to change.\n" +
			"An amount whose price is not known is unknown, never 0; ~ marks what was estimated. What a damaged log does not tell is\n" +
			"named, and the exit code is 3 then. --compare sets two runs, or two months, side by side.\n" + exitHelp,
		Example: "  colony cost\n  colony cost @ --by card --by model\n  colony cost --all --month 2026-10 --by repo\n  colony cost --by tool --json\n" +
			"  colony cost @ --html bill.html\n  colony cost --compare 2026-09 2026-10 --by card",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.cost(cmd, o, args)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.by, "by", []string{"ant"}, "group by `KEY`: "+strings.Join(tables.Keys(), ", ")+" or label:NAME (twice for a matrix)")
	f.BoolVar(&o.all, "all", false, "every repository")
	f.StringVar(&o.since, "since", "", "from this `DAY` on (UTC, like 2026-10-01)")
	f.StringVar(&o.until, "until", "", "up to this `DAY`, which is in")
	f.StringVar(&o.month, "month", "", "one `MONTH`, like 2026-10")
	f.BoolVar(&o.merge, "merge-cards", false, "cards of one name are one, whatever their source and content")
	f.BoolVar(&o.csv, "csv", false, "print CSV")
	f.StringVar(&o.html, "html", "", "write the bill as one page with charts to `FILE`")
	f.BoolVar(&o.chart, "chart", false, "draw bars and the course of time")
	f.BoolVar(&o.compare, "compare", false, "set two runs, or two months, side by side")
	a.stateFlag(cmd, &o.state)
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) cost(cmd *cobra.Command, o costOptions, args []string) error {
	opts, err := o.options(a.json, args)
	if err != nil {
		return usage(cmd, err)
	}
	b := books{app: a, house: hatch.Locate(a.where(o.state)), all: o.all}
	if o.compare {
		return a.compare(cmd.Context(), b, opts, args)
	}
	bill, err := b.bill(cmd.Context(), args)
	if err != nil {
		return err
	}
	table, err := made(&bill, opts)
	if err != nil {
		return err
	}
	if err := a.show(o, &bill, table, b.bad); err != nil {
		return err
	}
	return b.told()
}

// options reads the bounds, and refuses what does not go together.
func (o costOptions) options(json bool, args []string) (tables.Options, error) {
	out := tables.Options{By: o.by, Since: o.since, Until: o.until, MergeCards: o.merge}
	many := 0
	for _, on := range []bool{o.csv, o.chart, o.html != "", o.compare} {
		if on {
			many++
		}
	}
	switch {
	case json && (o.csv || o.chart):
		return out, fmt.Errorf("--json goes with neither --csv nor --chart")
	case many > 1:
		return out, fmt.Errorf("--csv, --chart, --html and --compare do not go together")
	case o.compare && len(args) != 2, !o.compare && len(args) > 1:
		return out, fmt.Errorf("cost takes one RUN, and with --compare two runs or months")
	case o.compare && o.since+o.until+o.month != "" && slices.ContainsFunc(args, monthForm.MatchString):
		return out, fmt.Errorf("a month has its own bounds: leave --since, --until and --month out")
	case o.all && o.compare && !slices.ContainsFunc(args, monthForm.MatchString), o.all && len(args) > 0 && !o.compare:
		return out, fmt.Errorf("--all is every run: it goes with no RUN")
	case o.month != "" && (o.since != "" || o.until != ""):
		return out, fmt.Errorf("--month goes with neither --since nor --until")
	}
	for flag, day := range map[string]string{"--since": o.since, "--until": o.until} {
		if _, err := time.Parse(time.DateOnly, day); day != "" && err != nil {
			return out, fmt.Errorf("%s %q is no day like 2026-10-01", flag, day)
		}
	}
	if o.month == "" {
		return out, nil
	}
	err := monthly(&out, o.month)
	return out, err
}

func monthly(o *tables.Options, month string) error {
	first, err := time.Parse("2006-01", month)
	if err != nil {
		return fmt.Errorf("%q is no month like 2026-10", month)
	}
	o.Since, o.Until = first.Format(time.DateOnly), first.AddDate(0, 1, -1).Format(time.DateOnly)
	return nil
}

func made(bill *ledger.Bill, o tables.Options) (tables.Table, error) {
	table, err := tables.Make(bill, o)
	if err != nil {
		return table, &hatch.Problem{Exit: 2, Code: "usage", Message: err.Error(), Next: "use --by " + strings.Join(tables.Keys(), ", --by ")}
	}
	return table, nil
}

// show prints a bill as it was asked for.
func (a *app) show(o costOptions, bill *ledger.Bill, table tables.Table, bad []damaged) error {
	if o.html != "" {
		page, err := tables.Page(bill, tables.Options{By: table.Keys(), Since: table.Since, Until: table.Until, MergeCards: o.merge}, view.Line)
		if err != nil {
			return err
		}
		if err := os.WriteFile(a.path(o.html), []byte(a.detector().Redact(page)), 0o600); err != nil {
			return &hatch.Problem{Exit: 2, Code: "no_file", Message: fmt.Sprintf("the bill cannot be written: %v", err), Next: "name another file with --html"}
		}
		if !a.json {
			return nil
		}
	}
	var text string
	var err error
	switch {
	case a.json:
		return printJSON(a.out, struct {
			tables.Table
			Damaged []damaged `json:"damaged,omitempty"`
		}{table, bad})
	case o.csv:
		text, err = table.CSV(view.Line)
	case o.chart:
		text = table.Chart(a.columns(), view.Line)
	default:
		text = table.Text(a.columns(), view.Line)
	}
	if err == nil {
		_, err = fmt.Fprint(a.out, text)
	}
	return err
}

func (a *app) columns() int {
	if columns := width(a.out)(); columns > 0 {
		return columns
	}
	return 120
}

var monthForm = regexp.MustCompile(`^\d{4}-\d{2}$`)

// compare sets two runs or months side by side.
func (a *app) compare(ctx context.Context, b books, opts tables.Options, args []string) error {
	var sides [2]tables.Table
	for i, word := range args {
		runs, within := []string{word}, opts
		if monthForm.MatchString(word) {
			runs = nil
			if err := monthly(&within, word); err != nil {
				return &hatch.Problem{Exit: 2, Code: "usage", Message: err.Error(), Next: "colony cost --compare 2026-09 2026-10"}
			}
		}
		bill, err := b.bill(ctx, runs)
		if err != nil {
			return err
		}
		if sides[i], err = made(&bill, within); err != nil {
			return err
		}
	}
	c := tables.Compare(args[0], sides[0], args[1], sides[1])
	if a.json {
		if err := printJSON(a.out, c); err != nil {
			return err
		}
		return b.told()
	}
	if _, err := fmt.Fprint(a.out, c.Text(a.columns(), view.Line)); err != nil {
		return err
	}
	return b.told()
}
