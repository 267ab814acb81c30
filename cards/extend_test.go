package cards_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"colony/cards"
	"colony/strict"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

// project loads cards of one source over the built-in ones.
func project(t *testing.T, texts ...string) (*cards.Shelf, []string) {
	t.Helper()
	files := map[string][]byte{}
	for i, text := range texts {
		files[fmt.Sprintf("%c.yaml", 'a'+i)] = []byte(text)
	}
	s, faults := cards.Load(cards.Parts{Builtin: cards.Builtin(), Project: files})
	var got []string
	for _, f := range faults {
		got = append(got, fmt.Sprintf("%s:%d:%d %s", f.File, f.Line, f.Column, f.Text))
	}
	return s, got
}

// contract 54: cards inherit
func TestExtends(t *testing.T) {
	s, faults := project(t,
		"name: fixer\nextends: base\nmodel: openai/x\ntools: [read, done]\ncaps: {turns: 5}\npermissions: {deny: []}\n",
		"name: base\nextends: worker\ndescription: Base.\ngates: [make]\npermissions: {allow: [read], deny: [sh]}\ncaps: {usd: none}\n")
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	c, err := s.Get("fixer")
	if err != nil {
		t.Fatal(err)
	}
	worker := builtin(t, "worker")
	if c.Name != "fixer" || c.Model != "openai/x" || c.Description != "Base." || c.Prompt != worker.Prompt || c.Effort != "medium" {
		t.Errorf("got %+v", c)
	}
	if got := fmt.Sprint(c.Tools, c.Gates, c.Permissions); got != "[read done] [make] {[read] [] []}" {
		t.Errorf("lists replace: got %s", got)
	}
	if c.Caps.PicoUSD != nil || *c.Caps.Turns != 5 || *c.Caps.Calls != 600 {
		t.Errorf("caps by key, none is a value: got %+v", c.Caps)
	}
	from := map[string]string{}
	for _, v := range c.Values() {
		from[v.Key] = v.From + " " + v.Text
	}
	for key, want := range map[string]string{
		"name": "a.yaml:1 fixer", "extends": "a.yaml:2 base", "model": "a.yaml:3 openai/x", "caps.turns": "a.yaml:5 5", "caps.usd": "b.yaml:6 none",
		"gates": `b.yaml:4 ["make"]`, "effort": "built-in card worker, line 6 medium", "parallel": "not set ",
	} {
		if from[key] != want {
			t.Errorf("%s: got %q, want %q", key, from[key], want)
		}
	}
	if !strings.Contains(c.Text, "# base, from b.yaml") || !strings.Contains(c.Text, worker.Text) || len(c.SHA256) != 64 {
		t.Errorf("the text does not hold all three: %s", c.Text)
	}
}

// A change of what is extended is another card, by its hash.
func TestExtendsChangesTheHash(t *testing.T) {
	hash := func(base string) string {
		s, faults := project(t, "name: a\nextends: b\n", "name: b\nmodel: "+base+"\n")
		c, err := s.Get("a")
		if err != nil || len(faults) > 0 {
			t.Fatal(err, faults)
		}
		return c.SHA256
	}
	x, y, again := hash("x"), hash("y"), hash("x")
	if x == y || x != again {
		t.Error("the hash does not follow the extended card")
	}
}

// contracts 53, 54: a card of one's own name is the weaker one; unknown ones and circles are named with their place
func TestExtendsFaults(t *testing.T) {
	s, faults := project(t, "name: worker\nextends: worker\nmodel: mine\n")
	c, err := s.Get("worker")
	if len(faults) > 0 || err != nil || c.Model != "mine" || c.Prompt != builtin(t, "worker").Prompt {
		t.Errorf("got %v %v %+v", faults, err, c)
	}
	for name, tc := range map[string]struct {
		texts []string
		want  string
	}{
		"itself":   {[]string{"name: x\nextends: x\n"}, "a.yaml:2:10 card x extends \"x\", which is no card here: there are queen, resolver, reviewer, scout, worker"},
		"nearest":  {[]string{"name: x\nextends: wroker\n"}, `a.yaml:2:10 card x extends "wroker", which is no card: did you mean worker?`},
		"a shape":  {[]string{"name: x\nextends: ../x\n"}, "a.yaml:2:10 a card's name is a-z, 0-9, dash and underscore, at most 64, and begins with a letter or digit"},
		"a circle": {[]string{"name: x\nextends: y\n", "name: y\nextends: z\n", "name: z\nextends: x\n"}, "a.yaml:2:10 the cards extend one another in a circle"},
	} {
		t.Run(name, func(t *testing.T) {
			_, faults := project(t, tc.texts...)
			if name == "a circle" {
				if len(faults) != 3 || !strings.Contains(strings.Join(faults, "|"), "circle: x, y, z, x") {
					t.Errorf("got %q", faults)
				}
				return
			}
			if len(faults) != 1 || faults[0] != tc.want {
				t.Errorf("got %q, want %q", faults, tc.want)
			}
		})
	}
}

