package configs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/viper"

	"colony/strict"
)

// separator keeps viper from taking the dots of names apart.
const separator = "::"

// merge lays tier over tier.
type merge struct {
	*Settings
	faults strict.Faults
}

func newMerge() *merge {
	m := &merge{Settings: &Settings{keys: newSchema(), scalars: viper.NewWithOptions(viper.KeyDelimiter(separator)),
		lists: map[string][]value{}, entries: map[string]value{}, ceilings: map[string]value{}}}
	for _, key := range leaves(m.keys.doc, m.keys) {
		v := value{doc: m.keys.doc, key: key, from: "default"}
		switch {
		case m.keys.inMap(key):
			m.entries[key] = v
		case m.keys.kind(key) == "list":
			m.lists[key] = []value{v}
		default:
			m.scalars.SetDefault(viperKey(key), v)
		}
	}
	return m
}

func viperKey(key string) string { return strings.ReplaceAll(key, ".", separator) }

func (s *schema) inMap(key string) bool {
	section, _, _ := strings.Cut(key, ".")
	return s.maps[section]
}

// file lays a tier's file over what is there.
func (m *merge) file(t tier, path string, data []byte) {
	doc, faults := strict.Parse(path, data)
	m.faults = append(m.faults, faults...)
	if doc == nil {
		return
	}
	m.shape(doc)
	for _, key := range leaves(doc, m.keys) {
		v := value{doc: doc, key: key, from: path}
		if m.keys.kind(key) == "" {
			continue
		}
		if why := refused(t, key); why != "" {
			m.faults = append(m.faults, v.fault(why))
			continue
		}
		m.set(t, key, v)
	}
}

// shape finds unknown sections, keys, fields, and sections that are none.
func (m *merge) shape(doc *strict.Doc) {
	if kind := doc.Kind(""); kind == "scalar" || kind == "list" {
		m.faults = append(m.faults, doc.Fault("", "want sections such as run, got a "+kind))
	}
	for _, section := range doc.Names("") {
		if !slices.Contains(m.keys.sections, section) {
			m.unknown(doc, section, section, m.keys.sections)
			continue
		}
		m.names(doc, section, m.keys.names[section], m.keys.maps[section])
	}
}

func (m *merge) names(doc *strict.Doc, path string, known []string, entries bool) {
	if kind := doc.Kind(path); kind == "scalar" || kind == "list" {
		m.faults = append(m.faults, doc.Fault(path, fmt.Sprintf("want a mapping for %s, got a %s", path, kind)))
	}
	for _, name := range doc.Names(path) {
		switch at := path + "." + name; {
		case entries && strings.Contains(name, "."):
			m.faults = append(m.faults, doc.KeyFault(at, "a name here has no dot"))
		case entries:
			m.names(doc, at, known, false)
		case !slices.Contains(known, name):
			m.unknown(doc, at, name, known)
		}
	}
}

func (m *merge) unknown(doc *strict.Doc, path, name string, known []string) {
	text := fmt.Sprintf("unknown key %q", name)
	if near := strict.Nearest(name, known); near != "" {
		text += ": did you mean " + near + "?"
	}
	m.faults = append(m.faults, doc.KeyFault(path, text))
}

// set lays one value over what is there.
func (m *merge) set(t tier, key string, v value) {
	switch why := unusable(key, v.scalar()); {
	case why != "":
		m.faults = append(m.faults, v.fault(why))
	case m.keys.inMap(key):
		m.entries[key] = v
	case adds(key):
		m.lists[key] = append(m.lists[key], v)
	case m.keys.kind(key) == "list":
		m.lists[key] = []value{v}
	case t == organisation:
		m.ceiling(key, v)
	case t == begun && m.beyond(key, v):
		m.put(t, key, m.ceilings[key])
	case m.within(key, v):
		m.put(t, key, v)
	}
}

// ceiling is the most that any tier may have, and lowers the default to it.
func (m *merge) ceiling(key string, v value) {
	m.ceilings[key] = v
	if now, _ := m.winner(key); looser(key, now.scalar(), v.scalar()) {
		m.scalars.SetDefault(viperKey(key), v)
	}
}

// within says that the value is not beyond the organisation's.
func (m *merge) within(key string, v value) bool {
	if !m.beyond(key, v) {
		return true
	}
	most := m.ceilings[key]
	m.faults = append(m.faults, v.fault(fmt.Sprintf("%s may be at most %s: %s says so", key, most.scalar(), most.origin())))
	return false
}

func (m *merge) beyond(key string, v value) bool {
	most, bound := m.ceilings[key]
	return bound && looser(key, v.scalar(), most.scalar())
}

// put lays a scalar over what is there. A project's cap that is not lower is held.
func (m *merge) put(t tier, key string, v value) {
	now, _ := m.winner(key)
	switch {
	case t == typed:
		m.scalars.Set(viperKey(key), v)
	case t == project && caps(key) && looser(key, v.scalar(), now.scalar()):
		m.held = append(m.held, v.fault(fmt.Sprintf("%s stays %s (%s): a project may only lower it", key, now.scalar(), now.origin())))
	default:
		if err := m.scalars.MergeConfigMap(nested(key, v)); err != nil {
			m.faults = append(m.faults, v.fault(err.Error()))
		}
	}
}

// nested is the value under its section, as viper wants it.
func nested(key string, v value) map[string]any {
	section, name, _ := strings.Cut(key, ".")
	return map[string]any{section: map[string]any{name: v}}
}

// winner is the scalar in force.
func (s *Settings) winner(key string) (value, bool) {
	v, ok := s.scalars.Get(viperKey(key)).(value)
	return v, ok
}
