package main

import (
	"fmt"
	"time"

	"colony/hatch"
	"colony/view"

	"github.com/spf13/cobra"
)

func (a *app) gcCmd() *cobra.Command {
	var state string
	cmd := &cobra.Command{
		Use: "gc", Short: "remove what runs left behind", Args: exactArgs(0, 0),
		Long: "Remove the worktrees, scratch directories, gate checkouts and refs of runs that have ended, where your own branches, tags\n" +
			"or remotes have all the work in them. Work that is uncommitted, ignored by git or not landed is kept, and named with\n" +
			"the reason. What run.setup left, and objects of colony's own git that nothing needs any more, go after two weeks\n" +
			"without use. What was said in a run goes with its log 30 days after the run ended, where nothing of it is kept; its charges\n" +
			"and receipts stay for ever, and `colony cost` and `colony blame` know them.\n" + exitHelp,
		Example: "  colony gc\n  colony gc --json | jq '.kept'",
		RunE: func(cmd *cobra.Command, args []string) error {
			tidied, err := hatch.Locate(a.where(state)).Tidy(cmd.Context(), time.Now())
			if err != nil {
				return err
			}
			return a.sayTidied(tidied)
		},
	}
	a.stateFlag(cmd, &state)
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) sayTidied(t hatch.Tidied) error {
	if a.json {
		return printJSON(a.out, t)
	}
	for _, one := range t.Removed {
		fmt.Fprintf(a.out, "removed  %-9s %s\n", one.Kind, view.Line(one.Name))
	}
	for _, one := range t.Kept {
		fmt.Fprintf(a.out, "kept     %-9s %s: %s\n", one.Kind, view.Line(one.Name), view.Line(one.Why))
	}
	_, err := fmt.Fprintf(a.out, "%d removed, %d kept\n", len(t.Removed), len(t.Kept))
	return err
}
