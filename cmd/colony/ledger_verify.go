package main

import (
	"fmt"

	"colony/hatch"
	"colony/ledger/audit"
	"colony/view"

	"github.com/spf13/cobra"
)

func (a *app) ledgerVerifyCmd() *cobra.Command {
	var state string
	var all bool
	cmd := &cobra.Command{
		Use: "verify [RUN]", Short: "make bills anew from their logs and prove their sums", Args: exactArgs(0, 1),
		Long: "Read the log of a run, or of all runs of this repository, from its beginning: the chain of checksums, each charge against\n" +
			"the rate in force, totals that were written down against the sum of charges, kept blobs against their digests, and what\n" +
			"is kept for speed against what the log gives. Imported bills are read too. Exit 3 where something does not hold.\n" + exitHelp,
		Example: "  colony ledger verify\n  colony ledger verify @ --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			b := books{app: a, house: hatch.Locate(a.where(state)), all: all}
			pasts, err := b.pasts(args)
			if err != nil {
				return err
			}
			proofs := []audit.Proof{}
			for _, p := range pasts {
				proof, err := p.Verify(cmd.Context())
				if err != nil {
					return err
				}
				proofs = append(proofs, proof)
			}
			if len(args) == 0 {
				if _, err := b.imported(all); err != nil {
					return err
				}
			}
			if err := a.sayProofs(proofs); err != nil {
				return err
			}
			return b.told()
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "every repository")
	a.stateFlag(cmd, &state)
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) sayProofs(proofs []audit.Proof) error {
	for _, p := range proofs {
		if len(p.Faults) > 0 {
			a.exit = 3
		}
	}
	if a.json {
		return printJSON(a.out, map[string]any{"proofs": proofs})
	}
	for _, p := range proofs {
		word := "proved"
		if len(p.Faults) > 0 {
			word = "WRONG"
		}
		fmt.Fprintf(a.out, "%-7s %s: %d events, %d charges (%d worked out again from their rates), %d blobs, %s\n",
			word, view.Line(p.Run), p.Events, p.Charges, p.Priced, p.Blobs, money(p.USD, p.Price))
		for _, f := range p.Faults {
			fmt.Fprintf(a.out, "        %s\n", view.Line(f))
		}
	}
	return nil
}
