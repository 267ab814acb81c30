package main

import (
	"fmt"
	"os"

	"colony/cards"
	"colony/hatch"
	"colony/strict"

	"github.com/spf13/cobra"
)

func (a *app) cardsCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "cards", Short: "list, show and check cards", Args: exactArgs(0, -1), Long: "List, show and check cards." + exitHelp,
		Example: "  colony cards list\n  colony cards show worker\n  colony cards lint .colony/cards/worker.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownVerb(cmd, args[0])
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(a.cardsList(), a.cardsShow(), a.cardsLint(), a.cardsExplain(), a.cardsImport(), a.cardsSchema())
	return cmd
}

// cardRow is a card in a list.
type cardRow struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Source      string   `json:"source"`
	SHA256      string   `json:"sha256"`
	Model       string   `json:"model"`
	Tools       []string `json:"tools"`
}

func rowOf(c cards.Card) cardRow {
	return cardRow{c.Name, c.Description, c.Source, c.SHA256, c.Model, c.Tools}
}

func (a *app) cardsList() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "all cards", Args: exactArgs(0, 0), Long: "List all cards." + exitHelp, Example: "  colony cards list --json",
		RunE: func(*cobra.Command, []string) error {
			house, err := a.house("", nil)
			if err != nil {
				return err
			}
			rows := []cardRow{}
			for _, c := range house.Cards.List() {
				rows = append(rows, rowOf(c))
			}
			if a.json {
				return printJSON(a.out, map[string]any{"cards": rows})
			}
			w := table(a.out, "NAME", "SOURCE", "MODEL", "DESCRIPTION")
			for _, r := range rows {
				row(w, r.Name, r.Source, r.Model, r.Description)
			}
			return w.Flush()
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) cardsShow() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show NAME", Short: "a card's YAML", Args: exactArgs(1, 1), Long: "Print a card's YAML." + exitHelp, Example: "  colony cards show worker",
		RunE: func(_ *cobra.Command, args []string) error {
			house, err := a.house("", nil)
			if err != nil {
				return err
			}
			c, err := house.Cards.Get(args[0])
			if err != nil {
				return &hatch.Problem{Exit: 2, Code: "no_card", Message: err.Error(), Next: "colony cards list"}
			}
			if a.json {
				return printJSON(a.out, rowOf(c))
			}
			_, err = fmt.Fprint(a.out, c.Text)
			return err
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) cardsLint() *cobra.Command {
	cmd := &cobra.Command{
		Use: "lint [FILE...]", Short: "check card files", Args: exactArgs(0, -1),
		Long: "Check card files, or all cards where none is named: all faults at once, exit 3 where one is found." + exitHelp, Example: "  colony cards lint .colony/cards/*.yaml",
		RunE: func(_ *cobra.Command, args []string) error {
			faults, err := a.lint(args)
			if err != nil {
				return err
			}
			if len(faults) == 0 {
				if a.json {
					return printJSON(a.out, map[string]any{"checks": []strict.Fault{}})
				}
				return nil
			}
			p := hatch.FileProblem(faults)
			p.Exit = 3
			return p
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) lint(files []string) (strict.Faults, error) {
	var faults strict.Faults
	if len(files) == 0 {
		house, err := a.house("", nil)
		if err != nil {
			return nil, err
		}
		for _, c := range house.Cards.List() {
			faults = append(faults, house.LintCard(c)...)
		}
		return faults, nil
	}
	named := map[string][]byte{}
	for _, file := range files {
		data, err := os.ReadFile(a.path(file))
		if err != nil {
			return nil, &hatch.Problem{Exit: 2, Code: "no_file", Message: fmt.Sprintf("the card %s cannot be read", file), Next: "name a card file"}
		}
		named[a.path(file)] = data
	}
	// Where the house cannot be entered, as when one of these cards is what is wrong with it, only what comes with colony
	// is known.
	house, err := a.house("", nil)
	if err != nil {
		shelf, _ := cards.Load(cards.Parts{Builtin: cards.Builtin()})
		return shelf.Lint(named, func(c cards.Card) strict.Faults { return cards.Lint(c, hatch.ToolNames()) }), nil
	}
	return house.Cards.Lint(named, house.LintCard), nil
}
