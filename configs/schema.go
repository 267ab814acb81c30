package configs

import (
	"strings"

	"colony/strict"
)

// Key is one setting: its name as run.ants, its default as YAML text, and the comment of the default file.
type Key struct{ Name, Default, Comment string }

// schema is the shape of the default file. A section whose values are mappings, as providers, takes entries of
// any name with the fields that the default entries have.
type schema struct {
	doc      *strict.Doc
	sections []string
	kinds    map[string]string   // scalar or list by key; of map sections by field, as providers.*.wire
	names    map[string][]string // a section's keys, or a map section's fields
	maps     map[string]bool     // sections of entries
}

func newSchema() *schema {
	doc, _ := strict.Parse("default.yaml", defaults)
	s := &schema{doc: doc, sections: doc.Names(""), kinds: map[string]string{}, names: map[string][]string{}, maps: map[string]bool{}}
	for _, section := range s.sections {
		for _, name := range doc.Names(section) {
			key := section + "." + name
			if doc.Kind(key) == "mapping" {
				s.maps[section] = true
				for _, field := range doc.Names(key) {
					s.add(section, field, section+".*."+field, doc.Kind(key+"."+field))
				}
				continue
			}
			s.add(section, name, key, doc.Kind(key))
		}
	}
	return s
}

func (s *schema) add(section, name, key, kind string) {
	if _, ok := s.kinds[key]; !ok {
		s.kinds[key] = kind
		s.names[section] = append(s.names[section], name)
	}
}

// kind is scalar or list, and "" for what is no key.
func (s *schema) kind(key string) string {
	section, name, _ := strings.Cut(key, ".")
	if s.maps[section] {
		dot := strings.LastIndex(name, ".")
		if dot <= 0 {
			return ""
		}
		return s.kinds[section+".*."+name[dot+1:]]
	}
	return s.kinds[key]
}

// leaves are the keys that a document sets, in its order.
func leaves(doc *strict.Doc, s *schema) []string {
	var keys []string
	for _, section := range doc.Names("") {
		for _, name := range doc.Names(section) {
			key := section + "." + name
			if !s.maps[section] {
				keys = append(keys, key)
				continue
			}
			for _, field := range doc.Names(key) {
				keys = append(keys, key+"."+field)
			}
		}
	}
	return keys
}

// Keys are all settings, in the order of the default file.
func Keys() []Key {
	s := newSchema()
	lines := strings.Split(string(defaults), "\n")
	var keys []Key
	for _, name := range leaves(s.doc, s) {
		owner := name
		if section, _, _ := strings.Cut(name, "."); s.maps[section] {
			owner = section
		}
		line := s.doc.KeyFault(owner, "").Line
		keys = append(keys, Key{name, value{doc: s.doc, key: name}.text(), comment(lines[:line-1])})
	}
	return keys
}

// comment is the comment right above a line.
func comment(above []string) string {
	var text []string
	for i := len(above) - 1; i >= 0; i-- {
		line, ok := strings.CutPrefix(strings.TrimSpace(above[i]), "#")
		if !ok {
			break
		}
		text = append([]string{strings.TrimSpace(line)}, text...)
	}
	return strings.Join(text, " ")
}
