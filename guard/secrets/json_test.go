package secrets_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Law: a line of JSON whose texts hold canaries is JSON without them after it is redacted.
func TestJSONStaysJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		i := rapid.IntRange(0, len(canaries)-1).Draw(t, "canary")
		c := canaries[i]
		text.WriteString(rapid.SampledFrom([]string{"", "words\n", "a\t", "say \"", "{", "x: "}).Draw(t, "before"))
		text.WriteString(plain(c.before + c.secret + c.after))
		text.WriteString(rapid.SampledFrom([]string{"", "\nmore", "\"", "\t|", "}", " ."}).Draw(t, "after"))
		line, err := json.Marshal(map[string]string{"text": text.String()})
		if err != nil {
			t.Fatal(err)
		}
		got := detector().Redact(string(line))
		var back map[string]string
		if err := json.Unmarshal([]byte(got), &back); err != nil {
			t.Fatalf("%s became %s: %v", line, got, err)
		}
		secret, _, _ := strings.Cut(plain(c.secret), "\n")
		if strings.Contains(back["text"], secret) {
			t.Fatalf("%s: %q is still in %q", c.kind, secret, back["text"])
		}
	})
}
