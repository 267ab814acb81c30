package audit

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"colony/event"
	"colony/ledger"
)

// Counted is one model on one day as the bill and as the provider counted it. A count that the provider's file does not
// have is nil.
type Counted struct {
	Day   string         `json:"day"`
	Model string         `json:"model"` // as the provider names it
	Bill  event.Usage    `json:"bill"`
	Told  Told           `json:"provider"`
	USD   *event.PicoUSD `json:"bill_usd"`
	Off   []string       `json:"off"` // what differs, in words
}

// Told is what a provider's file says.
type Told struct {
	Requests   *int64         `json:"requests,omitempty"`
	Input      *int64         `json:"input_tokens,omitempty"`
	Cached     *int64         `json:"cached_input_tokens,omitempty"`
	CacheWrite *int64         `json:"cache_write_tokens,omitempty"`
	Output     *int64         `json:"output_tokens,omitempty"`
	USD        *event.PicoUSD `json:"usd,omitempty"`
	fresh      *int64
}

// columns are the names that providers' exports have for what is counted, beside colony's own.
var columns = map[string][]string{
	"day":      {"day", "date", "usage_date_utc", "usage_date", "start_time_iso", "starting_at", "start_time", "timestamp"},
	"model":    {"model", "model_version", "model_name", "snapshot_id"},
	"requests": {"requests", "num_model_requests", "n_requests"},
	"input":    {"input_tokens", "n_context_tokens_total", "prompt_tokens"},
	"fresh":    {"uncached_input_tokens", "usage_input_tokens_no_cache", "input_tokens_no_cache"},
	"cached":   {"cached_input_tokens", "input_cached_tokens", "cache_read_input_tokens", "usage_input_tokens_cache_read"},
	"write":    {"cache_write_tokens", "cache_creation_input_tokens"},
	"write5m":  {"ephemeral_5m_input_tokens", "usage_input_tokens_cache_write_5m"},
	"write1h":  {"ephemeral_1h_input_tokens", "usage_input_tokens_cache_write_1h"},
	"output":   {"output_tokens", "usage_output_tokens", "n_generated_tokens_total", "completion_tokens"},
	"usd":      {"usd", "cost_usd", "amount_usd", "cost"},
}

const mostExport = 256 << 20

// Reconcile holds a bill against a provider's export: CSV with a line of heads, or JSON as the usage endpoints answer it,
// by day (UTC) and model. Only the days of the export count, and of the bill the runs of those days.
func Reconcile(r io.Reader, b *ledger.Bill) ([]Counted, error) {
	data, err := io.ReadAll(io.LimitReader(r, mostExport+1))
	if err != nil {
		return nil, err
	}
	if len(data) > mostExport {
		return nil, fmt.Errorf("it has more than %d MiB", mostExport>>20)
	}
	rows, err := exported(data)
	if err != nil {
		return nil, err
	}
	told, days, err := gathered(rows)
	if err != nil {
		return nil, err
	}
	return matched(told, days, b), nil
}

