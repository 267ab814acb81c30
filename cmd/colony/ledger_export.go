package main

import (
	"bytes"
	"fmt"
	"os"

	"colony/hatch"
	"colony/view"

	"github.com/spf13/cobra"
)

func (a *app) ledgerExportCmd() *cobra.Command {
	var state, output string
	var all bool
	cmd := &cobra.Command{
		Use: "export [RUN]", Short: "bills and receipts as JSON lines, without what was said", Args: exactArgs(0, 1),
		Long: "Write the events that bills and receipts rest on, a JSON line each: no prompt, reply, argument, result or path. Another\n" +
			"machine takes them in with `colony ledger import`.\n" + exitHelp,
		Example: "  colony ledger export -o bills.jsonl\n  colony ledger export @ | ssh other colony ledger import -",
		RunE: func(cmd *cobra.Command, args []string) error {
			b := books{app: a, house: hatch.Locate(a.where(state)), all: all}
			pasts, err := b.pasts(args)
			if err != nil {
				return err
			}
			var text bytes.Buffer
			clean := a.detector().Redact
			for _, p := range pasts {
				if err := p.Export(cmd.Context(), &text, clean); unreadable(err) {
					b.damaged(p.ID, err)
				} else if err != nil {
					return err
				}
			}
			if output == "" || output == "-" {
				_, err = exactly(a.out).Write(text.Bytes()) // it is clean, and its digests hold
			} else if err = os.WriteFile(a.path(output), text.Bytes(), 0o600); err != nil {
				err = &hatch.Problem{Exit: 2, Code: "no_file", Message: fmt.Sprintf("the export cannot be written: %v", err), Next: "name another file with -o"}
			}
			if err != nil || len(b.bad) == 0 {
				return err
			}
			a.exit = 3
			for _, d := range b.bad {
				fmt.Fprintf(a.err, "damaged: %s is not in the export: %s\n", view.Line(d.Run), view.Line(d.Error))
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to `FILE`")
	cmd.Flags().BoolVar(&all, "all", false, "every repository")
	a.stateFlag(cmd, &state)
	return cmd
}
