package wire

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"colony/model"
)

// carried is what Opaque holds of a reply: its items in their order. It goes back only to the model that said it, since
// no other can read its thoughts.
type carried struct {
	Wire  string `json:"wire"`
	Model string `json:"model"`
	ID    string `json:"id,omitempty"` // of the reply, where its provider asks for it later
	Items []Kept `json:"items"`
}

// Kept is an item as the server sent it, as a text so that every byte comes back, or the number of a call, which the
// message holds itself.
type Kept struct {
	Raw  string `json:"raw,omitempty"`
	Call *int   `json:"call,omitempty"`
}

// Pack is the items as Opaque; nil for none.
func Pack(wire, name string, id string, items []Kept) json.RawMessage {
	if len(items) == 0 {
		return nil
	}
	data, err := json.Marshal(carried{wire, name, id, items})
	if err != nil {
		return nil // text and calls go back without the rest
	}
	return data
}

// Unpack is the items of an earlier reply with its calls in their places; false where they are not this model's or do
// not fit the calls.
func Unpack(wire string, opaque json.RawMessage, name string, calls [][]byte) ([][]byte, bool) {
	var c carried
	if len(opaque) == 0 || json.Unmarshal(opaque, &c) != nil || c.Wire != wire || c.Model != name {
		return nil, false
	}
	var items [][]byte
	next := 0
	for _, k := range c.Items {
		switch {
		case k.Call == nil && IsObject(k.Raw):
			items = append(items, []byte(k.Raw))
		case k.Call != nil && *k.Call == next && next < len(calls):
			items = append(items, calls[next])
			next++
		default:
			return nil, false
		}
	}
	return items, next == len(calls)
}

// LastID is the id of this model's last reply; empty where none has one.
func LastID(wire string, req model.Request) string {
	for i := len(req.Messages) - 1; i >= 0; i-- {
		var c carried
		if json.Unmarshal(req.Messages[i].Opaque, &c) == nil && c.Wire == wire && c.Model == req.Model && c.ID != "" {
			return c.ID
		}
	}
	return ""
}

// IsObject reports whether a text is a JSON object that a log can hold byte for byte.
func IsObject(text string) bool {
	data := bytes.TrimSpace([]byte(text))
	return len(data) > 0 && data[0] == '{' && utf8.ValidString(text) && json.Valid(data)
}
