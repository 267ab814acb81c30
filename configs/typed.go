package configs

import (
	"fmt"
	"slices"
	"strings"

	"colony/strict"
)

// variable lays COLONY_SECTION_KEY over what is there. A name of a section with a key that is none is a fault;
// other names that begin with COLONY_ are not settings.
func (m *merge) variable(name, text string) {
	keys := m.known()
	for _, key := range keys {
		if variableOf(key) == name {
			m.typed(key, name, text)
			return
		}
	}
	for _, section := range m.keys.sections {
		if strings.HasPrefix(name, variableOf(section)+"_") {
			names := make([]string, len(keys))
			for i, key := range keys {
				names[i] = variableOf(key)
			}
			why := "no setting has this name"
			if near := strict.Nearest(name, names); near != "" {
				why += ": did you mean " + near + "?"
			}
			m.faults = append(m.faults, strict.Fault{File: name, Text: why})
			return
		}
	}
}

func variableOf(key string) string {
	return "COLONY_" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(key))
}

// known are all keys there are by now.
func (m *merge) known() []string {
	var keys []string
	for key := range m.keys.kinds {
		if !m.keys.inMap(key) {
			keys = append(keys, key)
		}
	}
	for section := range m.keys.maps {
		for _, entry := range m.entriesOf(section) {
			for _, field := range m.keys.names[section] {
				keys = append(keys, section+"."+entry+"."+field)
			}
		}
	}
	slices.Sort(keys)
	return keys
}

// flag lays a typed option over what is there.
func (m *merge) flag(key, text string) {
	if m.keys.kind(key) == "" {
		m.faults = append(m.faults, strict.Fault{File: flagOf(key), Text: fmt.Sprintf("no setting has the name %q", key)})
		return
	}
	// A flag beats a variable though both are the user's for one command: Load lays flags last.
	m.typed(key, flagOf(key), text)
}

// flagOf is how a person types the key.
func flagOf(key string) string {
	switch key {
	case "run.gates":
		return "--gate"
	case "sandbox.level":
		return "--sandbox"
	}
	return "--" + strings.ReplaceAll(key[strings.LastIndex(key, ".")+1:], "_", "-")
}

// typed lays a text that stands in no file over what is there.
func (m *merge) typed(key, from, text string) {
	if m.keys.kind(key) != "list" {
		m.set(typed, key, value{from: from, raw: text})
		return
	}
	if !strings.HasPrefix(strings.TrimSpace(text), "[") {
		text = "[" + jsonText(text) + "]"
	}
	doc, faults := strict.Parse(from, []byte(text))
	m.faults = append(m.faults, faults...)
	if len(faults) == 0 {
		m.set(typed, key, value{doc: doc, from: from})
	}
}
