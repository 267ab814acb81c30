package cards

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"colony/strict"

	"github.com/pelletier/go-toml/v2"
)

// agent is another tool's agent file, taken apart.
type agent struct {
	fields []field
	body   string
}

// field is one key of an agent file's head; its value is text, json.Number, bool, []any or map[string]any.
type field struct {
	key   string
	value any
}

// readMarkdown takes apart a head between two lines of three dashes and the prompt below.
func readMarkdown(data []byte) (agent, error) {
	text := strings.ReplaceAll(strings.TrimPrefix(string(data), "\ufeff"), "\r\n", "\n")
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return agent{}, errors.New("it has no head: an agent file begins with a line of three dashes")
	}
	head, body, ok := cutLine(rest, "---")
	if !ok {
		return agent{}, errors.New("its head has no end: a line of three dashes closes it")
	}
	doc, faults := strict.Parse("", []byte(head))
	if len(faults) > 0 || doc.Kind("") != "mapping" {
		return agent{loose(head), body}, nil
	}
	var fields []field
	for _, key := range doc.Names("") {
		f := field{key: key}
		doc.DecodeAt(key, &f.value)
		fields = append(fields, f)
	}
	return agent{fields, body}, nil
}

// cutLine cuts the text at the first line that is exactly the separator.
func cutLine(text, line string) (before, after string, found bool) {
	at := 0
	for one := range strings.SplitAfterSeq(text, "\n") {
		if strings.TrimRight(one, " \t\n") == line {
			return text[:at], text[at+len(one):], true
		}
		at += len(one)
	}
	return text, "", false
}

var keyLine = lazily(`^([A-Za-z][A-Za-z0-9_-]*):(?:[ \t]+(.*))?$`)

// loose reads a head that is no YAML, as many are whose descriptions hold a colon: a line that begins with a key opens a
// field, the lines that follow belong to it.
func loose(head string) []field {
	var fields []field
	for line := range strings.SplitSeq(head, "\n") {
		if m := keyLine().FindStringSubmatch(line); m != nil {
			fields = append(fields, field{m[1], m[2]})
		} else if n := len(fields) - 1; n >= 0 && strings.TrimSpace(line) != "" {
			fields[n].value = fmt.Sprint(fields[n].value) + "\n" + strings.TrimSpace(line)
		}
	}
	for i := range fields {
		fields[i].value = looseValue(strings.TrimSpace(fmt.Sprint(fields[i].value)))
	}
	return fields
}

// looseValue is a list where every line is an entry, else the text without its quotes or block mark.
func looseValue(text string) any {
	first, rest, _ := strings.Cut(text, "\n")
	if first == "|" || first == ">" || first == "|-" || first == ">-" {
		return rest
	}
	if lines := strings.Split(text, "\n"); strings.HasPrefix(text, "- ") {
		entries := []any{}
		for _, line := range lines {
			entries = append(entries, unquote(strings.TrimSpace(strings.TrimPrefix(line, "- "))))
		}
		return entries
	}
	if inner, ok := strings.CutPrefix(text, "["); ok && strings.HasSuffix(inner, "]") {
		entries := []any{}
		for _, one := range words(strings.TrimSuffix(inner, "]")) {
			entries = append(entries, unquote(one))
		}
		return entries
	}
	return unquote(text)
}

func unquote(text string) string {
	if len(text) > 1 && (text[0] == '"' || text[0] == '\'') && text[len(text)-1] == text[0] {
		return text[1 : len(text)-1]
	}
	return text
}

// readTOML takes a TOML file apart; its keys come by name.
func readTOML(data []byte) (agent, error) {
	var all map[string]any
	if err := toml.Unmarshal(data, &all); err != nil {
		return agent{}, fmt.Errorf("it is no TOML: %w", err)
	}
	var a agent
	for _, key := range slices.Sorted(maps.Keys(all)) {
		a.fields = append(a.fields, field{key, all[key]})
	}
	return a, nil
}

// words are the parts of a text between commas that stand in no parentheses.
func words(text string) []string {
	var out []string
	depth, from := 0, 0
	add := func(to int) {
		if word := strings.TrimSpace(text[from:to]); word != "" {
			out = append(out, word)
		}
		from = to + 1
	}
	for i, r := range text {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth = max(depth-1, 0)
		case (r == ',' || r == '\n') && depth == 0:
			add(i)
		}
	}
	add(len(text))
	return out
}

// plainText is a value as a person would write it on one line.
func plainText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case map[string]any, []any:
		if data, err := json.Marshal(v); err == nil {
			return string(data)
		}
	}
	return fmt.Sprint(value)
}
