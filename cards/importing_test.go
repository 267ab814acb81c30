package cards_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"colony/cards"

	"pgregory.net/rapid"
)

// imported reads an agent file and the card that came of it.
func imported(t *testing.T, file, text string) (cards.Imported, cards.Card, []string) {
	t.Helper()
	in, err := cards.Import(file, []byte(text), tools())
	if err != nil {
		t.Fatal(err)
	}
	c, faults := cards.Parse("card.yaml", []byte(in.Text))
	if faults = append(faults, cards.Lint(c, tools())...); len(faults) > 0 {
		t.Fatalf("%v\n%s", faults, in.Text)
	}
	if c.Caps.PicoUSD == nil || c.Caps.Wall == nil || c.Name != in.Name {
		t.Errorf("a card without caps, or of another name: %s", in.Text)
	}
	var lost []string
	for _, l := range in.Lost {
		lost = append(lost, l.Key+"="+l.Value)
		if l.Why == "" || !strings.Contains(in.Text, "# Not carried over: "+l.Key+": "+l.Value+" ("+l.Why+")\n") {
			t.Errorf("the card does not say that it lost %+v:\n%s", l, in.Text)
		}
	}
	return in, c, lost
}

// contract 54: other tools' agent files import with a report of what could not be carried over
func TestImport(t *testing.T) {
	for name, tc := range map[string]struct {
		file, text string
		want       string // name|description|model|effort|tools|allow|deny|prompt
		lost       string
	}{
		"claude": {".claude/agents/code-reviewer.md", `---
name: code-reviewer
description: Reviews code after changes.
tools: Read, Grep, Glob, Bash(git diff:*), mcp__github__*, Frobnicate, WebFetch
disallowedTools: [Bash(rm:*), NotebookEdit]
model: sonnet
permissionMode: acceptEdits
maxTurns: 12
effort: max
isolation: worktree
background: true
hooks: {PreToolUse: []}
color: red
shiny: yes
---

You review code.

    indented
- and listed: here
`, "code-reviewer|Reviews code after changes.||xhigh|read find sh done|sh(git diff:*)|sh(rm:*)|You review code.\n\n    indented\n- and listed: here\n",
			`tools=Bash(git diff:*);tools=mcp__github__*;tools=Frobnicate;tools=WebFetch;model=sonnet;permissionMode=acceptEdits;effort=max;hooks={"PreToolUse":[]};color=red;shiny=yes`},
		"a head that is no YAML": {"agents/Big Helper.md", `---
name: Big Helper!
description: Use this when: the user says "x". Examples: <example>a: b</example>
tools:
  - Read
  - Edit
model: inherit
---
Help.
`, `big-helper|Use this when: the user says "x". Examples: <example>a: b</example>|||read edit done|||Help.` + "\n", "name=Big Helper!"},
		"claude without tools": {".claude/agents/all.md", "---\nname: all\ndescription: All.\ndisallowedTools: Write, Edit\nmodel: haiku\n---\nDo.\n",
			"all|All.|small||read find sh tool_search ask done|||Do.\n", "model=haiku;tools=no list"},
		"no tools at all": {".claude/agents/none.md", "---\nname: none\ndescription: N.\ntools: Nothing\n---\nDo.\n", "none|N.|||done|||Do.\n", "tools=Nothing"},
		"gemini": {"/repo/.gemini/agents/sec.md", "---\nname: sec\nkind: local\ndescription: Looks.\ntools: [read_file, grep_search, run_shell_command, mcp_x_*]\nmodel: gemini-2.5-pro\ntemperature: 0.2\nmax_turns: 7\ntimeout_mins: 3\n---\nLook.\n",
			"sec|Looks.|||read find sh done|||Look.\n", "tools=mcp_x_*;model=gemini-2.5-pro;temperature=0.2"},
		"codex": {".codex/agents/fast.toml", "name = \"fast\"\ndescription = \"Fast.\"\nmodel = \"gpt-x\"\nmodel_reasoning_effort = \"low\"\nsandbox_mode = \"workspace-write\"\nnickname_candidates = [\"A\"]\ndeveloper_instructions = \"\"\"\nBe fast.\nTwice.\n\"\"\"\n[mcp_servers.docs]\nurl = \"x\"\n",
			"fast|Fast.|openai/gpt-x|low|read find edit write sh tool_search ask done|||Be fast.\nTwice.\n", `mcp_servers={"docs":{"url":"x"}};nickname_candidates=["A"]`},
		"codex that only reads": {"x.toml", "name = \"ro\"\ndescription = \"R.\"\nsandbox_mode = \"read-only\"\ndeveloper_instructions = \"Read.\"\n",
			"ro|R.|||read find done|||Read.\n", "sandbox_mode=read-only"},
		"what steers a terminal": {".claude/agents/evil.md", "---\nname: evil\ndescription: \"a\\u202eb\"\ntools: Read\n---\nX\x1b[31m\u202ey\n", "evil|ab|||read done|||X[31my\n", "description=1 characters;prompt=2 characters"},
	} {
		t.Run(name, func(t *testing.T) {
			_, c, lost := imported(t, tc.file, tc.text)
			got := strings.Join([]string{c.Name, c.Description, c.Model, c.Effort, strings.Join(c.Tools, " "), strings.Join(c.Permissions.Allow, " "), strings.Join(c.Permissions.Deny, " "), c.Prompt}, "|")
			if got != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
			if strings.Join(lost, ";") != tc.lost {
				t.Errorf("lost %s\nwant %s", strings.Join(lost, ";"), tc.lost)
			}
			if name == "claude" && *c.Caps.Turns != 12 || name == "gemini" && (*c.Caps.Turns != 7 || c.Caps.Wall.Minutes() != 3) {
				t.Errorf("caps %+v", c.Caps)
			}
		})
	}
}

