package view

import (
	"encoding/json"
	"fmt"
)

// List is views with a JSON form: an object with the one key that names its kind, for each view.
type List []View

// MarshalJSON writes the views in order.
func (l List) MarshalJSON() ([]byte, error) {
	out := make([]map[string]View, len(l))
	for i, v := range l {
		out[i] = map[string]View{v.kind(): v}
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON wrote. A kind it does not know is an error.
func (l *List) UnmarshalJSON(data []byte) error {
	var in []map[string]json.RawMessage
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	out := make(List, 0, len(in))
	for _, one := range in {
		for kind, raw := range one {
			v, err := decode(kind, raw)
			if err != nil {
				return err
			}
			out = append(out, v)
		}
	}
	*l = out
	return nil
}

func decode(kind string, raw json.RawMessage) (View, error) {
	switch kind {
	case "diff":
		return into[Diff](raw)
	case "matches":
		return into[Matches](raw)
	case "exit":
		return into[Exit](raw)
	case "problems":
		return into[Problems](raw)
	case "page":
		return into[Page](raw)
	case "json":
		return into[JSON](raw)
	}
	return nil, fmt.Errorf("view of kind %q: unknown", kind)
}

func into[T View](raw json.RawMessage) (View, error) {
	var v T
	err := json.Unmarshal(raw, &v)
	return v, err
}
