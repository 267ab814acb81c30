package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
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
	schema   map[string]any
	compiled func() (*jsonschema.Schema, error) // once
}

// Bounds of what is advertised: bytes of a name, which every provider takes, and of text and schema together.
const (
	maxName = 64
	maxSpec = 64 << 10
)

func newEntry(source string, t Tool, deferred bool) (entry, error) {
	e := entry{source: source, tool: t, deferred: deferred}
	if crash := panics.Try(func() { e.spec = t.Spec() }); crash != nil {
		return entry{}, fmt.Errorf("register a tool of %s: its spec panics: %v", source, crash.Value)
	}
	if err := e.check(); err != nil {
		return entry{}, fmt.Errorf("register tool %q of %s: %w", e.spec.Name, source, err)
	}
	schema := e.schema
	e.compiled = sync.OnceValues(func() (*jsonschema.Schema, error) { return compile(schema) })
	return e, nil
}

// check refuses what no provider would take, and reads the schema.
func (e *entry) check() error {
	if ok, err := regexp.MatchString(`^[a-zA-Z0-9_-]+$`, e.spec.Name); err != nil || !ok || len(e.spec.Name) > maxName {
		return fmt.Errorf("a name is 1 to %d letters, digits, _ and -", maxName)
	}
	if e.spec.Description == "" {
		return errors.New("it has no description")
	}
	if size := len(e.spec.Description) + len(e.spec.Params); size > maxSpec {
		return fmt.Errorf("its text and schema are %d bytes, at most %d", size, maxSpec)
	}
	if err := json.Unmarshal(e.spec.Params, &e.schema); err != nil {
		return fmt.Errorf("its schema is no JSON object: %w", err)
	}
	if e.schema["type"] != "object" {
		return errors.New("its schema must have type object")
	}
	return nil
}
