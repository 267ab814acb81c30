package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"colony/hatch"
	"colony/ledger"
	"colony/ledger/audit"
	"colony/view"

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