// exported are the rows of an export, by the names of their columns.
func exported(data []byte) ([]map[string]string, error) {
	data = bytes.TrimPrefix(bytes.TrimSpace(data), []byte("\xef\xbb\xbf"))
	if len(data) > 0 && (data[0] == '{' || data[0] == '[') {
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.UseNumber()
		var rows []map[string]string
		for {
			var v any
			if err := dec.Decode(&v); errors.Is(err, io.EOF) {
				return rows, nil
			} else if err != nil {
				return nil, err
			}
			rows = append(rows, flattened(v, nil)...)
		}
	}
	lines, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 {
		return nil, errors.New("it is empty")
	}
	var rows []map[string]string
	for _, l := range lines[1:] {
		row := map[string]string{}
		for i, head := range lines[0] {
			row[strings.ToLower(strings.TrimSpace(head))] = strings.TrimSpace(l[i])
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// flattened are the objects of a JSON value that count something, each with what the objects around it say.
func flattened(v any, around map[string]string) []map[string]string {
	switch v := v.(type) {
	case []any:
		var rows []map[string]string
		for _, one := range v {
			rows = append(rows, flattened(one, around)...)
		}
		return rows
	case map[string]any:
		row := maps.Clone(around)
		if row == nil {
			row = map[string]string{}
		}
		var lists []any
		for _, key := range slices.Sorted(maps.Keys(v)) {
			switch one := v[key].(type) {
			case string:
				row[key] = one
			case json.Number:
				row[key] = one.String()
			case map[string]any: // cache_creation: counts inside
				for k, n := range one {
					if n, ok := n.(json.Number); ok {
						row[k] = n.String()
					}
				}
			case []any:
				lists = append(lists, one)
			}
		}
		if len(lists) == 0 {
			return []map[string]string{row}
		}
		var rows []map[string]string
		for _, list := range lists {
			rows = append(rows, flattened(list, row)...)
		}
		return rows
	}
	return nil
}

func column(row map[string]string, name string) (string, bool) {
	for _, alias := range columns[name] {
		if v, ok := row[alias]; ok && v != "" {
			return v, true
		}
	}
	return "", false
}

type dayModel struct{ day, model string }

// gathered adds rows up by day and model.
func gathered(rows []map[string]string) (map[dayModel]*Told, map[string]bool, error) {
	told, days := map[dayModel]*Told{}, map[string]bool{}
	for i, row := range rows {
		at, ok := column(row, "day")
		model, named := column(row, "model")
		if !ok || !named {
			return nil, nil, fmt.Errorf("row %d names no day or no model: the columns are %s", i+1, strings.Join(slices.Sorted(maps.Keys(row)), ", "))
		}
		day, err := dayOf(at)
		if err != nil {
			return nil, nil, fmt.Errorf("row %d: %w", i+1, err)
		}
		if _, bare, found := strings.Cut(model, "/"); found {
			model = bare
		}
		key := dayModel{day, model}
		if told[key] == nil {
			told[key] = &Told{}
		}
		days[day] = true
		if err := told[key].add(row); err != nil {
			return nil, nil, fmt.Errorf("row %d: %w", i+1, err)
		}
	}
	if len(told) == 0 {
		return nil, nil, errors.New("it has no rows")
	}
	return told, days, nil
}

func dayOf(at string) (string, error) {
	if seconds, err := strconv.ParseInt(at, 10, 64); err == nil && seconds > 1e8 {
		return time.Unix(seconds, 0).UTC().Format(time.DateOnly), nil
	}
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", time.DateOnly} {
		if t, err := time.Parse(form, at); err == nil {
			return t.UTC().Format(time.DateOnly), nil
		}
	}
	return "", fmt.Errorf("%q is no time", at)
}

func (t *Told) add(row map[string]string) error {
	count := func(into **int64, names ...string) error {
		for _, name := range names {
			text, ok := column(row, name)
			if !ok {
				continue
			}
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil || n < 0 || n > 1<<50 {
				return fmt.Errorf("%q is no count of tokens", text)
			}
			if *into == nil {
				*into = new(int64)
			}
			**into += n
		}
		return nil
	}
	err := errors.Join(count(&t.Requests, "requests"), count(&t.Input, "input"), count(&t.fresh, "fresh"), count(&t.Cached, "cached"),
		count(&t.CacheWrite, "write", "write5m", "write1h"), count(&t.Output, "output"))
	if text, ok := column(row, "usd"); ok {
		// A rational number reads what providers write; more than 12 places are rounded.
		r, ok := new(big.Rat).SetString(strings.TrimPrefix(text, "$"))
		if !ok || len(text) > 40 {
			return fmt.Errorf("%q is no amount", text)
		}
		r.Mul(r, new(big.Rat).SetInt64(int64(event.Dollar)))
		whole := new(big.Int).Quo(r.Num(), r.Denom())
		if !whole.IsInt64() {
			return fmt.Errorf("%q is too large", text)
		}
		if t.USD == nil {
			t.USD = new(event.PicoUSD)
		}
		*t.USD += event.PicoUSD(whole.Int64())
	}
	return err
}

// matched puts the bill's counts beside those of the provider.
func matched(told map[dayModel]*Told, days map[string]bool, b *ledger.Bill) []Counted {
	rows := map[dayModel]*Counted{}
	sums := map[dayModel]*ledger.Count{}
	for key, t := range told {
		if t.Input == nil && t.fresh != nil { // this provider counts beside the cache
			n := *t.fresh + value(t.Cached) + value(t.CacheWrite)
			t.Input = &n
		}
		rows[key], sums[key] = &Counted{Day: key.day, Model: key.model, Told: *t}, &ledger.Count{}
	}
	for _, r := range b.Runs() {
		for i, c := range r.Cells {
			_, name, _ := strings.Cut(c.Model, "/")
			if !days[c.Day] || name == "" {
				continue
			}
			key := dayModel{c.Day, name}
			for other := range told {
				if other.day == c.Day && dated(other.model, name) {
					key = other
				}
			}
			if rows[key] == nil {
				rows[key], sums[key] = &Counted{Day: key.day, Model: key.model}, &ledger.Count{}
			}
			sums[key].Add(r.Of(i))
		}
	}
	var out []Counted
	for key, row := range rows {
		sum := sums[key].Sum()
		row.Bill, row.USD = sum.Usage, sum.USD
		row.compare()
		out = append(out, *row)
	}
	slices.SortFunc(out, func(a, b Counted) int { return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Model, b.Model)) })
	return out
}

// dated reports whether a provider's name is a model's, or that of a dated version of it.
func dated(theirs, ours string) bool {
	rest, ok := strings.CutPrefix(theirs, ours)
	return ok && (rest == "" || strings.Trim(rest, "-0123456789") == "" && strings.HasPrefix(rest, "-"))
}

func value(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

func (c *Counted) compare() {
	c.Off = []string{}
	off := func(what string, bill int64, told *int64) {
		if told != nil && *told != bill {
			c.Off = append(c.Off, fmt.Sprintf("%s: the provider counted %d, the bill %d (%+d)", what, *told, bill, bill-*told))
		}
	}
	if c.Told == (Told{}) {
		c.Off = append(c.Off, fmt.Sprintf("the provider has none of it, the bill %d tokens", c.Bill.Input+c.Bill.Output))
	}
	off("requests", c.Bill.Requests, c.Told.Requests)
	off("input", c.Bill.Input, c.Told.Input)
	off("cached", c.Bill.Cached, c.Told.Cached)
	off("cache write", c.Bill.CacheWrite, c.Told.CacheWrite)
	off("output", c.Bill.Output, c.Told.Output)
	// Providers round money to a hundredth of a cent at best.
	if c.Told.USD != nil && c.USD != nil && max(*c.Told.USD-*c.USD, *c.USD-*c.Told.USD) > event.Dollar/10_000 {
		c.Off = append(c.Off, fmt.Sprintf("the provider billed $%s, the bill has $%s", c.Told.USD.Rounded(), c.USD.Rounded()))
	}
}
