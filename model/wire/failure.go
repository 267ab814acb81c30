package wire

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"colony/model"
)

// failure is why the exchange gave no whole reply; nil where it did.
func (w *Exchange) failure(err error, got *Heard) error {
	ctx, key := w.asked, w.parts.Key
	lost := &model.Error{Kind: model.Transport, Sent: w.sent(), Limits: w.limits, Err: err}
	switch {
	case ctx.Err() != nil:
		return &model.Error{Kind: model.Aborted, Sent: w.sent(), Text: "stopped", Err: ctx.Err()}
	case w.refused != nil:
		return w.refused
	case got.Failed != nil:
		lost.Kind, lost.Text = got.Failed.Kind, clean(got.Failed.Text, key)
	case got.Reason != "":
		return nil
	case errors.Is(context.Cause(w.Context), errStalled):
		lost.Err, lost.Text = errStalled, fmt.Sprintf("%v (%v)", errStalled, w.limit())
	case errors.Is(err, errTooLong):
		lost.Kind, lost.Text = model.BadRequest, fmt.Sprintf("%v (over %d bytes)", errTooLong, w.parts.MaxBytes)
	case err == nil && !got.begun:
		lost.Text = "the answer holds no reply"
	case err == nil:
		lost.Text = "the reply was cut"
	case !lost.Sent:
		lost.Text = clean("cannot reach "+w.parts.BaseURL+": "+innermost(err).Error(), key)
	default:
		lost.Dropped, lost.Text = !got.begun, clean(innermost(err).Error(), key)
	}
	return lost
}

// innermost leaves out what the HTTP client says of its own request.
func innermost(err error) error {
	var outer *url.Error
	if errors.As(err, &outer) {
		return outer.Err
	}
	return err
}

// Within classifies an error that came within a stream, where no status says what it is.
func Within(code, text string) *model.Error {
	status := http.StatusInternalServerError
	for _, known := range []struct {
		word   string
		status int
	}{
		{"rate_limit", 429}, {"overloaded", 529}, {"invalid_", 400}, {"policy", 400}, {"residency", 400}, {"image", 400},
	} {
		if strings.Contains(code, known.word) {
			status = known.status
			break
		}
	}
	return &model.Error{Kind: kindOf(statusIn(code, status), code, text), Text: FirstOf(text)}
}

// statusIn is the HTTP status that some gateways write into a code.
func statusIn(code string, otherwise int) int {
	for _, word := range strings.Fields(code) {
		if n, err := strconv.Atoi(word); err == nil && n >= 400 && n < 600 {
			return n
		}
	}
	return otherwise
}

// unknownPlace is what a server says that answers a path which it does not have as if all was well.
const unknownPlace = "unexpected endpoint"

// misnamed is a refusal that calls itself a success: nil where the answer is none. It reads no more than the beginning of
// what is no refusal.
func misnamed(resp *http.Response, key string) *model.Error {
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		return nil
	}
	body := bufio.NewReader(resp.Body)
	head, _ := body.Peek(len(`{"error":"`)) // what is shorter is no refusal
	if text := string(head); !strings.HasPrefix(text, `{"error":"`) && !strings.HasPrefix(text, `{"error":{`) {
		resp.Body = &struct {
			io.Reader
			io.Closer
		}{body, resp.Body}
		return nil
	}
	said, _ := io.ReadAll(io.LimitReader(body, longestRefusal)) // a refusal with a broken body is one still
	_ = resp.Body.Close()
	var refusal struct {
		Error json.RawMessage `json:"error"`
	}
	_ = json.Unmarshal(said, &refusal) // a broken one says no code
	message, code := Reason(refusal.Error)
	status := http.StatusBadRequest
	if strings.Contains(strings.ToLower(message), unknownPlace) {
		status = http.StatusNotFound
	}
	return classify(statusIn(code, status), resp.Header, said, key)
}

// classify makes an error of a refusal.
func classify(status int, header http.Header, body []byte, key string) *model.Error {
	var said struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	_ = json.Unmarshal(body, &said) // a body that is no JSON is text
	message, code := Reason(said.Error)
	text := FirstOf(message, said.Message, textOf(said.Detail), string(body), http.StatusText(status))
	return &model.Error{
		Kind: kindOf(status, code, text), Status: status, RetryAfter: retryAfter(header, time.Now()),
		Text: clean(text, key), Limits: limitsOf(header, time.Now()),
	}
}

// textOf is a text that is JSON; any other value as it stands.
func textOf(raw json.RawMessage) string {
	text := string(raw)
	_ = json.Unmarshal(raw, &text) // what is no text stays
	return text
}

