package tools

import "encoding/json"

// schemaOf is the spec's schema; one that is no object has no properties.
func schemaOf(s Spec) map[string]any {
	var schema map[string]any
	if json.Unmarshal(s.Params, &schema) != nil {
		return nil
	}
	return schema
}

// properties are the schemas of an object's fields.
func properties(schema map[string]any) map[string]any {
	props, _ := schema["properties"].(map[string]any)
	return props
}
