package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"colony/hatch"

	"github.com/spf13/cobra"
)

func (a *app) modelsCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "models", Short: "the models that colony knows", Args: exactArgs(0, 0), Example: "  colony models list",
		Long: "Look at the models that colony knows.\n" + exitHelp, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.modelsList())
	return cmd
}

func (a *app) modelsList() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "windows, prices and names of models", Args: exactArgs(0, 0), Example: "  colony models list\n  colony models list --json",
		Long: "List the models of the catalogue and those that the settings name under models: what they are called there, whether\n" +
			"their provider's key is set, how many tokens they take and give, and what a million tokens cost: input, input from\n" +
			"the cache, input written to it, output. Any other model of a provider can be used too; its price is unknown, or the\n" +
			"provider's. --json says also where the prices stand and when they were compared.\n" + exitHelp,
		RunE: func(*cobra.Command, []string) error {
			house, err := a.house("", nil)
			if err != nil {
				return err
			}
			list, err := house.Models(a.getenv)
			if err != nil {
				return err
			}
			if a.json {
				return printJSON(a.out, map[string]any{"models": list})
			}
			return sayModels(a.out, list)
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

func sayModels(out io.Writer, list []hatch.ShownModel) error {
	w := table(out, "MODEL", "NAMES", "KEY", "WINDOW", "OUTPUT", "PRICE", "CAN")
	for _, m := range list {
		price := string(m.Price)
		if r := m.Rates; r != nil {
			price = fmt.Sprintf("%s/%s/%s/%s", r.Input, r.Cached, r.CacheWrite, r.Output)
		}
		row(w, m.Model, cmp.Or(strings.Join(m.Names, ", "), "-"), m.Key, size(m.Window), size(m.Output), price, cmp.Or(strings.Join(m.Can, ", "), "-"))
	}
	return w.Flush()
}

// size is a number of tokens that may not be known.
func size(n int) string {
	if n == 0 {
		return "unknown"
	}
	return fmt.Sprint(n)
}
