package cards

import "colony/strict"

// Parts are where cards come from, weakest first: the built-in ones, the user's directory, and the project's
// files, which the caller hands in only when they are trusted.
type Parts struct {
	Builtin []Card
	UserDir string            // read for *.yaml; need not exist
	Project map[string][]byte // by file
}

// Shelf finds cards by name. It is immutable.
type Shelf struct{ cards map[string]Card }

// Load reads all cards; a name that a stronger source gives again replaces the weaker card.
func Load(parts Parts) (*Shelf, strict.Faults) {
	return nil, strict.Faults{{Text: "cards are not built yet"}}
}

// Get is the card of that name, else an *UnknownError.
func (s *Shelf) Get(name string) (Card, error) { return Card{}, nil }

// List is all cards by name.
func (s *Shelf) List() []Card { return nil }