// Reason reads an error member: an object of which each field may be missing or of another type, or a text.
func Reason(raw json.RawMessage) (message, code string) {
	if json.Unmarshal(raw, &message) == nil {
		return message, ""
	}
	var object map[string]any
	_ = json.Unmarshal(raw, &object) // what is no object has no fields
	word := func(key string) string {
		if n, ok := object[key].(float64); ok {
			return strconv.FormatFloat(n, 'f', -1, 64)
		}
		text, _ := object[key].(string)
		return text
	}
	return word("message"), word("type") + " " + word("code")
}

// FirstOf is the first text that says something.
func FirstOf(texts ...string) string {
	for _, t := range texts {
		if strings.TrimSpace(t) != "" {
			return t
		}
	}
	return "no reason given"
}

// broke are the words of an account that pays for nothing any more.
var broke = []string{
	"insufficient_quota", "billing_hard_limit", "exceeded your current quota", "billing_error", "credit balance", "insufficient credits", "spend_limit", "spend limit",
	"payment required", "quota_exceeded", "budget_exceeded", "budget has been exceeded",
}

func kindOf(status int, code, text string) model.Kind {
	all := strings.ToLower(code + " " + text)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(all, w) {
				return true
			}
		}
		return false
	}
	switch {
	case status == 402 || has(broke...):
		return model.Quota
	case (status == 400 || status == 403 || status == 404) && has("must be verified", "unverified"):
		return model.Unverified
	case status == 401, status == 403, status == 407:
		return model.Auth
	case status == 429:
		return model.RateLimited
	case status == 503, status == 529, status == 500 && has("overloaded"):
		return model.Overloaded
	case status == 413, (status == 400 || status == 422 || status == 500) && has("context_length_exceeded", "maximum context length", "context window", "contextwindowexceeded", "exceeds the available context size", "prompt is too long", "context size", "input length and `max_tokens` exceed"):
		return model.ContextTooLong
	case status == 404, status == 400 && has("model_not_found", "invalid model", "unknown model"):
		return model.NoModel
	case status >= 500, status == 408, status == 409, status == 425:
		return model.Transport
	}
	return model.BadRequest
}

// retryAfter is the wait that a provider asks for; 0 where it does not or where what it says makes no sense.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return seconds(ms / 1000)
	}
	text := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(text, 64); err == nil {
		return seconds(s)
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// seconds never overflows; what is no number is 0.
func seconds(s float64) time.Duration {
	const most = 365 * 24 * time.Hour
	switch {
	case s >= most.Seconds():
		return most
	case s > 0:
		return time.Duration(s * float64(time.Second))
	}
	return 0
}

// limitsOf reads what is left from the headers of either kind of provider.
func limitsOf(h http.Header, now time.Time) model.Limits {
	return model.Limits{Requests: limitOf(h, now, "requests"), Tokens: limitOf(h, now, "tokens")}
}

func limitOf(h http.Header, now time.Time, what string) model.Limit {
	for _, names := range [...][2]string{
		{"X-Ratelimit-Remaining-" + what, "X-Ratelimit-Reset-" + what},
		{"Anthropic-Ratelimit-Input-" + what + "-Remaining", "Anthropic-Ratelimit-Input-" + what + "-Reset"},
		{"Anthropic-Ratelimit-" + what + "-Remaining", "Anthropic-Ratelimit-" + what + "-Reset"},
	} {
		left, err := strconv.ParseInt(h.Get(names[0]), 10, 64)
		if err != nil || left < 0 {
			continue
		}
		if reset, ok := untilOf(h.Get(names[1]), now); ok {
			return model.Limit{Known: true, Left: left, Reset: reset}
		}
	}
	return model.Limit{}
}

// untilOf reads a duration like 1m2s or a moment like 2026-01-31T00:00:00Z.
func untilOf(text string, now time.Time) (time.Duration, bool) {
	if d, err := time.ParseDuration(text); err == nil {
		return d, d >= 0
	}
	at, err := time.Parse(time.RFC3339, text)
	return max(at.Sub(now), 0), err == nil
}

var keyLike = regexp.MustCompile(`(?i)\b(sk-|key-|bearer )[A-Za-z0-9_*.\-]{6,}`)

// clean is a provider's text as one short line without keys and control characters.
func clean(text, key string) string {
	if key != "" {
		text = strings.ReplaceAll(text, key, "[key]")
	}
	text = keyLike.ReplaceAllString(text, "[key]")
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	text = strings.Join(strings.Fields(text), " ")
	if cut := []rune(text); len(cut) > 300 {
		text = string(cut[:300]) + "…"
	}
	return text
}
