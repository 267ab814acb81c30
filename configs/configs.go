// Package configs holds the settings: a readable default file, tiers that override one another, and the
// sections that rooms decode into structs of their own. It imports no room.
package configs

import "colony/strict"

// File is a settings file as it was read; an empty Path is a file that is not there.
type File struct {
	Path string
	Data []byte
}

// Parts are the tiers. Env is os.Environ(); only COLONY_SECTION_KEY=VALUE is read. Flags are typed options by
// their key, as run.budget; a list is given as a YAML flow sequence, as JSON is.
type Parts struct {
	Organisation, User, Project File
	Env                         []string
	Flags                       map[string]string
}

// Key is one setting: its name as run.ants, its default as YAML text, and the comment of the default file.
type Key struct{ Name, Default, Comment string }

// Settings are the merged tiers. They are immutable and safe for concurrent use.
type Settings struct{}

// Load reads and checks all tiers. The error is strict.Faults: all that is wrong with any tier.
func Load(parts Parts) (*Settings, error) {
	return nil, strict.Faults{{Text: "settings are not built yet"}}
}

// Section decodes a section into the struct into points to, by its yaml tags and the rules of strict. The
// error is strict.Faults that name the file or the variable.
func (s *Settings) Section(name string, into any) error { return nil }

// Origin says where the key's value comes from: "default", a file with its line, a variable or a flag.
func (s *Settings) Origin(key string) string { return "" }

// Keys are all settings, in the order of the default file.
func Keys() []Key { return nil }

// Text is the settings in force as YAML, the same for the same settings.
func (s *Settings) Text() string { return "" }

// SHA256 is the hash of Text.
func (s *Settings) SHA256() string { return "" }
