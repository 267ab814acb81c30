package model_test

import (
	"encoding/json"
	"math"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"colony/model"
	"colony/tools"
)

// The catalogue, field by field, as its sources stood on the day it was checked.
func TestBuiltinCatalogue(t *testing.T) {
	c, err := model.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	const openai, anthropic, day = "https://openai.com/api/pricing", "https://platform.claude.com/docs/en/about-claude/pricing", "2026-11-30"
	price := func(fresh, cached, write, output int64, date, source string) model.Price {
		return model.Price{State: model.PriceKnown, Fresh: fresh, Cached: cached, CacheWrite: write, Output: output, Date: date, Source: source}
	}
	long := func(p model.Price, rate int64) model.Price {
		p.CacheWriteLong, p.Services = rate, map[string]int{"batch": 50}
		return p
	}
	half := func(p model.Price) model.Price {
		p.Services = map[string]int{"batch": 50, "flex": 50}
		return p
	}
	both := []string{"images", "effort"}
	want := []model.Entry{
		{"openai", "gpt-5.2", "default", 400_000, 128_000, both, half(price(1_750_000, 175_000, 1_750_000, 14_000_000, "2025-12-11", openai)), day},
		{"openai", "gpt-5-mini", "small", 400_000, 128_000, both, half(price(250_000, 25_000, 250_000, 2_000_000, "2025-08-07", openai)), day},
		{"anthropic", "claude-sonnet-5", "default", 1_000_000, 128_000, both, long(price(2_000_000, 200_000, 2_500_000, 10_000_000, "2026-06-30", anthropic), 4_000_000), day},
		{"anthropic", "claude-haiku-4-5-20251001", "small", 200_000, 64_000, both[:1], long(price(1_000_000, 100_000, 1_250_000, 5_000_000, "2025-10-15", anthropic), 2_000_000), day},
	}
	if got := c.List(); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for _, provider := range []string{"openai", "anthropic"} {
		for _, alias := range []string{"default", "small"} {
			if e, ok := c.Lookup(provider, alias); !ok || e.Alias != alias {
				t.Errorf("%s has no %s", provider, alias)
			}
		}
	}
	// contract 59: what is not listed is unknown, never free.
	e, ok := c.Lookup("openai", "any")
	if _, known := e.Price.Cost(model.Usage{Fresh: 1}); ok || known {
		t.Error("an unlisted model has a price")
	}
}

