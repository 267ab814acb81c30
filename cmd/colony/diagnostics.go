package main

import "github.com/hashicorp/go-hclog"

// diagnostics is the operator's log on stderr: silent unless COLONY_LOG names a level.
func (a *app) diagnostics() hclog.Logger {
	level := hclog.LevelFromString(a.getenv("COLONY_LOG"))
	if level == hclog.NoLevel {
		level = hclog.Off
	}
	return hclog.New(&hclog.LoggerOptions{Name: "colony", Level: level, Output: a.err})
}
