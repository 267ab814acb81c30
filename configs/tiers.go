package configs

import (
	"math/big"
	"slices"
	"strings"
	"time"
)

// tier is who gives a value, weakest first.
type tier int

const (
	organisation tier = iota
	user
	begun // the user's, when a run began
	project
	typed // a variable or a flag: the user, for this one command
)

// unites says that all tiers' entries of a list hold together. Such a list can only bind more.
func unites(key string) bool {
	return key == "run.gates" || key == "permissions.deny" || key == "permissions.ask" || strings.HasPrefix(key, "hooks.")
}

// adds says that all tiers' entries of a list add up, the earlier tier's first.
func adds(key string) bool { return unites(key) || key == "lsp.commands" }

// caps says that a value is a bound: a project may only lower it, an organisation's is the highest there is.
func caps(key string) bool {
	return key == "run.budget" || key == "run.approve_over" || key == "run.max_tokens" || key == "run.wall" || key == "lsp.wait" || strings.HasPrefix(key, "limits.")
}

// refused says why the tier may not set the key, or nothing. A project is everybody who can write to the
// repository: what it may set is listed, so a new key is not its own until somebody decides so.
func refused(t tier, key string) string {
	switch {
	case t == user || t == begun || t == typed || unites(key) || caps(key):
		return ""
	case t == project && (key == "run.ants" || key == "run.card" || key == "run.setup" || key == "lsp.commands"):
		return ""
	case t == organisation && ranks(key) != nil:
		return ""
	case t == project:
		return "a project may not set " + key + ": set it in your own settings"
	}
	return "the organisation's settings only tighten, and " + key + " cannot be tightened: set it in your own settings"
}

// ranks orders the words of a key from the tightest to the loosest.
func ranks(key string) []string {
	switch key {
	case "run.mode":
		return []string{"plan", "ask", "auto-edit", "auto"}
	case "sandbox.level":
		return []string{"read-only", "workspace", "workspace+net", "off"}
	}
	return nil
}

// looser says that a is beyond the bound b. Values that cannot be compared are not: decoding names them.
func looser(key, a, b string) bool {
	if words := ranks(key); words != nil {
		i, j := slices.Index(words, a), slices.Index(words, b)
		return i >= 0 && j >= 0 && i > j
	}
	x, xKind := amount(a)
	y, yKind := amount(b)
	switch {
	case xKind == "" || yKind == "" || yKind == "none":
		return false
	case xKind == "none":
		return true
	}
	return xKind == yKind && x.Cmp(y) > 0
}

// amount is a number or a time span.
func amount(text string) (*big.Rat, string) {
	if text == "none" {
		return nil, "none"
	}
	if span, err := time.ParseDuration(text); err == nil && strings.ContainsAny(text, "hms") {
		return new(big.Rat).SetInt64(int64(span)), "span"
	}
	if len(text) > 40 || strings.ContainsAny(text, "eE/_") {
		return nil, ""
	}
	if n, ok := new(big.Rat).SetString(text); ok {
		return n, "number"
	}
	return nil, ""
}

// unusable says why a bound bounds nothing, or nothing. Some may be 0: never again, or not at all.
func unusable(key, text string) string {
	n, kind := amount(text)
	switch {
	case !caps(key) || kind == "" || kind == "none" || n.Sign() > 0:
		return ""
	case n.Sign() < 0:
		return key + " must not be less than 0"
	case key == "run.budget" || key == "run.approve_over" || key == "run.max_tokens" || key == "limits.gate_returns" || key == "limits.text_nudges" || key == "limits.review_rounds":
		return ""
	}
	return key + " must be more than 0"
}
