package model

import (
	"bytes"
	_ "embed"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
)

//go:embed catalogue.yaml
var builtin []byte

// Entry is what colony knows of one model.
type Entry struct {
	Provider, Name string
	Alias          string   // default, small, or none
	Window, Output int      // tokens
	Can            []string // images: it reads them; effort: it can be told how much to think
	Price          Price
	Checked        string // the day on which the entry was compared with its source
}

// Catalogue is a list of models. It does not change and is safe for concurrent use.
type Catalogue struct{ entries []Entry }

// Builtin is the catalogue that comes with colony.
func Builtin() (*Catalogue, error) { return ParseCatalogue(builtin) }

// ParseCatalogue reads a catalogue. Unknown keys, duplicate keys and entries, missing fields and rates that
// a whole number of picodollars a token cannot hold are errors.
func ParseCatalogue(data []byte) (*Catalogue, error) {
	var file struct {
		Models []entryYAML `yaml:"models"`
	}
	if err := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict()).Decode(&file); err != nil {
		return nil, fmt.Errorf("read the model catalogue: %w", err)
	}
	c := &Catalogue{}
	for i, raw := range file.Models {
		entry, err := raw.entry()
		if err == nil {
			err = c.add(entry)
		}
		if err != nil {
			return nil, fmt.Errorf("read the model catalogue: models[%d]: %w", i, err)
		}
	}
	return c, nil
}

func (c *Catalogue) add(e Entry) error {
	if _, ok := c.Lookup(e.Provider, e.Name); ok {
		return fmt.Errorf("%s/%s is there twice", e.Provider, e.Name)
	}
	if e.Alias != "" {
		if _, ok := c.Lookup(e.Provider, e.Alias); ok {
			return fmt.Errorf("%s has two models for %s", e.Provider, e.Alias)
		}
	}
	c.entries = append(c.entries, e)
	return nil
}

// Lookup is the entry of a provider's model, by its name or by the alias `default` or `small`.
func (c *Catalogue) Lookup(provider, name string) (Entry, bool) {
	for _, e := range c.entries {
		if e.Provider == provider && name != "" && (e.Name == name || e.Alias == name) {
			return e, true
		}
	}
	return Entry{}, false
}

// List is all entries in the order of the file.
func (c *Catalogue) List() []Entry { return slices.Clone(c.entries) }

type entryYAML struct {
	Provider string   `yaml:"provider"`
	Name     string   `yaml:"name"`
	Alias    string   `yaml:"alias"`
	Window   int      `yaml:"window"`
	Output   int      `yaml:"output"`
	Can      []string `yaml:"can"`
	USD      struct {
		Input      *rate  `yaml:"input"`
		Cached     *rate  `yaml:"cached"`
		CacheWrite *rate  `yaml:"cache_write"`
		WriteLong  *rate  `yaml:"cache_write_1h"` // missing: as cache_write
		Output     *rate  `yaml:"output"`
		More       string `yaml:"more"` // words as of ParsePrice
	} `yaml:"usd"`
	Since   string `yaml:"since"`
	Source  string `yaml:"source"`
	Checked string `yaml:"checked"`
}

func (y entryYAML) entry() (Entry, error) {
	usd := y.USD
	switch {
	case y.Provider == "" || y.Name == "" || y.Source == "":
		return Entry{}, fmt.Errorf("provider, name and source are needed")
	case y.Alias != "" && y.Alias != "default" && y.Alias != "small":
		return Entry{}, fmt.Errorf("alias %q is neither default nor small", y.Alias)
	case y.Output <= 0 || y.Window <= y.Output:
		return Entry{}, fmt.Errorf("window %d and output %d: both are needed, the window the larger", y.Window, y.Output)
	case slices.ContainsFunc(y.Can, func(can string) bool { return can != "images" && can != "effort" }):
		return Entry{}, fmt.Errorf("can %v: there are images and effort", y.Can)
	case usd.Input == nil || usd.Cached == nil || usd.CacheWrite == nil || usd.Output == nil:
		return Entry{}, fmt.Errorf("usd needs input, cached, cache_write and output")
	}
	for _, day := range []string{y.Since, y.Checked} {
		if _, err := time.Parse(time.DateOnly, day); err != nil {
			return Entry{}, fmt.Errorf("since and checked: %q is no day like 2026-01-31", day)
		}
	}
	long := int64(0)
	if usd.WriteLong != nil {
		long = int64(*usd.WriteLong)
	}
	price := Price{
		State: PriceKnown, Fresh: int64(*usd.Input), Cached: int64(*usd.Cached),
		CacheWrite: int64(*usd.CacheWrite), CacheWriteLong: long, Output: int64(*usd.Output), Date: y.Since, Source: y.Source,
	}
	for _, word := range strings.Fields(usd.More) {
		if err := price.more(word); err != nil {
			return Entry{}, fmt.Errorf("usd: %q %w", word, err)
		}
	}
	return Entry{
		Provider: y.Provider, Name: y.Name, Alias: y.Alias, Window: y.Window, Output: y.Output, Can: y.Can, Checked: y.Checked,
		Price: price,
	}, nil
}

// rate is picodollars a token, written as dollars a million tokens.
type rate int64

// UnmarshalYAML reads a rate exactly: no float comes between.
func (r *rate) UnmarshalYAML(data []byte) error {
	text := string(bytes.TrimSpace(data))
	dollars, ok := new(big.Rat).SetString(text)
	if !ok || len(text) > 24 || dollars.Sign() < 0 {
		return fmt.Errorf("rate %q is no amount in dollars", text)
	}
	dollars.Mul(dollars, big.NewRat(1_000_000, 1))
	if !dollars.IsInt() || !dollars.Num().IsInt64() {
		return fmt.Errorf("rate %q has more than six decimals or is too large", text)
	}
	*r = rate(dollars.Num().Int64())
	return nil
}
