package model

import (
	"encoding/json"

	"colony/tools"
)

// wireMessage is a Message as the log keeps it. The arguments of a call stand as a string, because what a
// model sends as arguments need not be JSON.
type wireMessage struct {
	plainMessage
	Calls []wireCall `json:"calls,omitempty"`
}

type plainMessage Message

type wireCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Args string `json:"args"`
}

// MarshalJSON writes the message; the arguments of its calls are kept byte for byte.
func (m Message) MarshalJSON() ([]byte, error) {
	w := wireMessage{plainMessage: plainMessage(m)}
	for _, c := range m.Calls {
		w.Calls = append(w.Calls, wireCall{c.ID, c.Name, string(c.Args)})
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (m *Message) UnmarshalJSON(data []byte) error {
	var w wireMessage
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*m = Message(w.plainMessage)
	m.Calls = nil
	for _, c := range w.Calls {
		m.Calls = append(m.Calls, tools.Call{ID: c.ID, Name: c.Name, Args: json.RawMessage(c.Args)})
	}
	return nil
}
