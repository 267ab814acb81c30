package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// noLoader refuses references out of a schema: a server's schema must not make colony read files.
type noLoader struct{}

// Load is always an error.
func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("reference to %s: not allowed", url)
}

func compile(schema any) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	if err := c.AddResource("mem:args", schema); err != nil {
		return nil, err
	}
	return c.Compile("mem:args")
}

// maxViolations is how many faults of one call are told.
const maxViolations = 8

// violations are the leaves of a validation error, an *ArgError each, but for unknown fields, which the shaper
// has told with a hint.
func violations(err error) []error {
	all := new(jsonschema.ValidationError)
	if !errors.As(err, &all) {
		return nil
	}
	return leaves(all, nil)
}

func leaves(e *jsonschema.ValidationError, out []error) []error {
	for _, cause := range e.Causes {
		out = leaves(cause, out)
	}
	_, extra := e.ErrorKind.(*kind.AdditionalProperties)
	if len(e.Causes) > 0 || extra || len(out) >= maxViolations {
		return out
	}
	_, reason, found := strings.Cut(e.Error(), "': ")
	if !found {
		reason = e.Error()
	}
	return append(out, &ArgError{Field: clip(strings.Join(e.InstanceLocation, ".")), Reason: clipReason(reason)})
}

// clipReason bounds a reason, which may quote what the model sent.
func clipReason(s string) string {
	const most = 300
	if len(s) <= most {
		return s
	}
	return s[:startOfRune(s, most)] + "…"
}

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
