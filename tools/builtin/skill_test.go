package builtin_test

import (
	"slices"
	"strings"
	"testing"

	"colony/tools"
	"colony/tools/builtin"
)

func parsedSkill(t *testing.T, dir, text string) tools.Skill {
	t.Helper()
	s, faults := builtin.ParseSkill("skills/"+dir+"/SKILL.md", dir, []byte(text))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return s
}

func TestParseSkill(t *testing.T) {
	s := parsedSkill(t, "pdf-forms", "---\nname: pdf-forms\ndescription: >\n  Fills forms.\n  Use for PDF files.\nlicense: MIT\nmetadata: {a: b}\nallowed-tools: Bash(git status:*) Read, Grep\n---\n\n# Do it\n")
	if s.Description != "Fills forms. Use for PDF files." || s.Body != "# Do it" || !slices.Equal(s.Allowed, []string{"sh(git status:*)", "read", "find"}) {
		t.Errorf("%+v", s)
	}
	if s := parsedSkill(t, "a", "\ufeff---\r\nname: a\r\ndescription: d\r\nallowed-tools: [\"Bash(ls:*)\", edit]\r\n---"); s.Body != "" || !slices.Equal(s.Allowed, []string{"sh(ls:*)", "edit"}) {
		t.Errorf("%+v", s)
	}
	for text, says := range map[string]string{
		"# no head\n":    "1:1: a skill begins with a line of three dashes",
		"---\nname: x\n": "1:1: a skill begins with a line of three dashes",
		"---\nname: other\ndescription: d\n---\n":                             "2:7: the skill is named other, and its directory x",
		"---\nname: A_b\ndescription: d\n---\n":                               "2:7: a skill's name is",
		"---\nname: x\n---\n":                                                 "1:1: a skill's description says",
		"---\nname: x\nname: y\ndescription: d\n---":                          "3:1:",
		"---\nname: x\ndescription: [d]\n---\n":                               "3:14:",
		"---\nname: x\ndescription: " + strings.Repeat("d", 1025) + "\n---\n": "3:14: a skill's description",
	} {
		if _, faults := builtin.ParseSkill("f", "x", []byte(text)); !strings.Contains(faults.Error(), says) {
			t.Errorf("%.60q: %v, want %s", text, faults, says)
		}
	}
}

func TestSkill(t *testing.T) {
	w := newWorld(t)
	w.put("f", "one\n")
	w.env.Skills = []tools.Skill{
		{Name: "changelog", Body: "Write it for $ARGUMENTS.\nNow: !`cat f; printf '%s' \"$ARGUMENTS\"` and !`exit 3`", Files: map[string]string{"references/form.md": "# Form\n", "bin": "\x00", "none": ""}, At: "/tmp/skills/changelog"},
		{Name: "plain", Body: "Just do it."},
	}
	res := w.ok("skill", args{"name": "changelog", "arguments": "v1; $(touch no)"})
	want := "Write it for v1; $(touch no).\nNow: one\nv1; $(touch no) and  [`exit 3` ended with exit code 3]\n\n[files of this skill, in /tmp/skills/changelog for commands:\nchangelog/bin\nchangelog/none\nchangelog/references/form.md]"
	if res.Text != want {
		t.Errorf("%q\nwant %q", res.Text, want)
	}
	if res := w.ok("skill", args{"name": "plain", "arguments": "v1"}); res.Text != "Just do it.\n\nArguments: v1" {
		t.Errorf("%q", res.Text)
	}
	for name, text := range map[string]string{"changelog/references/form.md": "# Form\n", "changelog/bin": "bin of skill changelog is a binary file (1 bytes); commands find it in /tmp/skills/changelog", "changelog/none": "none of skill changelog is empty"} {
		if res := w.ok("skill", args{"name": name}); res.Text != text {
			t.Errorf("%s: %q", name, res.Text)
		}
	}
	w.fault(tools.Missing, "did you mean changelog?", "skill", args{"name": "changlog"})
	w.fault(tools.Missing, "there are changelog, plain", "skill", args{"name": "zzzzzzzz"})
	w.fault(tools.Missing, "did you mean references/form.md?", "skill", args{"name": "changelog/reference/form.md"})
	w.fault(tools.Missing, "has no files", "skill", args{"name": "plain/x"})
	w.env.Skills = nil
	w.fault(tools.Missing, "nor any other", "skill", args{"name": "plain"})
}

// A skill is judged by the commands in its text; one without any only reads.
func TestSkillEffects(t *testing.T) {
	w := newWorld(t)
	w.env.Skills = []tools.Skill{{Name: "a", Body: "!`git log` !`touch x/y`"}, {Name: "b", Body: "none", Files: map[string]string{"f": "!`rm x`"}}, {Name: "c", Body: "!`ls` !`if`"}}
	effects := func(name string) tools.Effects {
		e, err := tool("skill").Effects(w.env, raw(t, args{"name": name}))
		w.must(err)
		return e
	}
	if e := effects("a"); e.ReadOnly || !e.Known || len(e.Commands) != 2 || !slices.Equal(e.Writes, []string{w.path("x/y")}) || e.Subjects[0] != "a" {
		t.Errorf("%+v", e)
	}
	for _, name := range []string{"b", "b/f", "nowhere"} {
		if e := effects(name); !e.ReadOnly || !e.Known || e.Commands != nil {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if e := effects("c"); e.Known || e.ReadOnly || e.Commands != nil || !slices.Contains(e.Subjects, "if") {
		t.Errorf("%+v", e)
	}
}
