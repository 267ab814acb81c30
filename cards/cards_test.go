package cards_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"colony/cards"
	"colony/strict"
)

// tools are all tools there are in this version.
func tools() []string {
	return []string{"ask", "done", "edit", "find", "list_tools", "plan", "read", "review", "sh", "symbols", "tool_search", "write"}
}

func texts(faults strict.Faults) []string {
	var list []string
	for _, f := range faults {
		list = append(list, fmt.Sprintf("%d:%d %s", f.Line, f.Column, f.Text))
	}
	return list
}

func TestParse(t *testing.T) {
	text := `name: fixer
description: Mends.
model: openai/gpt
effort: high
prompt: |
  Mend it.
tools: [read, done, "mcp__github__*"]
permissions: {allow: ["sh(go test:*)"], ask: ["sh(git push:*)"], deny: ["sh(rm -rf:*)"]}
caps: {usd: 2.00, tokens: 2000000, output: 16384, turns: 80, wall: 30m, calls: 600}
gates: [go vet ./..., true]
parallel: 4
`
	c, faults := cards.Parse("fixer.yaml", []byte(text))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	if c.Name != "fixer" || c.Description != "Mends." || c.Model != "openai/gpt" || c.Effort != "high" || c.Prompt != "Mend it.\n" || c.Parallel != 4 {
		t.Errorf("got %+v", c)
	}
	if fmt.Sprint(c.Tools, c.Permissions, c.Gates) != "[read done mcp__github__*] {[sh(go test:*)] [sh(git push:*)] [sh(rm -rf:*)]} [go vet ./... true]" {
		t.Errorf("got %v %v %v", c.Tools, c.Permissions, c.Gates)
	}
	if *c.Caps.PicoUSD != 2e12 || *c.Caps.Tokens != 2e6 || *c.Caps.Turns != 80 || *c.Caps.Calls != 600 || *c.Caps.Wall != 30*time.Minute || c.Caps.Output != 16384 {
		t.Errorf("got %+v", c.Caps)
	}
	if c.Source != "fixer.yaml" || c.Text != text || c.SHA256 != fmt.Sprintf("%x", sha256.Sum256([]byte(text))) {
		t.Errorf("got %s %s", c.Source, c.SHA256)
	}
}

