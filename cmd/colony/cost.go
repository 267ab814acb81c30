package main

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"colony/event"
	"colony/hatch"
	"colony/ledger"
	"colony/view"

	"github.com/spf13/cobra"
)

func (a *app) costCmd() *cobra.Command {
	var state string
	var by []string
	cmd := &cobra.Command{
		Use: "cost [RUN]", Short: "the bill", Args: exactArgs(0, 1),
		Long: "Print what a run, or this repository where none is named, has cost: by ant, card, task, model or run.\n" +
			"An amount whose price is not known is unknown, never 0. What a damaged log does not tell is named, and the exit code\n" +
			"is 3 then.\n" + exitHelp,
		Example: "  colony cost\n  colony cost @ --by card --by model\n  colony cost --by task --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			house := hatch.Locate(a.where(state))
			pasts, err := billed(house, args)
			if err != nil {
				return err
			}
			return a.bill(cmd.Context(), pasts, by)
		},
	}
	cmd.Flags().StringArrayVar(&by, "by", []string{"ant"}, "group by `KEY`: "+strings.Join(ledger.Keys(), ", ")+" (twice for pairs)")
	a.stateFlag(cmd, &state)
	a.jsonFlag(cmd)
	laterFlags(cmd, "all", "since", "until", "month", "csv", "html", "chart", "compare", "merge-cards")
	return cmd
}

// bill prints what runs have cost.
func (a *app) bill(ctx context.Context, pasts []hatch.Past, by []string) error {
	var bad []damaged
	var last error
	bill, err := ledger.Fold(whole(pasts, func(p hatch.Past) iter.Seq2[event.Event, error] { return p.Events(ctx) }, &bad, &last))
	if err != nil {
		return err
	}
	if len(bad) > 0 {
		a.exit = 3
	}
	for _, p := range pasts {
		if p.Owned() {
			bill.Live(p.ID)
		}
	}
	table, err := bill.By(by...)
	if err != nil {
		return &hatch.Problem{Exit: 2, Code: "usage", Message: err.Error(), Next: "use --by " + strings.Join(ledger.Keys(), ", --by ")}
	}
	if a.json {
		return printJSON(a.out, struct {
			ledger.Table
			Damaged []damaged `json:"damaged,omitempty"`
		}{table, bad})
	}
	columns := width(a.out)()
	if columns == 0 {
		columns = 120
	}
	if _, err = fmt.Fprint(a.out, table.Text(columns, view.Line)); err != nil || len(bad) == 0 {
		return err
	}
	for _, d := range bad {
		fmt.Fprintf(a.out, "damaged: what %s cost after this is not in the bill: %s\n", view.Line(d.Run), view.Line(d.Error))
	}
	a.advise(last)
	return nil
}

// billed is the run that was named, else all of this repository.
func billed(house *hatch.House, args []string) ([]hatch.Past, error) {
	if len(args) == 0 {
		return house.Runs()
	}
	past, err := house.Find(args[0])
	return []hatch.Past{past}, err
}
