package main

import (
	"fmt"
	"io"
	"strings"

	"colony/cards"
	"colony/hatch"
	"colony/view"

	"github.com/spf13/cobra"
)

func (a *app) cardsExplain() *cobra.Command {
	cmd := &cobra.Command{
		Use: "explain NAME", Short: "what a card makes of an ant", Args: exactArgs(1, 1), Example: "  colony cards explain worker\n  colony cards explain scout --json",
		Long: "Show a card with all it extends: each value and where it comes from, the tools that its ants are shown and what\n" +
			"they cost in each request, and what its ants may never do. Tokens are an estimate: a quarter of the bytes.\n" + exitHelp,
		RunE: func(_ *cobra.Command, args []string) error {
			house, err := a.house("", nil)
			if err != nil {
				return err
			}
			e, err := house.Explain(args[0])
			if err != nil {
				return err
			}
			if a.json {
				return printJSON(a.out, explained(e))
			}
			return a.sayExplained(e)
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

// explained is what --json prints.
func explained(e hatch.Explained) map[string]any {
	return map[string]any{
		"card": rowOf(e.Card), "values": e.Values, "tools": e.Tools, "never": e.Never,
		"tokens": map[string]any{"tools": sumTokens(e.Tools), "system": e.System, "estimated": true},
	}
}

func (a *app) sayExplained(e hatch.Explained) error {
	fmt.Fprintf(a.out, "%s: %s\n%s, sha256 %s\n\n", view.Line(e.Card.Name), view.Line(e.Card.Description), view.Line(e.Card.Source), e.Card.SHA256[:8])
	if err := sayValues(a.out, e.Values); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "\nIts ants are shown\n")
	if err := sayTools(a.out, e.Tools); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "The prompt and the house rules: about %d tokens. Estimates: a quarter of the bytes. The repository's instructions come on top.\n", e.System)
	fmt.Fprintf(a.out, "\nIts ants may never\n")
	for _, one := range e.Never {
		fmt.Fprintf(a.out, "- %s\n", view.Line(one))
	}
	return nil
}

// sayValues prints each value on a line; of a long one its beginning.
func sayValues(out io.Writer, values []cards.Value) error {
	w := table(out, "KEY", "VALUE", "FROM")
	for _, v := range values {
		text := strings.Join(strings.Fields(v.Text), " ")
		row(w, v.Key, clip(view.Line(text), 60), v.From)
	}
	return w.Flush()
}

func (a *app) cardsSchema() *cobra.Command {
	cmd := &cobra.Command{
		Use: "schema", Short: "the JSON Schema of a card", Args: exactArgs(0, 0), Example: "  colony cards schema > card.schema.json",
		Long: "Print the JSON Schema of the card format, for editors.\n" + exitHelp,
		RunE: func(*cobra.Command, []string) error {
			text, err := cards.Schema()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.out, "%s\n", text)
			return err
		},
	}
	a.jsonFlag(cmd)
	return cmd
}
