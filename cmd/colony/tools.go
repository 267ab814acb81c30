package main

import (
	"fmt"
	"io"
	"strconv"

	"colony/hatch"

	"github.com/spf13/cobra"
)

func (a *app) toolsCmd() *cobra.Command {
	var card, explain string
	cmd := &cobra.Command{
		Use: "tools", Short: "the tools there are, or those of a card", Args: exactArgs(0, 0), Example: "  colony tools\n  colony tools --card scout --json\n  colony tools --card worker --explain sh",
		Long: "List the tools that a card may list, or with --card those that its ants are shown. Tokens are what a tool costs in\n" +
			"each request, an estimate: a quarter of the bytes. --explain says of one tool which rules and stages decide on its calls;\n" +
			"colony guard test says it of one call.\n" + exitHelp,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("explain") {
				return a.explainTool(card, explain)
			}
			list, err := a.toolsOf(cmd.Flags().Changed("card"), card)
			if err != nil {
				return err
			}
			if a.json {
				return printJSON(a.out, map[string]any{"tools": list})
			}
			return sayTools(a.out, list)
		},
	}
	cmd.Flags().StringVar(&card, "card", "", "only what ants of the card `NAME` are shown")
	a.jsonFlag(cmd)
	cmd.Flags().StringVar(&explain, "explain", "", "what decides on calls of the tool `NAME`")
	return cmd
}

func (a *app) toolsOf(one bool, card string) ([]hatch.ShownTool, error) {
	house, err := a.house("", nil)
	if err != nil {
		return nil, err
	}
	if !one {
		return house.AllTools()
	}
	return house.Tools(card)
}

func sayTools(out io.Writer, list []hatch.ShownTool) error {
	w := table(out, "TOOL", "TOKENS", "READS ONLY", "WHAT IT DOES")
	for _, t := range list {
		reads := "no"
		if t.ReadOnly {
			reads = "yes"
		}
		row(w, t.Name, strconv.Itoa(t.Tokens), reads, clip(t.Description, 80))
	}
	row(w, fmt.Sprintf("%d tools", len(list)), strconv.Itoa(sumTokens(list)), "", "")
	return w.Flush()
}

func sumTokens(list []hatch.ShownTool) int {
	sum := 0
	for _, t := range list {
		sum += t.Tokens
	}
	return sum
}
