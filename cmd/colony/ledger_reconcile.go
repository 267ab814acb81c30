package main

import (
	"fmt"
	"io"
	"strings"

	"colony/hatch"
	"colony/ledger"
	"colony/ledger/audit"
	"colony/view"

	"github.com/spf13/cobra"
)

func (a *app) ledgerReconcileCmd() *cobra.Command {
	var state string
	cmd := &cobra.Command{
		Use: "reconcile FILE", Short: "hold the bill against a provider's export", Args: exactArgs(1, 1),
		Long: "Compare the bills of all repositories with a provider's own export, by day (UTC) and model: CSV with a line of heads, or JSON\n" +
			"as the usage endpoints of OpenAI and Anthropic answer it. Exit 3 where they differ.\n" + exitHelp,
		Example: "  colony ledger reconcile usage-2026-10.csv",
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := a.open(args[0])
			if err != nil {
				return err
			}
			defer in.Close()
			b := books{app: a, house: hatch.Locate(a.where(state)), all: true}
			bill, err := b.bill(cmd.Context(), nil)
			if err != nil {
				return err
			}
			return a.reconcile(in, &b, &bill, args[0])
		},
	}
	a.stateFlag(cmd, &state)
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) reconcile(in io.Reader, b *books, bill *ledger.Bill, path string) error {
	rows, err := audit.Reconcile(in, bill)
	if err != nil {
		return &hatch.Problem{Exit: 2, Code: "bad_export", Message: fmt.Sprintf("%s is no usage export that can be read: %v", path, err), Next: "export usage by day and model, as CSV or JSON"}
	}
	off := 0
	for _, r := range rows {
		if len(r.Off) > 0 {
			off, a.exit = off+1, 3
		}
	}
	if a.json {
		if err := printJSON(a.out, map[string]any{"rows": rows, "off": off}); err != nil {
			return err
		}
		return b.told()
	}
	for _, r := range rows {
		word := "same"
		if len(r.Off) > 0 {
			word = strings.Join(r.Off, "; ")
		}
		fmt.Fprintf(a.out, "%s  %s  %s\n", view.Line(r.Day), view.Line(r.Model), view.Line(word))
	}
	fmt.Fprintf(a.out, "%d of %d differ\n", off, len(rows))
	return b.told()
}
