package main

import (
	"encoding/json"
	"os/user"
	"path/filepath"

	"colony/hatch"
)

// house finds where the command was typed and what is set there.
func (a *app) house(state string, flags map[string]string, trusted ...string) (*hatch.House, error) {
	return hatch.Enter(a.where(state), a.environ(), flags, trusted...)
}

// path is a typed path as seen from -C DIR.
func (a *app) path(typed string) string {
	if filepath.IsAbs(typed) {
		return typed
	}
	joined := filepath.Join(a.dir, typed)
	if abs, err := filepath.Abs(joined); err == nil {
		return abs
	}
	return joined
}

func (a *app) stateDir(typed string) string {
	if typed != "" {
		return a.path(typed)
	}
	return a.xdg("XDG_STATE_HOME", filepath.Join(".local", "state"))
}

func (a *app) cacheDir() string { return a.xdg("XDG_CACHE_HOME", ".cache") }

// xdg is colony's directory under a base directory as the XDG specification places it.
func (a *app) xdg(variable, underHome string) string {
	if dir := a.getenv(variable); filepath.IsAbs(dir) {
		return filepath.Join(dir, "colony")
	}
	home := a.getenv("HOME")
	if !filepath.IsAbs(home) { // never a place where others could have put settings for us
		home = "/nonexistent"
		if account, err := user.Current(); err == nil && filepath.IsAbs(account.HomeDir) {
			home = account.HomeDir
		}
	}
	return filepath.Join(home, underHome, "colony")
}

// flow is a list as a YAML flow sequence.
func flow(list []string) string {
	data, err := json.Marshal(list)
	if err != nil {
		return "[]"
	}
	return string(data)
}

// where are the places of this invocation.
func (a *app) where(state string) hatch.Places {
	return hatch.Places{Dir: a.path("."), State: a.stateDir(state), Config: a.xdg("XDG_CONFIG_HOME", ".config"), Organisation: a.organisation}
}
