package tools

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// shaper brings arguments to the shape that a schema wants, where the wish is plain: a string that is exactly a
// number, boolean, array or object; null for an optional field; a single value for a list. It does nothing
// else. On the way it finds fields that the schema does not know.
type shaper struct {
	coerced []string
	wrong   []error // *ArgError each
}

func (s *shaper) shape(at string, v any, schema map[string]any) any {
	want := typesOf(schema)
	if text, ok := v.(string); ok && len(want) > 0 && !fits(v, want) {
		if read, err := parse([]byte(text)); err == nil && text == strings.TrimSpace(text) && readable(read) && fits(read, want) {
			s.note(at, "the string "+clip(text)+" was read as JSON")
			v = read
		}
	}
	if v != nil && slices.Contains(want, "array") && !fits(v, want) {
		s.note(at, "a single value was put in a list")
		v = []any{v}
	}
	switch v := v.(type) {
	case map[string]any:
		return s.object(at, v, schema)
	case []any:
		items, _ := schema["items"].(map[string]any)
		for i := range v {
			v[i] = s.shape(index(at, i), v[i], items)
		}
	}
	return v
}

func (s *shaper) object(at string, v, schema map[string]any) any {
	props := properties(schema)
	for _, key := range slices.Sorted(maps.Keys(v)) {
		field, known := props[key]
		if !known {
			if closed(schema) {
				s.wrong = append(s.wrong, &ArgError{Field: clip(join(at, key)), Reason: "unknown field", Hint: fieldHint(key, props)})
			}
			continue
		}
		sub, _ := field.(map[string]any)
		want := typesOf(sub)
		if v[key] == nil && len(want) > 0 && !slices.Contains(want, "null") && !requires(schema, key) {
			s.note(join(at, key), "null was left out")
			delete(v, key)
			continue
		}
		v[key] = s.shape(join(at, key), v[key], sub)
	}
	return v
}

// note records a coercion.
func (s *shaper) note(at, what string) {
	if at == "" {
		at = "arguments"
	}
	s.coerced = append(s.coerced, clip(at)+": "+what)
}

// readable reports whether a string may stand for the value.
func readable(v any) bool {
	switch v.(type) {
	case json.Number, bool, []any, map[string]any:
		return true
	}
	return false
}

// typesOf is the types a schema names; none where it does not say.
func typesOf(schema map[string]any) []string {
	switch t := schema["type"].(type) {
	case string:
		return []string{t}
	case []any:
		var out []string
		for _, one := range t {
			if name, ok := one.(string); ok {
				out = append(out, name)
			}
		}
		return out
	}
	return nil
}

// fits reports whether the value is of one of the types.
func fits(v any, types []string) bool {
	switch v := v.(type) {
	case nil:
		return slices.Contains(types, "null")
	case string:
		return slices.Contains(types, "string")
	case bool:
		return slices.Contains(types, "boolean")
	case json.Number:
		whole := !strings.ContainsAny(v.String(), ".eE")
		return slices.Contains(types, "number") || whole && slices.Contains(types, "integer")
	case []any:
		return slices.Contains(types, "array")
	}
	return slices.Contains(types, "object")
}

func requires(schema map[string]any, key string) bool {
	required, _ := schema["required"].([]any)
	return slices.Contains(required, any(key))
}

// closed reports whether an object takes only the fields that its schema lists: where it says so, and where it
// lists fields and says nothing else about others.
func closed(schema map[string]any) bool {
	if extra, said := schema["additionalProperties"]; said {
		return extra == false
	}
	for _, word := range []string{"patternProperties", "unevaluatedProperties", "allOf", "anyOf", "oneOf", "if", "$ref", "$dynamicRef"} {
		if _, said := schema[word]; said {
			return false
		}
	}
	return schema["properties"] != nil
}

// clip bounds a text that a model wrote, for a message.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return s[:startOfRune(s, most)] + "…"
}
