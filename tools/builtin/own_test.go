package builtin_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"colony/tools"
	"colony/tools/builtin"
	"colony/tools/toolstest"
)

const ownText = `name: greet
description: |
  Greets somebody.
  More about it.
parameters:
  properties:
    who: {type: string, description: whom to greet}
    times: {type: integer, description: how often}
  required: [who]
command: |
  printf '%s %s\n' "$ARG_who" "$ARG_times"; pwd; printf '%s\n' "$ARGS" >&2
timeout: 5s
`

func own(t *testing.T, text string) builtin.Own {
	t.Helper()
	o, faults := builtin.ParseOwn("tools/greet.yaml", "greet", []byte(text), time.Minute)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return o
}

func TestOwnToolPassesTheSuite(t *testing.T) {
	toolstest.Run(t, toolstest.Suite{
		Tool: own(t, ownText),
		Good: []string{`{"who":"Ada"}`, `{"who":"x","times":3}`},
		Bad:  []string{`{}`, `{"who":3.5,"times":"x"}`, `{"who":"x","more":1}`},
	})
}

// The arguments reach the command as variables, never as parts of its line.
func TestOwnToolRunsItsCommand(t *testing.T) {
	w := newWorld(t)
	w.put("sub/f", "")
	w.cwd = w.path("sub")
	res, err := own(t, ownText).Run(t.Context(), w.env, raw(t, args{"who": "Ada; touch no `id`", "times": 1e15}))
	w.must(err)
	if want := "Ada; touch no `id` 1000000000000000\n" + w.env.Root + "\n[stderr]\n{"; !strings.HasPrefix(res.Text, want) || res.Fault != "" || *res.Exit != 0 {
		t.Errorf("%q, want %q", res.Text, want)
	}
	res, err = own(t, "name: greet\ndescription: d\ncommand: echo so far; sleep 100\ntimeout: 300ms\n").Run(t.Context(), w.env, raw(t, args{}))
	if w.must(err); res.Fault != tools.Timeout || !strings.Contains(res.Text, "so far") {
		t.Errorf("%q: %s", res.Fault, res.Text)
	}
	effects, err := own(t, "name: greet\ndescription: d\ncommand: touch made\n").Effects(w.env, raw(t, args{}))
	if w.must(err); effects.ReadOnly || !slices.Equal(effects.Writes, []string{w.path("sub/made")}) && !slices.Equal(effects.Writes, []string{w.path("made")}) {
		t.Errorf("%+v", effects)
	}
}

func TestOwnToolFaults(t *testing.T) {
	for text, says := range map[string]string{
		"name: other\ndescription: d\ncommand: c\n":                                                  "1:7: the tool is named other, and its file greet.yaml",
		"name: Greet\ndescription: d\ncommand: c\n":                                                  "1:7: a tool's name is",
		"name: greet\ncomand: c\n":                                                                   "did you mean command?",
		"name: greet\ndescription: d\ncommand: c\ntimeout: 11m\n":                                    "4:10: a call may take 10m0s at most",
		"name: greet\ndescription: d\ncommand: c\nparameters: [a]\n":                                 "are a JSON Schema of an object",
		"name: greet\ndescription: d\ncommand: c\nparameters: {type: string}\n":                      "the parameters' type is object",
		"name: greet\ndescription: d\ncommand: c\nparameters: {properties: {a-b: {type: string}}}\n": `the argument "a-b" cannot be a variable`,
		"name: greet\ndescription: d\ncommand: c\nparameters: {properties: [a]}\n":                   "properties names each argument",
		"name: greet\ndescription: d\ncommand: c\nreplace: maybe\n":                                  "4:10",
	} {
		if _, faults := builtin.ParseOwn("f", "greet", []byte(text), time.Minute); !strings.Contains(faults.Error(), says) || len(faults) == 0 {
			t.Errorf("%q: %v, want %s", text, faults, says)
		}
	}
}
