package configs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"colony/strict"
)

// Section decodes a section into what into points to, by its yaml tags and the rules of strict: a struct, or
// for a section of entries, as providers, a map of structs by name. The error is strict.Faults that name the
// file or the variable; for a field that is no key of the default file it is another error. A text field takes
// any scalar, as variables and flags are texts too.
func (s *Settings) Section(name string, into any) error {
	if !slices.Contains(s.keys.sections, name) {
		return fmt.Errorf("section %s: there is none", name)
	}
	v := reflect.ValueOf(into).Elem()
	if !s.keys.maps[name] {
		faults, err := s.fields(name, v)
		if err != nil {
			return err
		}
		return faults.Sorted().Err()
	}
	var all strict.Faults
	v.Set(reflect.MakeMap(v.Type()))
	for _, entry := range s.entriesOf(name) {
		item := reflect.New(v.Type().Elem()).Elem()
		faults, err := s.fields(name+"."+entry, item)
		if err != nil {
			return err
		}
		all = append(all, faults...)
		v.SetMapIndex(reflect.ValueOf(entry), item)
	}
	return all.Sorted().Err()
}

// entriesOf are the names in a section of entries.
func (s *Settings) entriesOf(section string) []string {
	var names []string
	for key := range s.entries {
		if rest, ok := strings.CutPrefix(key, section+"."); ok {
			names = append(names, rest[:strings.LastIndex(rest, ".")])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// fields decodes each tagged field from the tier that gives it.
func (s *Settings) fields(prefix string, into reflect.Value) (strict.Faults, error) {
	var faults strict.Faults
	for i := range into.NumField() {
		name := into.Type().Field(i).Tag.Get("yaml")
		if name == "" || name == "-" {
			continue
		}
		key := prefix + "." + name
		switch s.keys.kind(key) {
		case "":
			return nil, fmt.Errorf("setting %s: there is none", key)
		case "list":
			faults = append(faults, s.list(key, into.Field(i))...)
		default:
			if v, ok := s.scalar(key); ok {
				faults = append(faults, v.field(into.Field(i))...)
			}
		}
	}
	return faults, nil
}

func (s *Settings) scalar(key string) (value, bool) {
	if s.keys.inMap(key) {
		v, ok := s.entries[key]
		return v, ok
	}
	return s.winner(key)
}

// list decodes all tiers' entries one after the other, each entry once.
func (s *Settings) list(key string, into reflect.Value) strict.Faults {
	var faults strict.Faults
	all := reflect.MakeSlice(into.Type(), 0, 0)
	for _, v := range s.lists[key] {
		part := reflect.New(into.Type())
		faults = append(faults, v.decode(part.Interface())...)
		for i := range part.Elem().Len() {
			if entry := part.Elem().Index(i); !holds(all, entry) {
				all = reflect.Append(all, entry)
			}
		}
	}
	into.Set(all)
	return faults
}

func holds(list, entry reflect.Value) bool {
	for i := range list.Len() {
		if reflect.DeepEqual(list.Index(i).Interface(), entry.Interface()) {
			return true
		}
	}
	return false
}

// Origin says where the key's value comes from: default, a file with its line, a variable or a flag; of a list
// that adds up, all that gave entries. It is "" for what is no key.
func (s *Settings) Origin(key string) string {
	var from []string
	for _, v := range s.lists[key] {
		if v.from != "default" || len(s.lists[key]) == 1 {
			from = append(from, v.origin())
		}
	}
	if v, ok := s.scalar(key); ok {
		from = append(from, v.origin())
	}
	return strings.Join(from, ", ")
}

// Text is the settings in force as YAML, the same for the same settings.
func (s *Settings) Text() string {
	var b strings.Builder
	for _, section := range s.keys.sections {
		fmt.Fprintf(&b, "%s:\n", section)
		for _, entry := range s.entriesOf(section) {
			var fields []string
			for _, field := range s.keys.names[section] {
				if v, ok := s.entries[section+"."+entry+"."+field]; ok {
					fields = append(fields, field+": "+v.text())
				}
			}
			fmt.Fprintf(&b, "  %s: {%s}\n", plain(entry, false), strings.Join(fields, ", "))
		}
		for _, name := range s.keys.names[section] {
			if !s.keys.maps[section] {
				fmt.Fprintf(&b, "  %s: %s\n", name, s.Get(section+"."+name))
			}
		}
	}
	return b.String()
}

// Get is the value in force as YAML text, and "" for what is no key.
func (s *Settings) Get(key string) string {
	if s.keys.kind(key) == "list" {
		all := []any{}
		s.list(key, reflect.ValueOf(&all).Elem())
		return jsonText(all)
	}
	if v, ok := s.scalar(key); ok {
		return v.text()
	}
	return ""
}

// SHA256 is the hash of Text.
func (s *Settings) SHA256() string {
	sum := sha256.Sum256([]byte(s.Text()))
	return hex.EncodeToString(sum[:])
}
