package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// said is a message on the wire. It is encoded here, since every turn sends all of them again and the SDK's encoder
// takes several times as long.
type said struct {
	Content *string    `json:"content,omitempty"`
	Call    string     `json:"tool_call_id,omitempty"`
	Role    string     `json:"role"`
	Calls   []saidCall `json:"tool_calls,omitempty"`
}

type saidCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// offered is a tool on the wire.
type offered struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// encoded is v as it is sent, with <, > and & as they are.
func encoded(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode a request: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
