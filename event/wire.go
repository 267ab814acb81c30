package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// head is what every event says beside its body. Its JSON names are never those of a body's fields.
type head struct {
	ID     string    `json:"id"`
	Seq    Seq       `json:"seq"`
	Time   time.Time `json:"time"`
	Run    string    `json:"run"`
	Task   string    `json:"task,omitempty"`
	Ant    string    `json:"ant,omitempty"`
	Origin string    `json:"origin,omitempty"`
	Type   string    `json:"type"`
}

func headOf(e Event) head {
	return head{e.ID, e.Seq, e.Time.UTC(), e.Run, e.Task, e.Ant, e.Origin, e.Body.Type()}
}

func (h head) event(b Body) Event {
	return Event{ID: h.ID, Origin: h.Origin, Seq: h.Seq, Time: h.Time.UTC(), Run: h.Run, Task: h.Task, Ant: h.Ant, Body: b}
}

// MarshalJSON writes the event as one flat object: what all events have, then the body's fields.
func (e Event) MarshalJSON() ([]byte, error) {
	if e.Body == nil {
		return nil, errors.New("encode event: it has no body")
	}
	fields, err := encodeBody(e.Body)
	if err != nil {
		return nil, err
	}
	h, err := encode(headOf(e))
	if err != nil {
		return nil, err
	}
	return flat(h, fields), nil
}

// UnmarshalJSON reads what MarshalJSON wrote. Fields it does not know are ignored; a body of a type it does
// not know is a Raw.
func (e *Event) UnmarshalJSON(data []byte) error {
	var h head
	if err := json.Unmarshal(data, &h); err != nil {
		return err
	}
	if h.Type == "" {
		return errors.New("decode event: it has no type")
	}
	fields := data
	if _, known := decoders[h.Type]; !known {
		var err error
		if fields, err = withoutHead(data); err != nil {
			return err
		}
	}
	b, err := decodeBody(h.Type, fields)
	if err != nil {
		return err
	}
	*e = h.event(b)
	return nil
}

// flat joins two objects into one.
func flat(head, fields []byte) []byte {
	out := append(make([]byte, 0, len(head)+len(fields)), head[:len(head)-1]...)
	if len(fields) == 2 {
		return append(out, '}')
	}
	return append(append(out, ','), fields[1:]...)
}

// withoutHead is an object without the fields that every event has, the others in order.
func withoutHead(data []byte) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	out := []byte{'{'}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		switch key {
		case "id", "seq", "time", "run", "task", "ant", "origin", "type":
			continue
		}
		name, err := encode(key)
		if err != nil {
			return nil, err
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, name...), ':'), value...)
	}
	return append(out, '}'), nil
}

// encodeBody is a body as a JSON object.
func encodeBody(b Body) ([]byte, error) {
	fields, err := encode(filled(b))
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", b.Type(), err)
	}
	if len(fields) < 2 || fields[0] != '{' {
		return nil, fmt.Errorf("encode %s: not an object", b.Type())
	}
	return fields, nil
}

// encode is json.Marshal without the escapes that only HTML needs.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
