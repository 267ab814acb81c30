package cards

import (
	"embed"
	"path"
)

//go:embed builtin/*.yaml
var builtin embed.FS

// BuiltinSource is the Source of the cards that come with colony.
const BuiltinSource = "built-in"

// Builtin is the cards that come with colony, by name. They have no faults: a test holds them to that.
func Builtin() []Card {
	entries, _ := builtin.ReadDir("builtin")
	cards := make([]Card, 0, len(entries))
	for _, entry := range entries {
		data, _ := builtin.ReadFile(path.Join("builtin", entry.Name()))
		c, _ := Parse(BuiltinSource, data)
		cards = append(cards, c)
	}
	return cards
}
