package configs

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Schema is the JSON Schema of a settings file, made from the default file: its keys and no others, each with its default
// and its comment. Which tier may set a key, and which values it takes, is said when the file is read.
func Schema() ([]byte, error) {
	s := newSchema()
	comments, defaults := map[string]string{}, map[string]string{}
	for _, k := range Keys() {
		comments[k.Name], defaults[k.Name] = k.Comment, k.Default
	}
	sections := map[string]any{}
	for _, section := range s.sections {
		properties := map[string]any{}
		for _, name := range s.names[section] {
			key := section + "." + name
			if s.maps[section] {
				key = section + ".*." + name
			}
			one := kindSchema(s.kinds[key])
			if text := comments[key]; text != "" {
				one["description"] = text
				one["default"] = json.RawMessage(jsonDefault(defaults[key]))
			}
			properties[name] = one
		}
		entry := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
		if s.maps[section] {
			entry = map[string]any{"type": "object", "additionalProperties": entry, "description": s.about(section, comments)}
		}
		sections[section] = entry
	}
	return json.MarshalIndent(map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Colony's settings",
		"type": "object", "properties": sections, "additionalProperties": false,
	}, "", "  ")
}

// about is the comment of a section of entries, which all its entries share.
func (s *schema) about(section string, comments map[string]string) string {
	for _, key := range slices.Sorted(maps.Keys(comments)) {
		if strings.HasPrefix(key, section+".") {
			return comments[key]
		}
	}
	return ""
}

func kindSchema(kind string) map[string]any {
	if kind == "list" {
		return map[string]any{"type": "array"}
	}
	return map[string]any{"type": []string{"string", "number", "boolean"}}
}

// jsonDefault is a default as JSON: lists and numbers are that already, other scalars are texts.
func jsonDefault(text string) string {
	if json.Valid([]byte(text)) {
		return text
	}
	return jsonText(text)
}