// A law: each value of a card that extends others is that of the first card of the chain that gives it.
func TestTheNearestCardGivesTheValue(t *testing.T) {
	keys := []string{"model", "description", "prompt", "effort"}
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(rt, "n")
		files, want := map[string][]byte{}, map[string]string{}
		for i := range n {
			text := fmt.Sprintf("name: c%d\n", i)
			if i < n-1 {
				text += fmt.Sprintf("extends: c%d\n", i+1)
			}
			for _, key := range keys {
				if !rapid.Bool().Draw(rt, key) {
					continue
				}
				value := []string{"low", "high"}[i%2]
				text += key + ": " + value + "\n"
				if want[key] == "" {
					want[key] = value
				}
			}
			files[fmt.Sprintf("%d.yaml", i)] = []byte(text)
		}
		s, faults := cards.Load(cards.Parts{Project: files})
		if len(faults) > 0 {
			rt.Fatal(faults)
		}
		c, err := s.Get("c0")
		if err != nil {
			rt.Fatal(err)
		}
		got := map[string]string{"model": c.Model, "description": c.Description, "prompt": c.Prompt, "effort": c.Effort}
		for _, key := range keys {
			if got[key] != want[key] {
				rt.Errorf("%s: got %q, want %q", key, got[key], want[key])
			}
		}
	})
}

func TestLintSeesWhatIsExtended(t *testing.T) {
	s, faults := project(t)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	files := map[string][]byte{
		"good.yaml": []byte("name: good\nextends: worker\n"),
		"bad.yaml":  []byte("name: bad\nextends: good\ntools: [raed]\n"),
	}
	got := texts(s.Lint(files, func(c cards.Card) strict.Faults { return cards.Lint(c, tools()) }))
	want := []string{`3:8 card bad: tools does not list done, so its ants could never end: add done`, `3:9 card bad: unknown tool "raed": did you mean read?`}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// The schema has exactly the keys that a card can have, each with its meaning, and every one but the name and extends itself
// is taken over from an extended card.
func TestSchemaIsTheFormat(t *testing.T) {
	data, err := cards.Schema()
	if err != nil {
		t.Fatal(err)
	}
	type schema struct {
		Description string
		Properties  map[string]json.RawMessage
	}
	var leaves []string
	var walk func(path string, data []byte)
	walk = func(path string, data []byte) {
		var s schema
		if err := json.Unmarshal(data, &s); err != nil {
			t.Fatal(err)
		}
		if path != "" && s.Description == "" {
			t.Errorf("%s has no description", path)
		}
		if len(s.Properties) == 0 {
			leaves = append(leaves, path)
		}
		for name, one := range s.Properties {
			walk(strings.TrimPrefix(path+"."+name, "."), one)
		}
	}
	walk("", data)
	text := "name: whole\ndescription: D\nmodel: m\nescalate: e/m\neffort: low\ndiagnostics: errors\nprompt: p\ntools: [done]\npermissions: {allow: [read], ask: [edit], deny: [sh]}\n" +
		"sandbox: {level: workspace+net, net: [a.test]}\ncaps: {usd: 1, tokens: 2, output: 3, turns: 4, wall: 5m, calls: 6}\ngates: [make]\nhatch: [whole]\nskills: [s]\nmcp: {servers: [x], always: [mcp__x__y]}\nparallel: 7\n"
	s, faults := project(t, text, "name: child\nextends: whole\n")
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	child, err := s.Get("child")
	if err != nil {
		t.Fatal(err)
	}
	from := map[string]string{}
	for _, v := range child.Values() {
		from[v.Key] = v.From
	}
	for _, key := range leaves {
		if key != "name" && key != "extends" && !strings.HasPrefix(from[key], "a.yaml:") {
			t.Errorf("%s is not taken over: %q", key, from[key])
		}
	}
}

// Whatever the format takes the schema takes, and it refuses what the format refuses.
func TestSchemaJudgesAsTheFormatDoes(t *testing.T) {
	data, err := cards.Schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("card.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("card.json")
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{
		"name: A\n", "name: a\ntoolz: []\n", "name: a\ntools: x\n", "name: a\ntools: [1]\n", "name: a\neffort: huge\n", "name: a\ncaps: {usd: 0}\n",
		"name: a\ncaps: {usd: none, wall: 1h30m, turns: none}\n", "name: a\ncaps: {turns: 1.5}\n", "name: a\ncaps: {wall: soon}\n", "name: a\nparallel: 0\n",
		"name: a\nextends: b\n", "name: a\nextends: B\n", "name: a\ngates: [true, make]\n", "name: a\ngates: [[x]]\n", "name: a\nhatch: [scout]\n", "name: a\nhatch: [Scout]\n", "description: a\n",
		"name: a\ntools: [read, read]\n", "name: a\ncaps: {output: none}\n",
		"name: a\nsandbox: {level: workspace, net: none}\n", "name: a\nsandbox: {net: [a.test, registries]}\n", "name: a\nsandbox: {net: [a.test, a.test]}\n",
		"name: a\nsandbox: {level: off}\n", "name: a\nsandbox: {net: registries}\n", "name: a\nsandbox: {hosts: [a]}\n",
	}
	for _, c := range cards.Builtin() {
		texts = append(texts, c.Text)
	}
	for _, text := range texts {
		var v any
		if err := yaml.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		plain, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(plain))
		if err != nil {
			t.Fatal(err)
		}
		_, faults := cards.Parse("c.yaml", []byte(text))
		if err := schema.Validate(value); (err == nil) != (len(faults) == 0) {
			t.Errorf("%s\nthe schema says %v, the format %v", text, err, faults)
		}
	}
}
