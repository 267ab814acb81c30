package openai

import (
	"bytes"
	"encoding/json"
	"fmt"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"

	"colony/tools"
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

// picture is a part of a message that shows an image.
type picture struct {
	Type  string `json:"type"`
	Image struct {
		URL string `json:"url"`
	} `json:"image_url"`
}

// pictures is a message of images: this wire has none in a result.
func (c *Client) pictures(refs []tools.BlobRef) (sdk.ChatCompletionMessageParamUnion, error) {
	var parts []picture
	for _, ref := range refs {
		url, err := c.parts.DataURL(ref)
		if err != nil {
			return sdk.ChatCompletionMessageParamUnion{}, err
		}
		one := picture{Type: "image_url"}
		one.Image.URL = url
		parts = append(parts, one)
	}
	data, err := encoded(map[string]any{"role": "user", "content": parts})
	return param.Override[sdk.ChatCompletionMessageParamUnion](data), err
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
