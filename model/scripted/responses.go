package scripted

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
)

// responses is the wire of Responses, without anything kept between two requests.
type responses struct{}

// asked is what is read of a Responses request.
type asked struct {
	Model        string          `json:"model"`
	Instructions string          `json:"instructions"`
	Input        json.RawMessage `json:"input"`
	Stream       bool            `json:"stream"`
	Store        *bool           `json:"store"`
	Include      []string        `json:"include"`
	Reasoning    struct {
		Summary string `json:"summary"`
	} `json:"reasoning"`
	Previous  *string `json:"previous_response_id"`
	MaxOutput int64   `json:"max_output_tokens"`
	Tools     []struct {
		Type string `json:"type"`
		Name string `json:"name"`
	} `json:"tools"`
}

// item is an entry of the input.
type item struct {
	Type      string  `json:"type"`
	Role      string  `json:"role"`
	Content   content `json:"content"`
	CallID    string  `json:"call_id"`
	Name      string  `json:"name"`
	Arguments string  `json:"arguments"`
	Output    content `json:"output"`
	ID        string  `json:"id"`
}

const sealedContent = "reasoning.encrypted_content"

func (responses) read(body []byte) (request, error) {
	var a asked
	if err := json.Unmarshal(body, &a); err != nil {
		return request{}, err
	}
	if a.Previous != nil || a.Store == nil || *a.Store {
		return request{}, fmt.Errorf("replies that are kept are not built yet: store must be false, previous_response_id absent")
	}
	r := request{Model: a.Model, Stream: a.Stream, MaxTokens: a.MaxOutput, mayBeWhole: true, sealing: slices.Contains(a.Include, sealedContent), summing: a.Reasoning.Summary != ""}
	r.StreamOptions.IncludeUsage = true
	for _, t := range a.Tools {
		if t.Type != "function" {
			return request{}, fmt.Errorf("a tool of the type %q is not built yet", t.Type)
		}
		var named tool
		named.Function.Name = t.Name
		r.Tools = append(r.Tools, named)
	}
	if a.Instructions != "" {
		r.Messages = append(r.Messages, message{Role: "system", Content: content(a.Instructions)})
	}
	if err := r.take(a.Input); err != nil {
		return request{}, err
	}
	if err := r.check(); err != nil {
		return request{}, err
	}
	return r, r.checkThoughts()
}

// take makes messages of the input: all that the model said at once is one.
func (r *request) take(input json.RawMessage) error {
	var text string
	if json.Unmarshal(input, &text) == nil {
		r.Messages = append(r.Messages, message{Role: "user", Content: content(text)})
		return nil
	}
	var items []json.RawMessage
	if err := json.Unmarshal(input, &items); err != nil {
		return fmt.Errorf("input: %w", err)
	}
	for i, raw := range items {
		if err := r.takeItem(raw); err != nil {
			return fmt.Errorf("input[%d]: %w", i, err)
		}
	}
	return nil
}

func (r *request) takeItem(raw json.RawMessage) error {
	var it item
	if err := json.Unmarshal(raw, &it); err != nil {
		return err
	}
	switch it.Type {
	case "", "message":
		if it.Role != "assistant" {
			r.Messages = append(r.Messages, message{Role: it.Role, Content: it.Content})
			return nil
		}
		r.said().Content += it.Content
	case "reasoning":
		r.said().thought += string(raw)
	case "function_call":
		call := wireCall{ID: it.CallID}
		call.Function.Name, call.Function.Arguments = it.Name, it.Arguments
		m := r.said()
		m.ToolCalls = append(m.ToolCalls, call)
	case "function_call_output":
		r.Messages = append(r.Messages, message{Role: "tool", ToolCallID: it.CallID, Content: it.Output})
	default:
		return fmt.Errorf("an item of the type %q is not built yet", it.Type)
	}
	return nil
}

// said is the model's message at the end of the conversation so far.
func (r *request) said() *message {
	if n := len(r.Messages); n == 0 || r.Messages[n-1].Role != "assistant" {
		r.Messages = append(r.Messages, message{Role: "assistant"})
	}
	return &r.Messages[len(r.Messages)-1]
}

// checkThoughts refuses a thought of which a byte was changed, that nothing follows, or that is out of order.
func (r request) checkThoughts() error {
	card, task := r.who()
	last := -1
	for _, m := range r.Messages {
		if m.thought == "" {
			continue
		}
		var it item
		n := 0
		if err := json.NewDecoder(bytes.NewReader([]byte(m.thought))).Decode(&it); err != nil {
			return err
		}
		switch _, err := fmt.Sscanf(it.ID, "rs_%d", &n); {
		case err != nil || m.thought != sealed(card, task, n):
			return fmt.Errorf("the encrypted content for item %q could not be verified", it.ID)
		case n <= last:
			return fmt.Errorf("item %q is out of order", it.ID)
		case m.Content == "" && len(m.ToolCalls) == 0:
			return fmt.Errorf("item %q of type 'reasoning' was provided without its required following item", it.ID)
		}
		last = n
	}
	return nil
}

// sealed is the thought before the nth reply. It is spelt oddly, so that whoever reads and writes it anew is found out.
func sealed(card, task string, n int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %d", card, task, n))
	return fmt.Sprintf(`{"type":"reasoning",  "id":"rs_%d", "summary":[{"type":"summary_text","text":"I think."}], "encrypted_content":"<&\u003e\/%s", "odd":1.0e0}`, n, base64.StdEncoding.EncodeToString(sum[:]))
}

func (responses) refusal(code, text string) any { return openAIRefusal(code, text) }

func (responses) thought(card, task string, n int) string { return sealed(card, task, n) }

var (
	_ wire = chat{}
	_ wire = responses{}
	_ wire = messages{}
	_ wire = chatting{}
)