// contract 53
func TestAllFaultsComeAtOnce(t *testing.T) {
	_, faults := cards.Parse("c.yaml", []byte(`nmae: x
escalate: openai/x
effort: huge
tools: [read, read, " ", 3]
sandbox: {level: "off", net: [a.test, a.test, ""]}
env: [A]
caps: {usd: 0, tokens: -1, output: 1.5, wall: soon}
gates: [" "]
parallel: 0
hatch: [scout]
skills: [a, a]
mcp: {servers: [b]}
extends: base
prompt: a
prompt: b
`))
	want := []string{
		`1:1 unknown key "nmae": did you mean name?`,
		`1:1 name is missing`,
		`3:9 unknown effort "huge": there are none, minimal, low, medium, high, xhigh`,
		`4:15 read is here twice: keep one`,
		`4:21 this entry is empty: delete it`,
		`4:26 want text, got a number: quote it to make it text`,
		`5:18 a card cannot take the sandbox away: that is the user's to say, with --sandbox off`,
		`5:39 a.test is here twice: keep one`,
		`5:47 this entry is empty: delete it`,
		`6:1 env is not built yet: delete this key`,
		`7:13 usd must be more than 0`,
		`7:24 tokens must be more than 0`,
		`7:36 want a whole number, got "1.5"`,
		`7:47 want a time span such as 10m, got "soon"`,
		`8:9 a gate needs a command`,
		`9:11 parallel must be more than 0`,
		`11:13 a is here twice: keep one`,
		`15:1 prompt is here twice: keep one`,
	}
	if got := texts(faults); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A card with skills has the tool that calls them up; a skill that is not there is named with the nearest.
func TestSkills(t *testing.T) {
	c, faults := cards.Parse("c", []byte("name: c\ntools: [read, done]\nskills: [changelog, pdf]\n"))
	if len(faults) > 0 || !slices.Equal(c.Tools, []string{"read", "done", "skill"}) {
		t.Errorf("%v: %v", c.Tools, faults)
	}
	want := "3:10 card c: unknown skill \"changelog\": did you mean change-log?\n3:21 card c: unknown skill \"pdf\": there are change-log, forms"
	if got := strings.Join(texts(cards.LintSkills(c, []string{"change-log", "forms"})), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := texts(cards.LintSkills(c, []string{"changelog", "pdf"})); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

func TestNames(t *testing.T) {
	for name, ok := range map[string]bool{"worker": true, "a-b_9": true, "Worker": false, "a b": false, "../x": false, "wоrker": false, "": false} {
		if _, faults := cards.Parse("c", fmt.Appendf(nil, "name: %q\n", name)); (len(faults) == 0) != ok {
			t.Errorf("%q: got %v, want ok %t", name, faults, ok)
		}
	}
}

// contract 53; cases PM01 and PM02
func TestLint(t *testing.T) {
	for name, c := range map[string]struct {
		tools string
		want  []string
	}{
		"right":               {"[read, done]", nil},
		"PM01":                {"[raed, grep]", []string{`2:8 card scout: tools does not list done, so its ants could never end: add done`, `2:9 card scout: unknown tool "raed": did you mean read?`, `2:15 card scout: unknown tool "grep": there are ask, done, edit, find, list_tools, plan, read, review, sh, symbols, tool_search, write`}},
		"PM02":                {"[]", []string{`2:8 card scout: tools does not list done, so its ants could never end: add done`}},
		"other case":          {"[Read, done]", []string{`2:9 card scout: unknown tool "Read": did you mean read?`}},
		"a blank":             {`[" read", done]`, []string{`2:9 card scout: unknown tool " read": did you mean read?`}},
		"a look-alike":        {"[rеad, done]", []string{`2:9 card scout: unknown tool "rеad" ("r\u0435ad"): did you mean read?`}},
		"a look-alike done":   {"[read, dоne]", []string{`2:8 card scout: tools does not list done, so its ants could never end: add done`, `2:15 card scout: unknown tool "dоne" ("d\u043ene"): did you mean done?`}},
		"a star is no wall":   {`["mcp__github__*", done]`, nil},
		"a star is no done":   {`["*"]`, []string{`2:8 card scout: tools does not list done, so its ants could never end: add done`}},
		"a zero-width letter": {"[\"read\u200b\", done]", []string{`2:9 card scout: unknown tool "read\u200b": did you mean read?`}},
	} {
		t.Run(name, func(t *testing.T) {
			card, faults := cards.Parse("scout.yaml", []byte("name: scout\ntools: "+c.tools+"\n"))
			if len(faults) > 0 {
				t.Fatal(faults)
			}
			if got := texts(cards.Lint(card, tools())); strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
	none, _ := cards.Parse("scout.yaml", []byte("name: scout\n"))
	if len(none.Tools) != 0 || len(cards.Lint(none, tools())) != 1 {
		t.Errorf("a card without tools has %v", none.Tools)
	}
}

// contract 53: unknown models
func TestLintModels(t *testing.T) {
	for model, want := range map[string]string{
		"default": "", "small": "", "openai/gpt": "", "ollama/a/b:7b": "",
		"gpt":      `2:8 card c: the model "gpt" names no provider: write provider/model, default, small`,
		"openai/":  `2:8 card c: the model "openai/" names no provider: write provider/model, default, small`,
		"openia/x": `2:8 card c: unknown provider "openia": did you mean openai?`,
		"acme/x":   `2:8 card c: unknown provider "acme": there are ollama, openai`,
	} {
		c, faults := cards.Parse("c.yaml", []byte("name: c\nmodel: "+model+"\nescalate: "+model+"\n"))
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		got := texts(cards.LintModels(c, []string{"ollama", "openai"}, []string{"default", "small"}))
		if strings.Join(got, "|") != strings.TrimPrefix(want+"|"+strings.Replace(want, "2:8", "3:11", 1), "|") {
			t.Errorf("%s: got %q", model, got)
		}
	}
}

func TestBuiltinCardsAreRight(t *testing.T) {
	for _, c := range cards.Builtin() {
		again, faults := cards.Parse(cards.BuiltinSource, []byte(c.Text))
		if len(faults) > 0 || len(cards.Lint(c, tools())) > 0 || again.SHA256 != c.SHA256 {
			t.Errorf("card %s: %v %v", c.Name, faults, cards.Lint(c, tools()))
		}
		if len(c.Prompt) > 3<<10 {
			t.Errorf("card %s: the prompt has %d bytes", c.Name, len(c.Prompt))
		}
		if c.Caps.PicoUSD == nil || c.Caps.Tokens == nil || c.Caps.Turns == nil || c.Caps.Calls == nil || c.Caps.Wall == nil || c.Caps.Output == 0 {
			t.Errorf("card %s: a cap is missing: %+v", c.Name, c.Caps) // contract 77
		}
	}
	worker := builtin(t, "worker")
	if !slices.Equal(worker.Tools, []string{"read", "find", "edit", "write", "sh", "symbols", "tool_search", "done", "ask"}) || *worker.Caps.PicoUSD != 2e12 {
		t.Errorf("got %+v", worker)
	}
}

// contract 54: user cards override built-in ones by name, trusted project ones override both
func TestShelf(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "worker.yaml", "name: worker\ntools: [done]\n")
	write(t, dir, "painter.yaml", "name: painter\ntools: [done]\n")
	write(t, dir, "notes.txt", "no card")
	s, faults := cards.Load(cards.Parts{Builtin: cards.Builtin(), UserDir: dir, Project: map[string][]byte{".colony/cards/p.yaml": []byte("name: painter\nmodel: x\n")}})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	var names []string
	for _, c := range s.List() {
		names = append(names, c.Name+" "+filepath.Base(c.Source))
	}
	if strings.Join(names, ",") != "painter p.yaml,queen built-in,resolver built-in,reviewer built-in,scout built-in,worker worker.yaml" {
		t.Errorf("got %v", names)
	}
	_, err := s.Get("paniter")
	var unknown *cards.UnknownError
	if !errors.As(err, &unknown) || unknown.Nearest != "painter" || err.Error() != `unknown card "paniter": did you mean painter?` {
		t.Errorf("got %v", err)
	}
	if _, err := s.Get("x"); err == nil || err.Error() != `unknown card "x": there are painter, queen, resolver, reviewer, scout, worker` {
		t.Errorf("got %v", err)
	}
}

func TestShelfFaults(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yaml", "name: same\n")
	write(t, dir, "b.yaml", "name: same\n")
	write(t, dir, "c.yaml", "name: [\n")
	if err := os.Mkdir(filepath.Join(dir, "d.yaml"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, faults := cards.Load(cards.Parts{UserDir: dir})
	var got []string
	for _, f := range faults {
		got = append(got, fmt.Sprintf("%s:%d %s", filepath.Base(f.File), f.Line, strings.ReplaceAll(f.Text, dir, "DIR")))
	}
	want := "d.yaml:0 cannot read this card: it is no regular file|b.yaml:1 card same is also in DIR/a.yaml: rename one|c.yaml:1 syntax: sequence end token ']' not found"
	if strings.Join(got, "|") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), want)
	}
	if s, faults := cards.Load(cards.Parts{UserDir: filepath.Join(dir, "none")}); len(faults) > 0 || len(s.List()) > 0 {
		t.Errorf("got %v", faults)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// FuzzParse holds that no input panics and that what is read without a fault can be linted and has a name.
func FuzzParse(f *testing.F) {
	f.Add([]byte("name: a\ntools: [read, 'x', \"*\"]\ncaps: {usd: 1}\n"))
	f.Add([]byte("~"))
	f.Add([]byte("name: a\npermissions: {allow: []}\neffort: low\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, faults := cards.Parse("f", data)
		if len(faults) == 0 && c.Name == "" {
			t.Error("a card without a name")
		}
		cards.Lint(c, tools())
	})
}
