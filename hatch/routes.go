package hatch

import (
	"fmt"

	"colony/model"
	"colony/model/anthropic"
	"colony/model/ollama"
	"colony/model/openai"
)

// route is the way of one model's requests: a client and the governor that all ants of this key and model share.
type route struct {
	client   model.Provider
	governor *model.Governor
}

// routes opens one client and one governor for each key and model in use.
func (c *Colony) routes() (map[string]route, error) {
	out, keys := map[string]route{}, map[[2]string]*model.Key{}
	for _, m := range c.reached() {
		if _, ok := out[m.String()]; ok {
			continue
		}
		account := [2]string{m.server.BaseURL, m.key}
		if keys[account] == nil {
			keys[account] = model.NewKey()
		}
		client, err := c.client(m)
		if err != nil {
			return nil, fmt.Errorf("provider %s: %w", m.provider, err)
		}
		governor, err := model.NewGovernor(model.GovernorParts{
			Attempts: c.settings.limits.Attempts, Output: m.output, Key: keys[account], Throttled: c.throttled,
		})
		if err != nil {
			return nil, err
		}
		out[m.String()] = route{client, governor}
	}
	return out, nil
}

// reached are all models that the run may ask: those of its cards, those that take over, and those that sum up.
func (c *Colony) reached() (all []chosen) {
	for _, m := range c.models {
		all = append(append(all, m), m.next...)
		if small, ok := c.small(m); ok {
			all = append(all, small)
		}
	}
	return all
}

// client speaks the wire of a model's provider.
func (c *Colony) client(m chosen) (model.Provider, error) {
	first, idle := limit(m.server.FirstByte, c.settings.limits.FirstByte), limit(m.server.Idle, c.settings.limits.Idle)
	switch wire := m.server.wire(); wire {
	case messagesWire:
		return anthropic.New(anthropic.Parts{BaseURL: m.server.BaseURL, Key: m.key, FirstByte: first, Idle: idle, Blob: c.blobs.Get})
	case ollamaWire:
		return ollama.New(ollama.Parts{BaseURL: m.server.BaseURL, Key: m.key, Window: m.window, FirstByte: first, Idle: idle, Blob: c.blobs.Get})
	default:
		return openai.New(openai.Parts{BaseURL: m.server.BaseURL, Wire: openai.Wire(wire), Key: m.key, FirstByte: first, Idle: idle, Blob: c.blobs.Get})
	}
}