func TestParseCatalogueRefuses(t *testing.T) {
	good := "models:\n- {provider: p, name: n, window: 9, output: 3, usd: {input: 1, cached: 0.1, cache_write: 1, output: 2}, since: 2026-01-31, source: s, checked: 2026-01-31}\n"
	if _, err := model.ParseCatalogue([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{
		"unknown key":       strings.Replace(good, "window", "widow: 1, window", 1),
		"duplicate key":     strings.Replace(good, "name: n", "name: n, name: m", 1),
		"duplicate entry":   good + strings.TrimPrefix(good, "models:\n"),
		"missing rate":      strings.Replace(good, "cached: 0.1, ", "", 1),
		"rate too fine":     strings.Replace(good, "0.1", "0.1234567", 1),
		"rate not a number": strings.Replace(good, "0.1", "cheap", 1),
		"rate below zero":   strings.Replace(good, "0.1", "-1", 1),
		"no window":         strings.Replace(good, "window: 9", "window: 2", 1),
		"no day":            strings.Replace(good, "since: 2026-01-31", "since: 2026-02-31", 1),
		"no source":         strings.Replace(good, "source: s, ", "", 1),
		"odd alias":         strings.Replace(good, "name: n", "name: n, alias: big", 1),
	} {
		if _, err := model.ParseCatalogue([]byte(bad)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func FuzzParseCatalogue(f *testing.F) {
	f.Add([]byte("models:\n- {provider: p, name: n, usd: {input: 1e9999}}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := model.ParseCatalogue(data)
		if err != nil {
			return
		}
		for _, e := range c.List() {
			if e.Price.State != model.PriceKnown || e.Window <= e.Output {
				t.Errorf("accepted %+v", e)
			}
		}
	})
}

// The cost of a usage is exact, adds up, and never wraps round.
func TestCostIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.OneOf(rapid.Int64Range(0, 1e9), rapid.Int64Min(0))
		p := model.Price{State: model.PriceKnown, Fresh: amount.Draw(t, "a"), Cached: amount.Draw(t, "b"), CacheWrite: amount.Draw(t, "c"), Output: amount.Draw(t, "d")}
		u := model.Usage{Fresh: amount.Draw(t, "e"), Cached: amount.Draw(t, "f"), CacheWrite: amount.Draw(t, "g"), Output: amount.Draw(t, "h"), Reasoning: amount.Draw(t, "i")}
		want := new(big.Int)
		for _, part := range [][2]int64{{p.Fresh, u.Fresh}, {p.Cached, u.Cached}, {p.CacheWrite, u.CacheWrite}, {p.Output, u.Output}} {
			want.Add(want, new(big.Int).Mul(big.NewInt(part[0]), big.NewInt(part[1])))
		}
		if !want.IsInt64() {
			want.SetInt64(math.MaxInt64)
		}
		if got, ok := p.Cost(u); !ok || got != want.Int64() {
			t.Fatalf("got %d, want %d", got, want)
		}
		if got, ok := model.Free().Cost(u); !ok || got != 0 {
			t.Fatalf("free costs %d", got)
		}
	})
}

// A message comes back from the log as it was, also where the model's arguments are no JSON.
func TestMessageRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := model.Message{Role: model.Assistant, Text: rapid.String().Draw(t, "text"), CallID: rapid.String().Draw(t, "call")}
		for range rapid.IntRange(0, 3).Draw(t, "calls") {
			m.Calls = append(m.Calls, tools.Call{ID: rapid.String().Draw(t, "id"), Name: rapid.String().Draw(t, "name"), Args: json.RawMessage(rapid.String().Draw(t, "args"))})
		}
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var back model.Message
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(m, back) {
			t.Fatalf("%+v came back as %+v", m, back)
		}
	})
}

// A price reads back as it is written, and each kind of token, length of context and service has its own rate.
func TestPricesInWords(t *testing.T) {
	const text = "2/0.2/2.5/10 write_1h=4 reasoning=12.5 above=1000:4/0.4/5/15 batch=50% priority=200%"
	p, err := model.ParsePrice(text + " since=2026-10-01")
	if err != nil || p.String() != text || p.Date != "2026-10-01" {
		t.Fatalf("%q, %+v, %v", p, p, err)
	}
	for _, c := range []struct {
		usage model.Usage
		micro float64
	}{
		{model.Usage{Fresh: 100, Cached: 100, CacheWrite: 100, CacheWriteLong: 40, Output: 100, Reasoning: 20}, 200 + 20 + 150 + 160 + 800 + 250},
		{model.Usage{Fresh: 1000}, 2000},
		{model.Usage{Fresh: 1001, Output: 10, Reasoning: 10}, 4004 + 150},
		{model.Usage{Fresh: 3, Service: "batch"}, 3},
		{model.Usage{Fresh: 3, Service: "priority"}, 12},
	} {
		if got, ok := p.Cost(c.usage); !ok || float64(got) != c.micro*1e6 {
			t.Errorf("%+v: %d, %v, want %v", c.usage, got, ok, c.micro)
		}
	}
	if _, ok := p.Cost(model.Usage{Fresh: 3, Service: "scale"}); ok {
		t.Error("a service that nobody named has a price")
	}
	if got := p.Less(50).String(); got != "1/0.1/1.25/5 write_1h=2 reasoning=6.25 above=1000:2/0.2/2.5/7.5 batch=50% priority=200%" {
		t.Error(got)
	}
	for _, bad := range []string{"", "1/1/1", "1/1/1/1 batch", "1/1/1/1 batch=x%", "1/1/1/1 batch=5", "1/1/1/1 above=0:1/1/1/1", "1/1/1/1 above=9:1/1/1", "1/1/1/1 since=now", "1/1/1/1 write_1h=-1", "1/1/1/1 batch=-1%"} {
		if got, err := model.ParsePrice(bad); err == nil {
			t.Errorf("%q is read as %q", bad, got)
		}
	}
}
