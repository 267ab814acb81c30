package secrets

import (
	"slices"
	"strings"
)

// shortest is the length from which a value is a secret, and not a word that any text may hold.
const shortest = 8

// Environ returns the values in environ, as os.Environ returns it, whose names say that they are secret. Places and words
// are none: a text that merely holds one would lose it.
func Environ(environ []string) []string {
	names := map[string]bool{}
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		names[name] = true
	}
	var values []string
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if private(name) && len(value) >= shortest && !names[value] && !place(value) && strings.ContainsFunc(value, unlikeWords) {
			values = append(values, value)
		}
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// private reports whether a variable's name says that its value is secret.
func private(name string) bool {
	if strings.HasPrefix(name, "COLONY_") {
		return false
	}
	for _, word := range strings.Split(strings.ToUpper(name), "_") {
		for _, ending := range []string{"KEY", "KEYS", "TOKEN", "TOKENS", "SECRET", "SECRETS", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS"} {
			if strings.HasSuffix(word, ending) {
				return true
			}
		}
		if word == "PASS" || word == "PAT" || word == "AUTH" || word == "DSN" {
			return true
		}
	}
	return false
}

// place reports whether a value says where something is: a path, or a URL without a password.
func place(value string) bool {
	if strings.HasPrefix(value, "/") || strings.HasPrefix(value, "~") || strings.HasPrefix(value, "./") {
		return true
	}
	_, rest, isURL := strings.Cut(value, "://")
	return isURL && !strings.Contains(rest, "@")
}

func unlikeWords(r rune) bool { return (r < 'a' || r > 'z') && r != ' ' }
