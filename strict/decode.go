package strict

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
)

// Checker is a value that knows more about itself than its type says. After it was decoded, Check calls
// fault for each thing that is wrong; path is relative to the value, as "dir", and "" is the value itself.
type Checker interface {
	Check(fault func(path, text string))
}

// Decode parses the file and decodes it into the struct or map that into points to.
func Decode(file string, data []byte, into any) Faults {
	doc, faults := Parse(file, data)
	if doc == nil {
		return faults
	}
	return append(faults, doc.Decode(into)...).Sorted()
}

// Decode decodes the whole document. Struct fields take the keys of their yaml tags; a field without one is
// no key. The tag strict:"later" marks a key that is known and refused as not built yet, "required" one that
// must be there and not be empty, "positive" one whose number is more than 0. Texts, numbers, booleans,
// amounts and time spans are never turned into one another. A pointer to a number, an amount or a time span
// also takes the word none, which leaves it nil. A type with UnmarshalText takes any scalar; an any takes all,
// numbers as json.Number and an empty value as "".
func (d *Doc) Decode(into any) Faults { return d.DecodeAt("", into) }

// DecodeAt is Decode for the value at the path. A path that is not in the document changes nothing; an empty
// document is an empty section.
func (d *Doc) DecodeAt(path string, into any) Faults {
	node, ok := d.nodes[path]
	if !ok && path != "" {
		return nil
	}
	if !ok {
		node = &ast.NullNode{}
	}
	w := walk{doc: d}
	w.value(path, node, reflect.ValueOf(into).Elem())
	return w.faults.Sorted()
}

// Scalar decodes a text that stands in no YAML, as a variable's value, by the rules of Decode.
func Scalar(file, text string, into any) Faults {
	if err := scalar(text, "", reflect.ValueOf(into).Elem()); err != nil {
		return Faults{{File: file, Text: err.Error()}}
	}
	return nil
}

type walk struct {
	doc    *Doc
	faults Faults
}

func (w *walk) fault(path, text string) { w.faults = append(w.faults, w.doc.Fault(path, text)) }

func (w *walk) value(path string, node ast.Node, into reflect.Value) {
	if into.Kind() == reflect.Interface {
		into.Set(reflect.ValueOf(free(node)))
		return
	}
	before := len(w.faults)
	switch n := node.(type) {
	case *ast.NullNode:
		w.null(path, into)
	case *ast.MappingNode:
		w.mapping(path, n, deref(into))
	case *ast.SequenceNode:
		w.sequence(path, n, deref(into))
	default:
		text, kind := scalarOf(node)
		if err := scalar(text, kind, into); err != nil {
			w.fault(path, err.Error())
		}
	}
	if checker, ok := into.Addr().Interface().(Checker); ok && len(w.faults) == before {
		checker.Check(func(inner, text string) { w.fault(within(path, inner), text) })
	}
}

// free is a value of any type: text, json.Number, bool, []any, map[string]any.
func free(node ast.Node) any {
	switch n := node.(type) {
	case *ast.MappingNode:
		m := map[string]any{}
		for _, entry := range n.Values {
			if name, ok := keyName(entry.Key); ok {
				m[name] = free(entry.Value)
			}
		}
		return m
	case *ast.SequenceNode:
		list := make([]any, len(n.Values))
		for i, value := range n.Values {
			list[i] = free(value)
		}
		return list
	case *ast.BoolNode:
		return n.Value
	}
	text, kind := scalarOf(node)
	if kind == "a number" && json.Valid([]byte(text)) {
		return json.Number(text)
	}
	return text
}

// null is an empty value: an empty section is a section; anything else was forgotten.
func (w *walk) null(path string, into reflect.Value) {
	switch into.Kind() {
	case reflect.Map:
	case reflect.Struct:
		w.fields(path, &ast.MappingNode{}, into)
	default:
		w.faults = append(w.faults, w.doc.KeyFault(path, "this has no value: give it one or delete it"))
	}
}

func (w *walk) mapping(path string, n *ast.MappingNode, into reflect.Value) {
	switch into.Kind() {
	case reflect.Struct:
		w.fields(path, n, into)
	case reflect.Map:
		into.Set(reflect.MakeMap(into.Type()))
		for _, entry := range n.Values {
			name, ok := keyName(entry.Key)
			if !ok {
				continue
			}
			value := reflect.New(into.Type().Elem()).Elem()
			w.value(join(path, name), entry.Value, value)
			into.SetMapIndex(reflect.ValueOf(name).Convert(into.Type().Key()), value)
		}
	default:
		w.fault(path, "want "+want(into.Type())+", got a mapping")
	}
}

