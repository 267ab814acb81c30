package main

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// typed runs the command in this process without a home, a key or a repository.
func typed(t *testing.T, args ...string) (code int, out, errors string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	home := t.TempDir()
	a := &app{
		args: args, in: strings.NewReader(""), out: &stdout, err: &stderr, slept: slept, environ: func() []string { return nil }, organisation: home,
		getenv: func(name string) string { return map[string]string{"HOME": home}[name] },
	}
	return run(context.Background(), a), stdout.String(), stderr.String()
}

// verbs are all commands that are not hidden, but the root, by their words.
func verbs() map[string]*cobra.Command {
	all := map[string]*cobra.Command{}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			if !sub.Hidden {
				all[strings.TrimPrefix(sub.CommandPath(), "colony ")] = sub
				walk(sub)
			}
		}
	}
	walk((&app{}).root())
	return all
}

// Every verb's help has an example that begins with the verb, and the exit codes.
func TestEveryVerbHasHelp(t *testing.T) {
	if n := len(verbs()); n < 10 {
		t.Fatalf("there are %d verbs: they were not found", n)
	}
	for verb := range verbs() {
		code, out, errors := typed(t, append(strings.Fields(verb), "--help")...)
		if code != 0 || errors != "" {
			t.Errorf("colony %s --help ended with %d and %q", verb, code, errors)
		}
		_, examples, _ := strings.Cut(out, "Examples:\n")
		if !strings.HasPrefix(strings.TrimSpace(examples), "colony "+verb) {
			t.Errorf("colony %s --help has no example of its own", verb)
		}
		if !strings.Contains(out, "Exit codes:") {
			t.Errorf("colony %s --help does not say its exit codes", verb)
		}
	}
}

// Every verb that lists or reports takes --json; an export is JSON.
func TestEveryVerbSpeaksJSON(t *testing.T) {
	for verb, cmd := range verbs() {
		if acts := []string{"stop", "pause", "retry", "steer", "answer", "ledger export"}; !slices.Contains(acts, verb) && !cmd.HasSubCommands() && cmd.Flags().Lookup("json") == nil {
			t.Errorf("colony %s takes no --json", verb)
		}
	}
}

// What the contract names and is not built is refused with exit 2, verbs and flags alike, also under --json.
func TestWhatIsNotBuiltIsRefused(t *testing.T) {
	var typedWords [][]string
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		words := strings.Fields(c.CommandPath())[1:]
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden {
				typedWords = append(typedWords, append(append([]string{}, words...), "--"+f.Name))
			}
		})
		for _, sub := range c.Commands() {
			if sub.Hidden {
				typedWords = append(typedWords, strings.Fields(sub.CommandPath())[1:])
			}
			walk(sub)
		}
	}
	walk((&app{}).root())
	if len(typedWords) < 5 {
		t.Fatalf("only %d verbs and flags wait to be built: they were not found", len(typedWords))
	}
	for _, words := range typedWords {
		code, out, errors := typed(t, words...)
		if code != 2 || out != "" || strings.Count(errors, "not built yet") != 1 {
			t.Errorf("colony %s: %d, %q, %q", strings.Join(words, " "), code, out, errors)
		}
	}
}
