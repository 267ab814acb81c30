package hatch

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

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
	window   int      // tokens of context; 0 where it is not known
	output   int      // the most tokens of a reply; 0 where it is not known
	next     []chosen // those that take over, in this order
}

func (c chosen) String() string { return c.provider + "/" + c.name }

// choose finds the model of a card: a typed one, else the card's, else the settings', else the large model of the first
// provider that has a key.
func (c *Colony) choose(card cards.Card) (chosen, error) {
	return c.resolve(card.Name, cmp.Or(c.parts.Models[card.Name], c.parts.Models[""], card.Model))
}

// resolve is the model that a card names. A name stands for its chain; without one, default and small stand for the
// catalogue's model of the first provider with a key, and small, where there is none, for the settings' model.
func (c *Colony) resolve(card, name string) (chosen, error) {
	if name == "" || name == "default" {
		name = cmp.Or(c.settings.run.Model, "default")
	}
	if chain := c.chain(name); len(chain) > 0 {
		return c.follow(card, chain)
	}
	if name == "default" || name == "small" {
		found, err := c.firstWithKey(name)
		if own := c.settings.run.Model; err != nil && name == "small" && strings.Contains(own, "/") {
			found, err = own, nil
		}
		if err != nil {
			return chosen{}, err
		}
		name = found
	}
	return c.one(card, name)
}

// chain is the models that a name stands for; none where it stands for none.
func (c *Colony) chain(name string) []string {
	return strings.FieldsFunc(c.settings.models[name].Chain, func(r rune) bool { return r == ',' || r == ' ' })
}

// follow is the first of a chain that can be reached, with the others that can. A provider without its key is passed over.
func (c *Colony) follow(card string, chain []string) (chosen, error) {
	var found []chosen
	var first error
	for _, name := range chain {
		one, err := c.one(card, name)
		var problem *Problem
		switch {
		case err == nil:
			found = append(found, one)
		case !errors.As(err, &problem) || problem.Code != "no_key":
			return chosen{}, err
		case first == nil:
			first = err
		}
	}
	if len(found) == 0 {
		return chosen{}, first
	}
	found[0].next = found[1:]
	return found[0], nil
}

// one is a model that is named as provider/model.
func (c *Colony) one(card, name string) (chosen, error) {
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
	case "", auto, string(openai.Chat), string(openai.Responses), messagesWire, ollamaWire:
	default:
		return chosen{}, badSetting("providers."+provider+".wire", server.Wire, "chat, responses, messages, ollama or auto")
	}
	found := chosen{provider: provider, name: name, server: server, rate: c.rateOf(provider, name, server)}
	found.window, found.output = c.sizesOf(provider, name, server)
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

// small is the model that sums conversations up for a model: what the settings call small, else its own provider's small
// one; false where there is none. No other provider comes to see what this one was told.
func (c *Colony) small(m chosen) (chosen, bool) {
	if chain := c.chain("small"); len(chain) > 0 {
		found, err := c.follow("compaction", chain)
		return found, err == nil
	}
	if entry, ok := c.catalogue.Lookup(m.provider, "small"); ok {
		found, err := c.reach(m.provider, entry.Name)
		return found, err == nil
	}
	return chosen{}, false
}

// known is what the settings know better of a model than the catalogue.
func (c *Colony) known(provider, name string) modelSettings {
	for _, alias := range slices.Sorted(maps.Keys(c.settings.models)) {
		if chain := c.chain(alias); len(chain) > 0 && chain[0] == provider+"/"+name {
			return c.settings.models[alias]
		}
	}
	return modelSettings{}
}

// sizesOf is the window of a model and the most that it says at once; 0 where that is not known.
func (c *Colony) sizesOf(provider, name string, server providerSettings) (window, output int) {
	own := c.known(provider, name)
	entry, _ := c.catalogue.Lookup(provider, name)
	return cmp.Or(own.Window, entry.Window, server.Window), cmp.Or(own.Output, entry.Output)
}

func (c *Colony) rateOf(provider, name string, server providerSettings) ledger.Rate {
	own := c.known(provider, name)
	if own.Price == string(event.Free) {
		return ledger.Rate{State: event.Free}
	}
	for _, text := range []string{own.Price, server.Price} {
		if price, err := model.ParsePrice(text); err == nil {
			return knownRate(price.Less(own.Discount))
		}
	}
	if entry, ok := c.catalogue.Lookup(provider, name); ok {
		return knownRate(entry.Price.Less(own.Discount))
	}
	if server.Price == string(event.Free) {
		return ledger.Rate{State: event.Free}
	}
	return ledger.Rate{State: event.Unknown}
}

// knownRate is a price that is known, as the ledger takes it.
func knownRate(p model.Price) ledger.Rate {
	return ledger.Rate{
		State: event.Known, Date: p.Date, Text: p.String(), Services: slices.Sorted(maps.Keys(p.Services)),
		Cost: func(u model.Usage) event.PicoUSD {
			pico, _ := p.Cost(u)
			return event.PicoUSD(pico)
		},
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
