package tools

import "encoding/json"

// Call is one request of a model to use a tool. Args are the bytes as the model wrote them, which need not be JSON.
type Call struct {
	ID, Name string
	Args     json.RawMessage
}

type wireCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Args string `json:"args"`
}

// MarshalJSON writes the arguments as a string, so that their bytes come back unchanged.
func (c Call) MarshalJSON() ([]byte, error) {
	return json.Marshal(wireCall{c.ID, c.Name, string(c.Args)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (c *Call) UnmarshalJSON(data []byte) error {
	var w wireCall
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*c = Call{w.ID, w.Name, json.RawMessage(w.Args)}
	return nil
}
