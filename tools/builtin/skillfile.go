package builtin

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"colony/strict"
	"colony/tools"
)

// SkillFile is the file of a skill's directory that describes it.
const SkillFile = "SKILL.md"

var skillName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// Bounds of a skill's name and description.
const (
	maxSkillName = 64
	maxSkillLine = 1024
)

// ParseSkill reads a skill in the form of agentskills.io: a head of YAML between lines of three dashes, with its name, which is
// its directory's too, and what it is for; then the instructions. Keys of the head that colony does not know are left aside.
func ParseSkill(source, dir string, data []byte) (tools.Skill, strict.Faults) {
	head, body, ok := parted(string(data))
	if !ok {
		return tools.Skill{}, strict.Faults{{File: source, Line: 1, Column: 1, Text: "a skill begins with a line of three dashes, its name and description as YAML, and three dashes again"}}
	}
	doc, faults := strict.Parse(source, []byte(head))
	if doc == nil {
		return tools.Skill{}, faults
	}
	s := tools.Skill{Body: strings.TrimSpace(body)}
	faults = append(faults, doc.DecodeAt("name", &s.Name)...)
	faults = append(faults, doc.DecodeAt("description", &s.Description)...)
	s.Description = strings.Join(strings.Fields(s.Description), " ")
	fault := func(key, text string) {
		if !doc.Has(key) {
			faults = append(faults, strict.Fault{File: source, Line: 1, Column: 1, Text: text})
			return
		}
		faults = append(faults, doc.Fault(key, text))
	}
	switch {
	case !skillName.MatchString(s.Name) || len(s.Name) > maxSkillName:
		fault("name", fmt.Sprintf("a skill's name is a-z, 0-9 and single dashes between, at most %d", maxSkillName))
	case s.Name != dir:
		fault("name", fmt.Sprintf("the skill is named %s, and its directory %s: give them one name", s.Name, dir))
	}
	if n := utf8.RuneCountInString(s.Description); n == 0 || n > maxSkillLine {
		fault("description", fmt.Sprintf("a skill's description says what it is for and when, in 1 to %d characters", maxSkillLine))
	}
	var words []string
	if doc.Kind("allowed-tools") == "list" {
		faults = append(faults, doc.DecodeAt("allowed-tools", &words)...)
	} else {
		text := ""
		faults = append(faults, doc.DecodeAt("allowed-tools", &text)...)
		words = ruleWords(text)
	}
	for _, word := range words {
		s.Allowed = append(s.Allowed, ourRule(word))
	}
	return s, faults.Sorted()
}

// parted takes a file apart. Lines of the head keep their numbers: the first line is blank.
func parted(text string) (head, body string, ok bool) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return "", "", false
	}
	head, body, ok = strings.Cut("\n"+rest, "\n---\n")
	if !ok {
		head, ok = strings.CutSuffix("\n"+rest, "\n---")
	}
	return head + "\n", body, ok
}

// ruleWords are rules with blanks or commas between them; what stands in parentheses is one word.
func ruleWords(text string) []string {
	depth := 0
	return strings.FieldsFunc(text, func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth = max(0, depth-1)
		case ' ', ',', '\t', '\n':
			return depth == 0
		}
		return false
	})
}

// foreignTools are what others call tools of ours.
var foreignTools = map[string]string{
	"Bash": "sh", "Shell": "sh", "Read": "read", "Write": "write", "Edit": "edit", "MultiEdit": "edit", "Glob": "find", "Grep": "find", "LS": "read",
	"WebFetch": "fetch", "WebSearch": "search",
}

func ourRule(word string) string {
	name, content, has := strings.Cut(strings.TrimSpace(word), "(")
	if ours := foreignTools[name]; ours != "" {
		name = ours
	}
	if has {
		return name + "(" + content
	}
	return name
}
