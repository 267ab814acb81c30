package hatch

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"colony/cards"
	"colony/event"
	"colony/ledger"
	"colony/model"
	"colony/model/openai"
)

// chosen is the model of a card, with the way to it.
type chosen struct {
	provider string // by the settings' name
	name     string // as the provider spells it
	server   providerSettings
	key      string
	rate     ledger.Rate
}

func (c chosen) String() string { return c.provider + "/" + c.name }

// choose finds the model of a card: a typed one, else the card's, else the settings', else the large model of the first
// provider that has a key.
func (c *Colony) choose(card cards.Card) (chosen, error) {
	return c.resolve(card.Name, cmp.Or(c.parts.Models[card.Name], c.parts.Models[""], card.Model))
}

// resolve is the model that a card names. An alias stands for the first with a key; small, where no provider has one,
// for the settings' model.
func (c *Colony) resolve(card, name string) (chosen, error) {
	if name == "" || name == "default" {
		name = c.settings.run.Model
	}
	if name == "" || name == "default" || name == "small" {
		found, err := c.firstWithKey(cmp.Or(name, "default"))
		if own := c.settings.run.Model; err != nil && name == "small" && strings.Contains(own, "/") {
			found, err = own, nil
		}
		if err != nil {
			return chosen{}, err
		}
		name = found
	}
	provider, name, ok := strings.Cut(name, "/")
	if !ok || name == "" {
		return chosen{}, &Problem{Exit: 2, Code: "no_model", Message: fmt.Sprintf("the model %q of card %s names no provider", provider, card), Next: "write it as provider/model, for example openai/gpt-5-mini"}
	}
	return c.reach(provider, name)
}

// reach is a provider's model with its address, key and rate.
func (c *Colony) reach(provider, name string) (chosen, error) {
	server, known := c.settings.providers[provider]
	if !known {
		if provider == "anthropic" {
			return chosen{}, &Problem{Exit: 2, Code: "not_built", Message: "provider anthropic: not built yet", Next: "name another model with --model"}
		}
		return chosen{}, &Problem{Exit: 2, Code: "no_model", Message: fmt.Sprintf("the provider %q is not among the settings", provider), Next: "known are " + strings.Join(slices.Sorted(maps.Keys(c.settings.providers)), ", ")}
	}
	if provider == "openai" {
		server.BaseURL = cmp.Or(c.parts.Getenv("OPENAI_BASE_URL"), server.BaseURL)
	}
	address, err := url.Parse(server.BaseURL)
	if err != nil || address.Host == "" || (address.Scheme != "http" && address.Scheme != "https") {
		return chosen{}, &Problem{Exit: 2, Code: "no_model", Message: fmt.Sprintf("provider %s has no address: %q", provider, server.BaseURL), Next: "set providers." + provider + ".base_url in your config.yaml"}
	}
	if address.User != nil || address.RawQuery != "" { // it is shown in messages
		return chosen{}, &Problem{Exit: 2, Code: "no_model", Message: "the address of provider " + provider + " holds a user or a query, where keys hide", Next: "put the key into the environment and leave it out of the address"}
	}
	switch server.Wire {
	case "", auto, string(openai.Chat), string(openai.Responses):
	default:
		return chosen{}, badSetting("providers."+provider+".wire", server.Wire, "chat, responses or auto")
	}
	found := chosen{provider: provider, name: name, server: server, rate: c.rateOf(provider, name, server)}
	if server.KeyEnv != "" {
		if found.key = c.parts.Getenv(server.KeyEnv); found.key == "" {
			return chosen{}, c.noKey(server.KeyEnv, provider)
		}
		if strings.ContainsAny(found.key, "\r\n\x00") {
			return chosen{}, &Problem{Exit: 2, Code: "no_key", Message: fmt.Sprintf("the key of provider %s holds a line break: %s", provider, server.KeyEnv), Next: "set " + server.KeyEnv + " to the key alone"}
		}
	}
	return found, nil
}

func (c *Colony) rateOf(provider, name string, server providerSettings) ledger.Rate {
	if own, err := model.ParsePrice(server.Price); err == nil {
		return ledger.Rate{State: event.Known, Cost: costOf(own)}
	}
	if entry, ok := c.catalogue.Lookup(provider, name); ok {
		return ledger.Rate{State: event.Known, Date: entry.Price.Date, Cost: costOf(entry.Price)}
	}
	if server.Price == string(event.Free) {
		return ledger.Rate{State: event.Free}
	}
	return ledger.Rate{State: event.Unknown}
}

// costOf is what a usage costs at a price that is known.
func costOf(p model.Price) func(model.Usage) event.PicoUSD {
	return func(u model.Usage) event.PicoUSD {
		pico, _ := p.Cost(u)
		return event.PicoUSD(pico)
	}
}

// firstWithKey is the catalogue's model of this alias of the first provider whose key is set.
func (c *Colony) firstWithKey(alias string) (string, error) {
	for _, entry := range c.catalogue.List() {
		server, ok := c.settings.providers[entry.Provider]
		if ok && entry.Alias == alias && c.parts.Getenv(server.KeyEnv) != "" {
			return entry.Provider + "/" + entry.Name, nil
		}
	}
	return "", c.noKey("OPENAI_API_KEY", "openai")
}

func (c *Colony) noKey(variable, provider string) *Problem {
	local := "start a local server such as ollama and name its model with --model ollama/NAME"
	if found := answering(c.settings.providers); found != "" {
		local = "use the server that answers on this machine: --model " + found
	}
	return &Problem{
		Exit: 2, Code: "no_key", Message: fmt.Sprintf("no key for provider %s: %s is not set", provider, variable),
		Next: fmt.Sprintf("set %s, or OPENAI_BASE_URL and OPENAI_API_KEY for a compatible server, or %s", variable, local),
	}
}

// route is the way of one card's requests: a client and the governor that all ants of this key and model share.
type route struct {
	client   *openai.Client
	governor *model.Governor
}

// routes opens one client and one governor for each key and model in use.
func (c *Colony) routes() (map[string]route, error) {
	out := map[string]route{}
	for _, m := range c.models {
		if _, ok := out[m.String()]; ok {
			continue
		}
		limits := c.settings.limits
		client, err := openai.New(openai.Parts{
			BaseURL: m.server.BaseURL, Wire: m.server.wire(), Key: m.key, FirstByte: time.Duration(limits.FirstByte), Idle: time.Duration(limits.Idle),
		})
		if err != nil {
			return nil, fmt.Errorf("provider %s: %w", m.provider, err)
		}
		governor, err := model.NewGovernor(model.GovernorParts{Attempts: limits.Attempts, Throttled: c.throttled})
		if err != nil {
			return nil, err
		}
		out[m.String()] = route{client, governor}
	}
	return out, nil
}
