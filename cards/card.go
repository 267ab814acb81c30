// Package cards holds the card format: who an ant is, what it may use, how it is checked and what it may
// spend; the built-in cards with their prompts; the shelf that finds a card by name; and the reading of other
// tools' agent files as cards.
package cards

import (
	"time"

	"colony/strict"
)

// Card is a role. An ant is told the Prompt and may use the Tools, which are a wall: none listed, none used.
type Card struct {
	Name, Description, Model, Effort, Prompt string
	Escalate                                 string // the model that goes on after the last failed gate; empty for none
	Diagnostics                              string // what its ants read of their edits; empty where the settings say it
	Tools                                    []string
	Permissions                              Permissions
	Sandbox                                  Sandbox
	Caps                                     Caps
	Gates                                    []string
	Skills                                   []string // what the ant may call up; with any, skill is one of Tools
	MCP                                      MCP
	Parallel                                 int      // ants of this card at once; 0 is no bound
	Hatch                                    []string // cards that its ants may hatch as helpers
	Extends                                  string   // the card whose values hold where this one gives none
	Source                                   string   // the file, or BuiltinSource
	SHA256                                   string   // of Text
	Text                                     string   // the YAML as it was read, then that of each card it extends
	doc                                      *strict.Doc
	from                                     map[string]origin // by key, as caps.usd; only keys that are set
}

// origin is the card that gives a value.
type origin struct {
	card, source string
	doc          *strict.Doc
}

// Permissions are rules over calls: deny beats ask beats allow.
type Permissions struct {
	Allow []string `yaml:"allow"`
	Ask   []string `yaml:"ask"`
	Deny  []string `yaml:"deny"`
}

// Sandbox is what confines an ant's processes. It only tightens: the level is the most that the run's may be, and is
// empty where the card leaves it to the run; Net are hosts that they reach where the level is workspace+net.
type Sandbox struct {
	Level string
	Net   []string
}

// MCP is what the ant has of servers: those that are started for it, of whose tools Tools says which it may use; Always are
// those that it need not look for.
type MCP struct{ Servers, Always []string }

// Caps bound one ant; a nil field does not. Output is the limit of one reply in tokens, 0 for the setting's.
type Caps struct {
	PicoUSD, Tokens, Turns, Calls *int64
	Wall                          *time.Duration
	Output                        int
}
