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
			"An amount whose price is not known is unknown, never 0.\n" + exitHelp,
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
	bill, err := ledger.Fold(all(ctx, pasts))
	if err != nil {
		return err
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
		return printJSON(a.out, table)
	}
	columns := width(a.out)()
	if columns == 0 {
		columns = 120
	}
	_, err = fmt.Fprint(a.out, table.Text(columns, view.Line))
	return err
}

// billed is the run that was named, else all of this repository.
func billed(house *hatch.House, args []string) ([]hatch.Past, error) {
	if len(args) == 0 {
		return house.Runs()
	}
	past, err := house.Find(args[0])
	return []hatch.Past{past}, err
}

func all(ctx context.Context, pasts []hatch.Past) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for _, p := range pasts {
			for e, err := range p.Events(ctx) {
				if !yield(e, err) {
					return
				}
			}
		}
	}
}
