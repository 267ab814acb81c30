package report

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// alike are the columns that say what is the same for all of a row; a key has a column of its own.
var alike = []string{"card", "task", "model", "status"}

// CSV is the rows for a spreadsheet, and not the total. Every text that comes from the log goes through escape first, and
// none is a formula.
func (t Table) CSV(escape func(string) string) (string, error) {
	var out strings.Builder
	w := csv.NewWriter(&out)
	head := append([]string{}, t.keys...)
	for _, name := range alike {
		if !slices.Contains(t.keys, name) {
			head = append(head, name)
		}
	}
	head = append(head, "requests", "input_tokens", "cached_input_tokens", "cache_write_tokens", "cache_write_1h_tokens",
		"output_tokens", "reasoning_tokens", "usd", "price", "estimated", "lost", "calls", "result_tokens", "schema_tokens", "reread_tokens")
	if err := w.Write(head); err != nil {
		return "", err
	}
	for _, r := range t.Rows {
		keys := r.Keys
		if keys == nil {
			keys = []string{r.Key}
		}
		var line []string
		for _, key := range keys {
			line = append(line, harmless(escape(key)))
		}
		for i, text := range []string{r.Card, r.Task, r.Model, r.Status} {
			if !slices.Contains(t.keys, alike[i]) {
				line = append(line, harmless(escape(text)))
			}
		}
		u := r.Usage
		for _, n := range []int64{u.Requests, u.Input, u.Cached, u.CacheWrite, u.CacheWriteLong, u.Output, u.Reasoning} {
			line = append(line, strconv.FormatInt(n, 10))
		}
		usd := ""
		if r.USD != nil {
			usd = r.USD.String()
		}
		line = append(line, usd, string(r.Price), strconv.FormatBool(r.Estimated), strconv.FormatInt(r.Lost, 10))
		use := r.Tool
		if use == nil {
			use = &ToolUse{}
		}
		for _, n := range []int64{use.Calls, use.Put, use.Schema, use.Reread} {
			line = append(line, strconv.FormatInt(n, 10))
		}
		if err := w.Write(line); err != nil {
			return "", fmt.Errorf("write the bill as CSV: %w", err)
		}
	}
	w.Flush()
	return out.String(), w.Error()
}

// harmless is a text that no spreadsheet takes for a formula.
func harmless(text string) string {
	if first, _ := utf8.DecodeRuneInString(text); text != "" && strings.ContainsRune("=+-@\t\r＝＋－＠", first) {
		return "'" + text
	}
	return text
}
