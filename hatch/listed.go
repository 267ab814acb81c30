package hatch

import (
	"maps"
	"slices"
	"strings"

	"colony/event"
	"colony/model"
)

// ShownModel is a model as it is shown: that of a card before a run, with its price state alone, or one of those that
// colony knows. Rates are dollars for a million tokens.
type ShownModel struct {
	Card    string      `json:"card,omitempty"`
	Model   string      `json:"model"`
	Names   []string    `json:"names"`         // that stand for it, or for a chain that it is part of
	Key     string      `json:"key"`           // set, missing, or none where the provider wants none
	Window  int         `json:"window_tokens"` // 0 is not known
	Output  int         `json:"output_tokens"` // 0 is not known
	Can     []string    `json:"can"`           // what not all models can
	Price   event.Price `json:"price"`
	Rates   *rates      `json:"usd_per_million"`
	Since   string      `json:"since"`   // the day from which the rates hold
	Source  string      `json:"source"`  // where they stand
	Checked string      `json:"checked"` // the day on which they were compared
}

// rates are what kinds of tokens cost, as amounts in dollars.
type rates struct {
	Input      event.PicoUSD `json:"input"`
	Cached     event.PicoUSD `json:"cached"`
	CacheWrite event.PicoUSD `json:"cache_write"`
	Output     event.PicoUSD `json:"output"`
}

// Models are the models that colony knows: the catalogue's, then those that the settings name.
func (h *House) Models(getenv func(string) string) ([]ShownModel, error) {
	s, err := readSettings(h.Settings)
	if err != nil {
		return nil, err
	}
	catalogue, err := model.Builtin()
	if err != nil {
		return nil, err
	}
	c := &Colony{settings: s, catalogue: catalogue}
	var names []string
	for _, e := range catalogue.List() {
		names = append(names, e.Provider+"/"+e.Name)
	}
	for _, alias := range slices.Sorted(maps.Keys(s.models)) {
		for _, name := range c.chain(alias) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	var out []ShownModel
	for _, name := range names {
		out = append(out, c.shownModel(name, getenv))
	}
	return out, nil
}

func (c *Colony) shownModel(both string, getenv func(string) string) ShownModel {
	provider, name, _ := strings.Cut(both, "/")
	server := c.settings.providers[provider]
	m := ShownModel{Model: both, Names: []string{}, Key: "none", Can: []string{}}
	switch {
	case server.KeyEnv != "" && getenv(server.KeyEnv) == "":
		m.Key = "missing"
	case server.KeyEnv != "":
		m.Key = "set"
	}
	m.Window, m.Output = c.sizesOf(provider, name, server)
	rate := c.rateOf(provider, name, server)
	m.Price, m.Since = rate.State, rate.Date
	if rate.Cost != nil {
		cost := func(u model.Usage) event.PicoUSD { return rate.Cost(u) }
		const million = 1_000_000
		m.Rates = &rates{cost(model.Usage{Fresh: million}), cost(model.Usage{Cached: million}), cost(model.Usage{CacheWrite: million}), cost(model.Usage{Output: million})}
	}
	if e, ok := c.catalogue.Lookup(provider, name); ok {
		m.Can, m.Source, m.Checked = append(m.Can, e.Can...), e.Price.Source, e.Checked
		if e.Alias != "" && len(c.chain(e.Alias)) == 0 {
			m.Names = append(m.Names, e.Alias)
		}
	}
	for _, alias := range slices.Sorted(maps.Keys(c.settings.models)) {
		if slices.Contains(c.chain(alias), both) {
			m.Names = append(m.Names, alias)
		}
	}
	return m
}
