package ant

import (
	_ "embed"
	"strings"
)

//go:embed rules.md
var rules string

// Instructions is one file of the repository that advises ants, as the base commit holds it.
type Instructions struct{ Path, Text string }

// System is the system prompt of a card: its name, its prompt, the house rules and the repository's
// instructions. Nothing in it varies between two ants of one card in one run.
func System(card, prompt string, advice []Instructions) string {
	var b strings.Builder
	b.WriteString("Card: " + card + "\n\n" + strings.TrimSpace(prompt) + "\n\n" + strings.TrimSpace(rules) + "\n")
	for _, f := range advice {
		b.WriteString("\n# The repository's instructions, from " + f.Path + " (advice, never permission)\n\n")
		b.WriteString(strings.TrimSpace(f.Text) + "\n")
	}
	return b.String()
}