func (w *walk) fields(path string, n *ast.MappingNode, into reflect.Value) {
	fields, names := fieldsOf(into.Type())
	seen := map[string]bool{}
	for _, entry := range n.Values {
		name, ok := keyName(entry.Key)
		if !ok || seen[name] {
			continue
		}
		seen[name] = true
		field, known := fields[name]
		switch {
		case !known:
			w.faults = append(w.faults, w.doc.node(entry.Key, fmt.Sprintf("unknown key %q%s", clip(name), meant(name, names))))
		case field.rule == "later":
			w.faults = append(w.faults, w.doc.node(entry.Key, name+" is not built yet: delete this key"))
		default:
			before := len(w.faults)
			w.value(join(path, name), entry.Value, into.Field(field.index))
			if text := field.broken(into.Field(field.index)); text != "" && len(w.faults) == before {
				w.fault(join(path, name), name+" "+text)
			}
		}
	}
	for _, name := range names {
		if fields[name].rule == "required" && !seen[name] {
			w.fault(path, name+" is missing")
		}
	}
}

type field struct {
	index int
	rule  string
}

func fieldsOf(t reflect.Type) (fields map[string]field, names []string) {
	fields = map[string]field{}
	for i := range t.NumField() {
		if name := t.Field(i).Tag.Get("yaml"); name != "" && name != "-" {
			fields[name] = field{i, t.Field(i).Tag.Get("strict")}
			names = append(names, name)
		}
	}
	return fields, names
}

// broken says how the value breaks its field's rule, or nothing.
func (f field) broken(v reflect.Value) string {
	v = reflect.Indirect(v)
	switch {
	case f.rule == "positive" && v.IsValid() && v.CanInt() && v.Int() <= 0:
		return "must be more than 0"
	case f.rule == "required" && v.Kind() == reflect.String && strings.TrimSpace(v.String()) == "",
		f.rule == "required" && v.Kind() == reflect.Slice && v.Len() == 0:
		return "is empty"
	}
	return ""
}

func (w *walk) sequence(path string, n *ast.SequenceNode, into reflect.Value) {
	if into.Kind() != reflect.Slice {
		w.fault(path, "want "+want(into.Type())+", got a list")
		return
	}
	into.Set(reflect.MakeSlice(into.Type(), len(n.Values), len(n.Values)))
	for i, value := range n.Values {
		w.value(fmt.Sprintf("%s[%d]", path, i), value, into.Index(i))
	}
}

func deref(v reflect.Value) reflect.Value {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		return v.Elem()
	}
	return v
}

func within(path, inner string) string {
	if inner == "" || path == "" || strings.HasPrefix(inner, "[") {
		return path + inner
	}
	return path + "." + inner
}

const noScalar = "a value that is not read here"

// scalarOf is a scalar's text as written and what it is: text, number, boolean.
func scalarOf(node ast.Node) (text, kind string) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, "text"
	case *ast.LiteralNode:
		return n.Value.Value, "text"
	case *ast.IntegerNode, *ast.FloatNode:
		return node.GetToken().Value, "a number"
	case *ast.BoolNode:
		return node.GetToken().Value, "a boolean"
	}
	return "", noScalar
}

// scalar sets into from text. An empty kind is a text from outside YAML, which may be any of them.
func scalar(text, kind string, into reflect.Value) error {
	t := into.Type()
	if t.Kind() == reflect.Pointer {
		if text == "none" && t.Elem().Kind() != reflect.String {
			into.SetZero()
			return nil
		}
		into = deref(into)
		t = into.Type()
	}
	if i := strings.IndexFunc(text, control); i >= 0 {
		r, _ := utf8.DecodeRuneInString(text[i:])
		return fmt.Errorf("the character %U is not allowed here", r)
	}
	if u, ok := into.Addr().Interface().(encoding.TextUnmarshaler); ok && kind != noScalar {
		return u.UnmarshalText([]byte(text))
	}
	wrong := fmt.Errorf("want %s, got %s", want(t), got(text, kind, t.Kind() == reflect.String))
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return (*Duration)(into.Addr().Interface().(*time.Duration)).UnmarshalText([]byte(text))
	case t.Kind() == reflect.String && (kind == "text" || kind == ""):
		into.SetString(text)
	case t.Kind() == reflect.Bool && kind != "text":
		b, err := strconv.ParseBool(text)
		if err != nil || text != "true" && text != "false" {
			return wrong
		}
		into.SetBool(b)
	case into.CanInt() && kind != "text":
		return integer(text, wrong, into)
	default:
		return wrong
	}
	return nil
}

// integer takes plain decimal digits; 1e6 and 0x10 are for machines.
func integer(text string, wrong error, into reflect.Value) error {
	if digits := strings.TrimPrefix(text, "-"); digits != "0" && (digits == "" || strings.Trim(digits, "0123456789") != "" || digits[0] == '0') {
		return wrong
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || into.OverflowInt(n) {
		return fmt.Errorf("%s is too large", text)
	}
	into.SetInt(n)
	return nil
}

func want(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[USD]():
		return "dollars such as 0.50"
	case reflect.TypeFor[Duration](), reflect.TypeFor[time.Duration]():
		return "a time span such as 10m"
	}
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "a mapping"
	}
	return "a whole number"
}

func got(text, kind string, wantText bool) string {
	switch {
	case kind == noScalar:
		return kind
	case wantText:
		return kind + ": quote it to make it text"
	}
	return strconv.Quote(clip(text))
}
