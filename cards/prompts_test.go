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
	held(t, string(rules), strings.Fields("S1a S1b S2a S2b S3a S3b S4a S4b S5a S5b S6a S6b S7a S7b S7c S8 S9"), points(t, "House rules"))
}

func TestPromptsSayEveryPoint(t *testing.T) {
	for name, want := range map[string]string{
		"queen":    "Q0 Q1a Q1b Q2 Q3a Q3b Q3c Q3d Q4a Q4b Q4c Q5 Q6 Q7 Q8a Q8b Q10 Q11a Q11b",
		"worker":   "W0 W1 W2 W3 W4 W5 W6 W7 W8 W9 W10 W11 W12 W13 W14 W15 W16 W17",
		"scout":    "C0 C1 C2 C3 C4 C5 C6 C7 C8 C9",
		"reviewer": "R0a R0b R1 R2 R3 R4 R5 R6 R7 R8 R9 R10 R11a R11b R11c R12 R13 R14",
		"resolver": "V0a V0b V1 V2 V3 V4 V5 V6 V7 V8 V9 V10 V11",
	} {
		t.Run(name, func(t *testing.T) {
			held(t, builtin(t, name).Prompt, strings.Fields(want), points(t, strings.ToUpper(name[:1])+name[1:]))
		})
	}
}

// builtin is a card that comes with colony.
func builtin(t *testing.T, name string) cards.Card {
	t.Helper()
	for _, c := range cards.Builtin() {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no built-in card %s", name)
	return cards.Card{}
}

func TestCompactionSaysEveryPoint(t *testing.T) {
	prompt, err := os.ReadFile("../ant/compact.md")
	if err != nil {
		t.Fatal(err)
	}
	held(t, string(prompt), strings.Fields("K0 K1 K2 K3 K4 K5 K6 K7 K8 K9"), points(t, "Compaction"))
}
