package guard

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"colony/guard/shell"
	"colony/strict"
)

// Rule is one permission rule: a tool, or a tool with content. Content is exact, "x:*", or holds wildcards.
type Rule struct {
	Text    string // as written
	Tool    string // a name, or the start of names where it ends in "*"
	Content string
	content bool
	command string // the content as a command is spelt
}

// Rules are the rules of all tiers together.
type Rules struct{ Allow, Ask, Deny []Rule }

// RuleError is a rule that cannot be read. Nearest is the tool that was probably meant, or empty.
type RuleError struct{ Rule, Why, Nearest string }

func (e *RuleError) Error() string {
	text := fmt.Sprintf("permission rule %q: %s", e.Rule, e.Why)
	if e.Nearest != "" {
		text += ": did you mean " + e.Nearest + "?"
	}
	return text
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9_.-]+\*?$`)

// renamed are names that other agents use for a tool of ours.
var renamed = map[string]string{"bash": "sh", "shell": "sh", "Bash": "sh", "grep": "find", "glob": "find", "apply_patch": "edit",
	"str_replace": "edit", "multiedit": "edit", "webfetch": "fetch", "websearch": "search"}

// ParseRule reads "tool" or "tool(content)". tools are the names there are; nil takes any. The error is a *RuleError.
func ParseRule(text string, tools []string) (Rule, error) {
	wrong := func(why string) (Rule, error) { return Rule{}, &RuleError{Rule: text, Why: why} }
	name, content, has := strings.Cut(text, "(")
	r := Rule{Text: text, Tool: name, content: has}
	if !toolName.MatchString(name) {
		return wrong(fmt.Sprintf("%q is not a tool name", name))
	}
	if has {
		if !strings.HasSuffix(content, ")") {
			return wrong("the parenthesis is not closed: write tool(content)")
		}
		r.Content = strings.TrimSuffix(content, ")")
	}
	switch prefix, ok := strings.CutSuffix(r.Content, ":*"); {
	case has && (r.Content == "" || ok && prefix == ""):
		return wrong("the content is empty: leave the parentheses out to mean every use of the tool")
	case strings.ContainsAny(r.Content, "\x00"):
		return wrong("the content holds a NUL byte")
	case ok && strings.Contains(prefix, "*"):
		return wrong("\":*\" and \"*\" do not go together: take one of them")
	case ok:
		r.command = shell.Canonical(prefix)
	case !strings.Contains(r.Content, "*"):
		r.command = shell.Canonical(r.Content)
	}
	if start, wild := strings.CutSuffix(name, "*"); tools != nil && !slices.ContainsFunc(tools, func(t string) bool {
		return t == name || wild && strings.HasPrefix(t, start)
	}) && !strings.HasPrefix(name, "mcp__") {
		return Rule{}, &RuleError{Rule: text, Why: "there is no tool " + name, Nearest: nearest(name, tools)}
	}
	return r, nil
}

func nearest(name string, tools []string) string {
	if ours := renamed[name]; slices.Contains(tools, ours) {
		return ours
	}
	return strict.Nearest(name, tools)
}

// ParseRules reads the three lists of a card or of settings. The error joins a *RuleError for each bad rule.
func ParseRules(allow, ask, deny, tools []string) (Rules, error) {
	var rules Rules
	var faults []error
	for _, list := range []struct {
		texts []string
		into  *[]Rule
	}{{allow, &rules.Allow}, {ask, &rules.Ask}, {deny, &rules.Deny}} {
		for _, text := range list.texts {
			r, err := ParseRule(text, tools)
			if err != nil {
				faults = append(faults, err)
				continue
			}
			*list.into = append(*list.into, r)
		}
	}
	return rules, errors.Join(faults...)
}

// Unite is the rules of both: deny beats ask beats allow whichever tier they come from.
func (r Rules) Unite(other Rules) Rules {
	return Rules{
		Allow: slices.Concat(r.Allow, other.Allow),
		Ask:   slices.Concat(r.Ask, other.Ask),
		Deny:  slices.Concat(r.Deny, other.Deny),
	}
}

// Names reports whether the rule is about the tool.
func (r Rule) Names(tool string) bool {
	start, wild := strings.CutSuffix(r.Tool, "*")
	return r.Tool == tool || wild && strings.HasPrefix(tool, start)
}

func (r Rule) exact() bool { return r.content && !strings.Contains(r.Content, "*") }

// holds reports whether the content matches a command, or a path or URL.
func (r Rule) holds(subject string, command bool) bool {
	prefix, isPrefix := strings.CutSuffix(r.Content, ":*")
	switch {
	case isPrefix && command:
		return begins(subject, prefix) || begins(subject, r.command)
	case isPrefix:
		return strings.HasPrefix(subject, prefix)
	case r.exact():
		return subject == r.Content || command && subject == r.command
	}
	return wildcard(r.Content, subject, command)
}

// begins reports whether a command is prefix, or prefix and more words.
func begins(command, prefix string) bool {
	rest, ok := strings.CutPrefix(command, prefix)
	return ok && (rest == "" || rest[0] == ' ')
}

// mayHold reports whether the rule could match a command some of whose words are not literal, by what stands
// before the first of them.
func (r Rule) mayHold(text string) bool {
	start := r.Content
	if r.command != "" {
		start = r.command
	}
	start, _, _ = strings.Cut(start, "*")
	if cut := strings.IndexAny(text, "$`\"*?[{~<"); cut >= 0 {
		text = text[:cut]
	}
	return strings.HasPrefix(start, text) || strings.HasPrefix(text, start)
}
