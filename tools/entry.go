package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/sourcegraph/conc/panics"
)

// BuiltIn is the source of the tools that colony brings.
const BuiltIn = "built-in"

// entry is a tool as a registry holds it. The spec is read once, when the tool registers.
type entry struct {
	source   string
	tool     Tool
	spec     Spec
	deferred bool
	schema   func() map[string]any              // once, when it is first called
	compiled func() (*jsonschema.Schema, error) // likewise
	words    func() words                       // what a search finds it by; of a deferred one, made when it registers
}

// Bounds of what is advertised: bytes of a name, which every provider takes, and of text and schema together.
const (
	maxName = 64
	maxSpec = 64 << 10
)

func newEntry(source string, t Tool, deferred bool) (*entry, error) {
	e := &entry{source: source, tool: t, deferred: deferred}
	if crash := panics.Try(func() { e.spec = t.Spec() }); crash != nil {
		return nil, fmt.Errorf("register a tool of %s: its spec panics: %v", source, crash.Value)
	}
	schema, err := e.check()
	if err != nil {
		return nil, fmt.Errorf("register tool %q of %s: %w", e.spec.Name, source, err)
	}
	spec := e.spec
	e.schema = sync.OnceValue(func() map[string]any { return schemaOf(spec) })
	e.compiled = sync.OnceValues(func() (*jsonschema.Schema, error) { return compile(schemaOf(spec)) })
	e.words = sync.OnceValue(func() words { return wordsOf(spec, schemaOf(spec)) })
	if deferred {
		found := wordsOf(spec, schema)
		e.words = func() words { return found }
	}
	return e, nil
}

// check refuses what no provider would take, and reads the schema.
func (e *entry) check() (schema map[string]any, err error) {
	if !plainName(e.spec.Name) || len(e.spec.Name) > maxName {
		return nil, fmt.Errorf("a name is 1 to %d letters, digits, _ and -", maxName)
	}
	if e.spec.Description == "" {
		return nil, errors.New("it has no description")
	}
	if size := len(e.spec.Description) + len(e.spec.Params); size > maxSpec {
		return nil, fmt.Errorf("its text and schema are %d bytes, at most %d", size, maxSpec)
	}
	if err := json.Unmarshal(e.spec.Params, &schema); err != nil {
		return nil, fmt.Errorf("its schema is no JSON object: %w", err)
	}
	if schema["type"] != "object" {
		return nil, errors.New("its schema must have type object")
	}
	return schema, nil
}

// plainName reports whether a name is letters, digits, _ and - only.
func plainName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}
