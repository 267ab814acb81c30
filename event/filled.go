package event

import (
	"encoding/json"
	"reflect"
)

var rawJSON = reflect.TypeFor[json.RawMessage]()

// filled is a body whose lists and maps are never null, so that a reader can take each for what it is. The body itself is not changed.
func filled(b Body) any {
	if _, raw := b.(Raw); raw {
		return b
	}
	copied := reflect.New(reflect.TypeOf(b)).Elem()
	copied.Set(reflect.ValueOf(b))
	fill(copied)
	return copied.Interface()
}

// fill gives every nil slice and map below v an empty one. Slices that hold structs are copied before they are filled.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	case reflect.Map:
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
	case reflect.Slice:
		if v.Type() == rawJSON {
			return
		}
		own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(own, v)
		v.Set(own)
		if v.Type().Elem().Kind() == reflect.Struct {
			for i := range v.Len() {
				fill(v.Index(i))
			}
		}
	}
}
