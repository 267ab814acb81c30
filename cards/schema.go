package cards

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"colony/strict"
)

// about says of each key what it is, for editors and people.
var about = map[string]string{
	"name":              "The card's name, by which tasks and settings call it.",
	"description":       "One line for lists, and for the planner that chooses cards.",
	"model":             "provider/model, or default or small.",
	"escalate":          "provider/model that goes on, once, after the last failed gate.",
	"effort":            "How much the model thinks, where it can be told.",
	"diagnostics":       "What the ant reads in the result of an edit: off, errors, warnings or all.",
	"prompt":            "Who the ant is and how it works. The house rules come after it.",
	"tools":             "What the ant may use: a wall. None listed, none used.",
	"permissions":       "Rules over calls, as tool or tool(content): deny beats ask beats allow.",
	"permissions.allow": "Calls that run without a question.",
	"permissions.ask":   "Calls that are asked about.",
	"permissions.deny":  "Calls that are denied, whatever allows them.",
	"sandbox":           "What confines the ant's processes. It only tightens what the run has.",
	"sandbox.level":     "The most that the level may be: read-only, workspace or workspace+net.",
	"sandbox.net":       "Hosts that commands reach where the level is workspace+net: names, *.name, registries, or none.",
	"env":               "Names of variables that the ant's commands get from the user's environment.",
	"caps":              "The most that one ant may use.",
	"caps.usd":          "Dollars, or none.",
	"caps.tokens":       "Tokens in and out, or none.",
	"caps.output":       "Tokens of one reply.",
	"caps.turns":        "Requests to the model, or none.",
	"caps.wall":         "Time, such as 30m, or none.",
	"caps.calls":        "Calls of tools, or none.",
	"gates":             "Commands that must pass in the ant's worktree, run by colony.",
	"parallel":          "Ants of this card at once.",
	"hatch":             "Cards that an ant of this card may hatch as helpers.",
	"skills":            "Skills that the ant may load.",
	"mcp":               "Servers of the Model Context Protocol. It opens nothing: tools says which of theirs the ant may use.",
	"mcp.servers":       "Servers that are started for the ant, by their names in .mcp.json or your mcp.json.",
	"mcp.always":        "Tools of theirs that the ant sees from its first turn; the others it finds with tool_search.",
	"extends":           "The card whose values hold where this one gives none. Lists are taken whole.",
}

// Schema is the JSON Schema of a card, made from the struct that cards are read into.
func Schema() ([]byte, error) {
	s := object("", reflect.TypeFor[raw]())
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "A colony card"
	return json.MarshalIndent(s, "", "  ")
}

// object is the schema of a mapping: its keys and no others. Keys that are not built yet are not among them.
func object(path string, t reflect.Type) map[string]any {
	properties, required := map[string]any{}, []string{}
	for i := range t.NumField() {
		name, rule := t.Field(i).Tag.Get("yaml"), t.Field(i).Tag.Get("strict")
		if name == "" || rule == "later" {
			continue
		}
		key := strings.TrimPrefix(path+"."+name, ".")
		one := shape(key, t.Field(i).Type, rule)
		if text := about[key]; text != "" {
			one["description"] = text
		}
		properties[name] = one
		if rule == "required" {
			required = append(required, name)
		}
	}
	s := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

func shape(key string, t reflect.Type, rule string) map[string]any {
	if t.Kind() == reflect.Pointer {
		return map[string]any{"anyOf": []any{shape(key, t.Elem(), rule), map[string]any{"const": "none"}}}
	}
	switch t {
	case reflect.TypeFor[level]():
		return map[string]any{"enum": levels}
	case reflect.TypeFor[hosts]():
		word := map[string]any{"type": "string"}
		return map[string]any{"anyOf": []any{word, map[string]any{"type": "array", "uniqueItems": true, "items": word}}}
	case reflect.TypeFor[diagnostics]():
		return map[string]any{"enum": diagnosed}
	case reflect.TypeFor[effort]():
		return map[string]any{"enum": efforts}
	case reflect.TypeFor[name]():
		return map[string]any{"type": "string", "pattern": nameShape().String()}
	case reflect.TypeFor[gate]():
		return map[string]any{"type": []string{"string", "boolean", "number"}}
	case reflect.TypeFor[strict.USD]():
		return map[string]any{"type": "number", "exclusiveMinimum": 0}
	case reflect.TypeFor[time.Duration]():
		return map[string]any{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`}
	}
	switch {
	case key == "name":
		return map[string]any{"type": "string", "pattern": nameShape().String()}
	case t.Kind() == reflect.String:
		return map[string]any{"type": "string"}
	case t.Kind() == reflect.Slice:
		return map[string]any{"type": "array", "uniqueItems": true, "items": shape(key+"[]", t.Elem(), "")}
	case t.Kind() == reflect.Struct:
		return object(key, t)
	}
	s := map[string]any{"type": "integer"}
	if rule == "positive" {
		s["minimum"] = 1
	}
	return s
}
