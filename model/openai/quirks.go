package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"colony/model"
)

// wholeReply is how long a reply may take that comes whole: its first byte comes with its last.
const wholeReply = 10 * time.Minute

// quirks is what a model's server was found to lack. It is learned from refusals and holds as long as the client does.
type quirks struct {
	flat       bool // replies come whole, not in pieces
	chat       bool // there is no Responses
	noOptions  bool // stream_options is refused
	completion bool // the output limit is called max_completion_tokens
	noEffort   bool // an effort is refused
	noSummary  bool // a summary of thoughts is refused
	noSeal     bool // thoughts cannot be carried back
	noCompare  bool // why the cache did not serve cannot be asked
}

// of is what is known of a model.
func (c *Client) of(name string) quirks {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.learned[name]
}

// learn takes from a refusal what the server lacks, and lets the request be sent again without it.
func (c *Client) learn(name string, had quirks, err error) error {
	var e *model.Error
	if !errors.As(err, &e) || e.Status < 400 || e.Status >= 500 {
		return err
	}
	now := had.after(e, c.wire == Responses)
	if now == had {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.learned[name] = now
	e.Again = true
	return e
}

// after is the quirks with what a refusal shows.
func (q quirks) after(e *model.Error, responses bool) quirks {
	text := strings.ToLower(e.Text)
	has := func(word string) bool { return strings.Contains(text, word) }
	switch {
	case e.Kind == model.Unverified && has("stream"):
		q.flat, q.noSummary = true, true // who may not stream is not told summaries either
	case e.Kind == model.Unverified && has("summar"):
		q.noSummary = true
	case e.Kind == model.Unverified, e.Kind == model.RateLimited, e.Kind == model.Quota, e.Kind == model.Auth, e.Kind == model.ContextTooLong:
	case responses && !q.chat && (e.Status == 404 || e.Status == 405 || e.Status == 501) && !has("model"):
		q.chat = true
	case responses && has("summar"):
		q.noSummary = true
	case responses && (has("encrypted content") || has("encrypted_content")):
		q.noSeal = true
	case has("prompt_cache_options"), has("comparison_response"):
		q.noCompare = true
	case has("stream_options"):
		q.noOptions = true
	case has("max_completion_tokens"):
		q.completion = true
	case has("reasoning_effort"), has("reasoning.effort"):
		q.noEffort = true
	case has("stream"):
		q.flat = true
	}
	return q
}

// flatten asks for a reply that comes whole.
func flatten(req *http.Request) error {
	sent, err := io.ReadAll(req.Body)
	if err != nil {
		return err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(sent, &fields); err != nil {
		return err
	}
	delete(fields, "stream_options")
	fields["stream"] = json.RawMessage("false")
	body, err := encoded(fields)
	if err != nil {
		return err
	}
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	return nil
}

// capture is a middleware that makes the one event of a stream of a reply that comes whole, asked for or not.
func capture(flat, responses bool) func(*http.Request, func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	return func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		if flat {
			if err := flatten(req); err != nil {
				return nil, err
			}
		}
		resp, err := next(req)
		if err != nil || !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
			return resp, err
		}
		whole, err := io.ReadAll(resp.Body) // bounded by the exchange
		if err = errors.Join(err, resp.Body.Close()); err != nil {
			return nil, err
		}
		resp.Header.Set("Content-Type", "text/event-stream")
		resp.Body = io.NopCloser(bytes.NewReader(asEvent(whole, responses)))
		return resp, nil
	}
}

// asEvent is a whole reply as the only event of a stream. What is no such reply is handed on as it is.
func asEvent(whole []byte, responses bool) []byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(whole, &fields) != nil {
		return whole
	}
	event := any(fields)
	switch {
	case fields["error"] != nil && string(fields["error"]) != "null":
	case responses:
		event = map[string]any{"type": "response.completed", "response": json.RawMessage(whole)}
	default:
		var choices []map[string]json.RawMessage
		_ = json.Unmarshal(fields["choices"], &choices) // without choices there is no reply
		for _, c := range choices {
			c["delta"] = numbered(c["message"])
		}
		fields["choices"], _ = encoded(choices) // what was read can be written
	}
	data, err := encoded(event)
	if err != nil {
		return whole
	}
	return append(append([]byte("data: "), data...), "\n\n"...)
}

// numbered is a message whose calls have their places, as those of a piece have.
func numbered(message json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(message, &fields) != nil {
		return message
	}
	var calls []map[string]any
	if json.Unmarshal(fields["tool_calls"], &calls) == nil && len(calls) > 0 {
		for i := range calls {
			calls[i]["index"] = i
		}
		fields["tool_calls"], _ = encoded(calls)
	}
	data, err := encoded(fields)
	if err != nil {
		return message
	}
	return data
}
