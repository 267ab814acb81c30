package main

import (
	"fmt"

	"colony/hatch"
	"colony/view"

	"github.com/spf13/cobra"
)

func (a *app) ledgerImportCmd() *cobra.Command {
	var state string
	cmd := &cobra.Command{
		Use: "import FILE...", Short: "take bills of other machines in", Args: exactArgs(1, -1),
		Long: "Take exports in: - is stdin. What is known already counts once, however often it comes: attempts of requests are told\n" +
			"apart by the events of their logs. A run that went on elsewhere brings what is new of it. `colony cost --all` has them all.\n" + exitHelp,
		Example: "  colony ledger import ci-*.jsonl",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.inside(cmd); err != nil {
				return err
			}
			house := hatch.Locate(a.where(state))
			taken := []hatch.Taken{}
			for _, path := range args {
				in, err := a.open(path)
				if err != nil {
					return err
				}
				some, err := house.Import(cmd.Context(), in)
				in.Close()
				if err != nil {
					return err
				}
				taken = append(taken, some...)
			}
			if a.json {
				return printJSON(a.out, map[string]any{"runs": taken})
			}
			for _, t := range taken {
				fmt.Fprintf(a.out, "%-7s %s: %d events\n", t.Outcome, view.Line(t.Run), t.Events)
			}
			return nil
		},
	}
	a.stateFlag(cmd, &state)
	a.jsonFlag(cmd)
	return cmd
}
