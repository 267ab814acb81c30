// Package configs holds the settings: a readable default file, tiers that override one another, and the
// sections that rooms decode into structs of their own. It imports no room.
package configs

import (
	_ "embed"
	"strings"

	"github.com/spf13/viper"

	"colony/strict"
)

//go:embed default.yaml
var defaults []byte

// File is a settings file as it was read; an empty Path is a file that is not there.
type File struct {
	Path string
	Data []byte
}

// Parts are the tiers. Env is os.Environ(); only COLONY_SECTION_KEY=VALUE is read, and an empty value is none. Flags are typed options by
// their key, as run.budget; a list is one entry, or a YAML or JSON list in brackets. Begun are the settings that a run began
// with, in the place of User: what the organisation has bounded since is lowered to its bound.
type Parts struct {
	Organisation, User, Begun, Project File
	Env                                []string
	Flags                              map[string]string
}

// Settings are the merged tiers. They are immutable and safe for concurrent use.
type Settings struct {
	keys    *schema
	scalars *viper.Viper       // value by key
	lists   map[string][]value // in the order in which they add up
	entries map[string]value   // scalars inside the entries of map sections, whose names keep their case
	held    strict.Faults
	// ceilings are the organisation's bounds, by key.
	ceilings map[string]value
}

// Load reads and checks all tiers. The error is strict.Faults: all that is wrong with any tier but the types
// of values, which Section knows.
func Load(parts Parts) (*Settings, error) {
	m := newMerge()
	for _, f := range []struct {
		tier tier
		File
	}{{organisation, parts.Organisation}, {user, parts.User}, {begun, parts.Begun}, {project, parts.Project}} {
		if f.Path != "" {
			m.file(f.tier, f.Path, f.Data)
		}
	}
	for _, pair := range parts.Env {
		if name, text, ok := strings.Cut(pair, "="); ok && text != "" && strings.HasPrefix(name, "COLONY_") {
			m.variable(name, text)
		}
	}
	for key, text := range parts.Flags {
		m.flag(key, text)
	}
	return m.Settings, m.faults.Sorted().Err()
}

// Bound is the most that a key may be, as the organisation wrote it; false where it bounds nothing.
func (s *Settings) Bound(key string) (string, bool) {
	v, bound := s.ceilings[key]
	return v.scalar(), bound
}

// Held are a project's caps and limits that have no effect because they are not lower than the user's, for
// showing.
func (s *Settings) Held() strict.Faults { return s.held.Sorted() }
