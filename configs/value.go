package configs

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"colony/strict"
)

// value is a setting as one tier gives it: a place in a document, or the text of a variable or flag.
type value struct {
	doc  *strict.Doc // nil for a scalar of a variable or flag
	key  string      // the path in doc
	from string      // default, a file, a variable, a flag
	raw  string      // the scalar of a variable or flag
}

// decode puts the value into what into points to.
func (v value) decode(into any) strict.Faults {
	if v.doc == nil {
		return strict.Scalar(v.from, v.raw, into)
	}
	return v.doc.DecodeAt(v.key, into)
}

// field decodes the value into a field. A plain text takes a number or boolean as it is written.
func (v value) field(into reflect.Value) strict.Faults {
	if into.Type() != reflect.TypeFor[string]() || v.doc == nil || v.doc.Kind(v.key) != "scalar" {
		return v.decode(into.Addr().Interface())
	}
	var faults strict.Faults
	for _, f := range strict.Scalar(v.from, v.scalar(), into.Addr().Interface()) {
		faults = append(faults, v.doc.Fault(v.key, f.Text))
	}
	return faults
}

func (v value) fault(text string) strict.Fault {
	if v.doc == nil {
		return strict.Fault{File: v.from, Text: text}
	}
	return v.doc.KeyFault(v.key, text)
}

// origin is where a person finds the value.
func (v value) origin() string {
	if f := v.fault(""); v.doc != nil && v.key != "" && v.from != "default" {
		return fmt.Sprintf("%s:%d", v.from, f.Line)
	}
	return v.from
}

// scalar is the value as plain text.
func (v value) scalar() string {
	if v.doc == nil {
		return v.raw
	}
	var any any
	v.doc.DecodeAt(v.key, &any)
	return fmt.Sprint(any)
}

// text is the value as YAML.
func (v value) text() string {
	var any any = v.raw
	if v.doc != nil {
		v.doc.DecodeAt(v.key, &any)
	}
	if text, ok := any.(string); ok {
		return plain(text, v.doc == nil)
	}
	return jsonText(any)
}

// plain quotes a text that would not come back as itself. The scalar of a variable may also be a number.
func plain(text string, anyKind bool) string {
	number := regexp.MustCompile(`^[-+.0-9][-+.0-9_eE]*$`).MatchString(text)
	if regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_./+-]*$`).MatchString(text) && (anyKind || !number && text != "true" && text != "false" && text != "null") {
		return text
	}
	return jsonText(text)
}

func jsonText(any any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(any); err != nil {
		return fmt.Sprintf("%q", fmt.Sprint(any))
	}
	return strings.TrimSpace(b.String())
}
