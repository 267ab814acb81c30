package cards_test

import (
	"os"
	"strings"
	"testing"

	"colony/cards"
)

// points reads one table of docs/prompts.md: the words by the point's number.
func points(t *testing.T, section string) map[string]string {
	t.Helper()
	data, err := os.ReadFile("../docs/prompts.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(data), "\n## "+section)
	if !ok {
		t.Fatalf("no section %s", section)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	words := map[string]string{}
	for _, line := range strings.Split(text, "\n") {
		cells := strings.Split(line, " | ")
		if len(cells) != 3 || strings.HasPrefix(line, "| point") {
			continue
		}
		number, what, _ := strings.Cut(strings.TrimPrefix(cells[0], "| "), " ")
		if what == "" || strings.TrimSuffix(cells[2], " |") == "" || words[number] != "" {
			t.Errorf("point %s has no text, no reason, or is there twice", number)
		}
		words[number] = cells[1]
	}
	return words
}

// held checks the prompt against its points in both ways.
func held(t *testing.T, prompt string, want []string, words map[string]string) {
	t.Helper()
	for _, number := range want {
		if words[number] == "" || !strings.Contains(prompt, words[number]) {
			t.Errorf("point %s is not in the prompt: %q", number, words[number])
		}
	}
	if len(words) != len(want) {
		t.Errorf("%d points are listed, %d wanted", len(words), len(want))
	}
	rest := prompt
	for _, text := range words {
		rest = strings.Replace(rest, text, "", 1)
	}
	for _, line := range strings.Split(rest, "\n") {
		if line = strings.Trim(line, "- "); strings.HasSuffix(line, ".") || len(strings.Fields(line)) > 3 {
			t.Errorf("no point gives the reason of %q", line)
		}
	}
}

func TestHouseRulesSayEveryPoint(t *testing.T) {
	rules, err := os.ReadFile("../ant/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(rules) > 2<<10 {
		t.Errorf("the house rules have %d bytes", len(rules))
	}
	held(t, string(rules), strings.Fields("S1a S1b S2a S2b S3a S3b S4a S4b S5a S5b S6a S6b S7a S7b S8 S9"), points(t, "House rules"))
}

func TestWorkersPromptSaysEveryPoint(t *testing.T) {
	held(t, cards.Builtin()[0].Prompt, strings.Fields("W0 W1 W2 W3 W4 W5 W6 W7 W8 W9 W10 W11 W12 W13 W14 W15 W16 W17"), points(t, "Worker"))
}
