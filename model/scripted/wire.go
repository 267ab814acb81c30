package scripted

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// chat is the wire of Chat Completions.
type chat struct{}

func (chat) read(body []byte) (request, error) {
	r := request{mayBeWhole: true}
	if err := json.Unmarshal(body, &r); err != nil {
		return request{}, err
	}
	r.StreamOptions.IncludeUsage = r.StreamOptions.IncludeUsage || !r.Stream
	return r, r.check()
}

// request is what is read of a Chat Completions request, and what one of Responses comes to.
type request struct {
	Model         string    `json:"model"`
	Messages      []message `json:"messages"`
	Stream        bool      `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	MaxTokens           int64  `json:"max_tokens"`
	MaxCompletionTokens int64  `json:"max_completion_tokens"`
	Tools               []tool `json:"tools"`
	sealing             bool   // thoughts are to be sealed
	summing             bool   // thoughts are to be shown
	mayBeWhole          bool   // the wire can send a reply that is no stream
	window              int64  // the context that was asked for
	prompt              []passage
}

type tool struct {
	Function struct {
		Name string `json:"name"`
	} `json:"function"`
}

type message struct {
	Role       string     `json:"role"`
	Content    content    `json:"content"`
	ToolCalls  []wireCall `json:"tool_calls"`
	ToolCallID string     `json:"tool_call_id"`
	thought    string     // what stood before, as it came
}

type wireCall struct {
	Index    *int   `json:"index,omitempty"`
	ID       string `json:"id,omitempty"`
	Type     string `json:"type,omitempty"`
	Function struct {
		Name      string `json:"name,omitempty"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// content is the text of a message, written as a string, as parts or as null.
type content string

func (c *content) UnmarshalJSON(data []byte) error {
	var text *string
	if json.Unmarshal(data, &text) == nil {
		if text != nil {
			*c = content(*text)
		}
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		*c += content(p.Text)
	}
	return nil
}

var (
	cardLine = regexp.MustCompile(`^Card: (\S+)`)
	taskLine = regexp.MustCompile(`^Task ([^:\s]+):`)
	toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
)

// who is the card and the task that the conversation itself names.
func (r request) who() (card, task string) {
	seen := map[string]bool{}
	for _, m := range r.Messages {
		if seen[m.Role] {
			continue
		}
		seen[m.Role] = true
		switch m.Role {
		case "system", "developer":
			card = firstGroup(cardLine, string(m.Content))
		case "user":
			task = firstGroup(taskLine, string(m.Content))
		}
	}
	return card, task
}

func firstGroup(pattern *regexp.Regexp, text string) string {
	if found := pattern.FindStringSubmatch(text); found != nil {
		return found[1]
	}
	return ""
}

func (r request) limit() int64 { return max(r.MaxTokens, r.MaxCompletionTokens) }

// check refuses what a strict provider refuses: a conversation that is out of order, a call without its
// answer, an answer without its call, a tool whose name is not allowed.
func (r request) check() error {
	if len(r.Messages) == 0 {
		return fmt.Errorf("messages must not be empty")
	}
	if !r.Stream && !r.mayBeWhole {
		return fmt.Errorf("replies that are not streamed are not built yet")
	}
	for _, t := range r.Tools {
		if !toolName.MatchString(t.Function.Name) {
			return fmt.Errorf("invalid tool name %q", t.Function.Name)
		}
	}
	open := map[string]bool{}
	for i, m := range r.Messages {
		if err := m.check(open); err != nil {
			return fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	return unanswered(open)
}

// check looks at one message; open is the calls that wait for an answer.
func (m message) check(open map[string]bool) error {
	if m.Role == "tool" {
		if !open[m.ToolCallID] {
			return fmt.Errorf("tool_call_id %q answers no call", m.ToolCallID)
		}
		delete(open, m.ToolCallID)
		return nil
	}
	if err := unanswered(open); err != nil {
		return err
	}
	switch m.Role {
	case "system", "developer", "user":
		return nil
	case "assistant":
	default:
		return fmt.Errorf("unknown role %q", m.Role)
	}
	for _, c := range m.ToolCalls {
		if c.ID == "" || open[c.ID] || !toolName.MatchString(c.Function.Name) {
			return fmt.Errorf("a tool call needs an id of its own and a valid name, got %q and %q", c.ID, c.Function.Name)
		}
		open[c.ID] = true
	}
	return nil
}

func unanswered(open map[string]bool) error {
	if len(open) == 0 {
		return nil
	}
	var ids []string
	for id := range open {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return fmt.Errorf("an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'; missing: %s", strings.Join(ids, ", "))
}
