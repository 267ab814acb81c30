package tools

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"
)

// noOutput stands for a text that is blank.
const noOutput = "(no output)"

// Cap makes a result's text fit for the model: redacted, never blank, valid UTF-8, and cut to the tool's cap
// with the whole kept in the env's blobs. Redact replaces secrets, in views too; it is applied once, here.
func Cap(redact func(string) string) Layer {
	return func(next Handler) Handler {
		return func(ctx context.Context, env *Env, p Prepared) (Result, error) {
			r, err := next(ctx, env, p)
			if err != nil {
				return r, err
			}
			r.Views = redactViews(r.Views, redact)
			text := redact(strings.ToValidUTF8(r.Text, "\uFFFD"))
			if strings.TrimSpace(text) == "" {
				text = noOutput
			}
			limit := p.Tool.Spec().ResultCap
			if limit == 0 {
				limit = DefaultResultCap
			}
			r.Bytes = int64(len(text))
			r.Text, r.Spilled, err = CapText(text, limit, env.Blobs)
			if err != nil {
				return Result{}, fmt.Errorf("cap the result of %s: %w", p.Call.Name, err)
			}
			return r, nil
		}
	}
}

// CapText cuts a text that is longer than limit bytes to its first three quarters and its last quarter, on rune
// boundaries, and keeps the whole in the store. Between the two stands how much was left out and where it is.
// A limit of 0 or less never cuts. Without a store the text is cut and says so. The error is the store's.
func CapText(text string, limit int, store *Blobs) (string, *BlobRef, error) {
	if limit <= 0 || len(text) <= limit {
		return text, nil, nil
	}
	head := text[:startOfRune(text, limit*3/4)]
	tail := text[len(text)-(limit-limit*3/4):]
	for tail != "" && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	left := len(text) - len(head) - len(tail)
	where, ref, err := "the rest was not kept", (*BlobRef)(nil), error(nil)
	if store != nil {
		kept, putErr := store.Put("text/plain; charset=utf-8", []byte(text))
		where, ref, err = "the whole text is in "+store.Path(kept)+": read the part you need", &kept, putErr
	}
	if err != nil {
		return "", nil, fmt.Errorf("spill: %w", err)
	}
	return fmt.Sprintf("%s\n\n[%d of %d bytes left out here; %s]\n\n%s", head, left, len(text), where, tail), ref, nil
}

// startOfRune is the last place at or before at where a rune begins.
func startOfRune(s string, at int) int {
	for at > 0 && !utf8.RuneStart(s[at]) {
		at--
	}
	return at
}

// Message is the result as a tool message of a conversation: its text, never blank, and whether it is an error.
func (r Result) Message() (text string, isError bool) {
	if strings.TrimSpace(r.Text) == "" {
		r.Text = noOutput
	}
	return r.Text, r.Fault != ""
}
