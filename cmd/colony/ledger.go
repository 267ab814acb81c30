package main

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"colony/hatch"

	"github.com/spf13/cobra"
)

func (a *app) ledgerCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "ledger", Short: "prove the bill, join it with others, hold it against the provider's", Args: exactArgs(0, 0),
		Long:    "Prove bills from their logs, carry them from machine to machine, and hold them against a provider's export.\n" + exitHelp,
		Example: "  colony ledger verify\n  colony ledger export --all -o bills.jsonl\n  colony ledger import bills.jsonl\n  colony ledger reconcile usage.csv",
		RunE:    func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.ledgerVerifyCmd(), a.ledgerExportCmd(), a.ledgerImportCmd(), a.ledgerReconcileCmd())
	return cmd
}

// open is a typed file for reading, or stdin.
func (a *app) open(path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(bufio.NewReader(a.in)), nil
	}
	f, err := os.Open(a.path(path))
	if err != nil {
		return nil, &hatch.Problem{Exit: 2, Code: "no_file", Message: fmt.Sprintf("%s cannot be read: %v", path, err), Next: "check its path"}
	}
	return f, nil
}