func TestImportRefuses(t *testing.T) {
	for file, tc := range map[string][2]string{
		"a.md":    {"no head", "it has no head"},
		"b.md":    {"---\nname: b\n", "its head has no end"},
		"c.md":    {"---\nname: c\n---\n\n", "it has no prompt"},
		"d.toml":  {"name = ", "it is no TOML"},
		"e.yaml":  {"name: e\n", "an agent file ends in .md or .toml"},
		"f.md":    {"---\nname: f\nkind: remote\n---\nF.\n", "only agents of kind local"},
		"g.md":    {"---\nname: g\n---\n" + strings.Repeat("x", 300<<10), "at most 262144"},
		"___.md":  {"---\nname: '!!'\n---\nF.\n", "no name that a card can have"},
		"h/.toml": {"", "no name that a card can have"},
	} {
		if _, err := cards.Import(file, []byte(tc[0]), tools()); err == nil || !strings.HasPrefix(err.Error(), file+": ") || !strings.Contains(err.Error(), tc[1]) {
			t.Errorf("%s: got %v, want %s", file, err, tc[1])
		}
	}
}

// A law: whatever the prompt is, the card has it, and no tool that was not listed.
func TestImportKeepsThePrompt(t *testing.T) {
	line := rapid.StringMatching(`[ \t]{0,3}[-#:|>'"{}\[\]a-zé%@&*!\\ ]{0,12}`).Filter(func(s string) bool { return s != "---" })
	rapid.Check(t, func(rt *rapid.T) {
		lines := append([]string{rapid.StringMatching(`[ \t]{0,3}[-#a-z]+!`).Draw(rt, "first")}, rapid.SliceOfN(line, 0, 8).Draw(rt, "lines")...)
		prompt := strings.Trim(strings.Join(lines, "\n"), "\n")
		in, err := cards.Import("x.md", fmt.Appendf(nil, "---\nname: x\ndescription: X\ntools: Read\n---\n%s\n", prompt), tools())
		if err != nil {
			rt.Fatal(err)
		}
		c, faults := cards.Parse("x.yaml", []byte(in.Text))
		if len(faults) > 0 || c.Prompt != prompt+"\n" || !slices.Equal(c.Tools, []string{"read", "done"}) {
			rt.Fatalf("got %q %v %v", c.Prompt, c.Tools, faults)
		}
	})
}

// FuzzImport holds that no agent file panics and that what is imported is a card without a fault.
func FuzzImport(f *testing.F) {
	f.Add("x.md", []byte("---\nname: x\ntools: Read, Bash(a:*)\n---\nX.\n"))
	f.Add("x.md", []byte("---\nname: a: b\ntools:\n- Read\n- mcp__x\nmodel: >-\n  x\n---\nX.\n"))
	f.Add(".gemini/agents/x.md", []byte("---\ntools: ['*']\nmax_turns: -1\n---\n  X\n"))
	f.Add("x.toml", []byte("name='x'\ndeveloper_instructions='y'\nsandbox_mode='read-only'\n[a.b]\nc=1979-05-27\n"))
	f.Fuzz(func(t *testing.T, file string, data []byte) {
		in, err := cards.Import(file, data, tools())
		if err != nil {
			return
		}
		c, faults := cards.Parse("card.yaml", []byte(in.Text))
		if faults = append(faults, cards.Lint(c, tools())...); len(faults) > 0 || c.Name != in.Name {
			t.Errorf("%v\n%s", faults, in.Text)
		}
	})
}
