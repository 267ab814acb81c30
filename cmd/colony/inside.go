package main

import (
	"slices"

	"colony/hatch"

	"github.com/spf13/cobra"
)

// deciding are the verbs that decide for a person: what is trusted, answered, told, stopped, taken over or removed.
var deciding = []string{"answer", "gc", "init", "land", "pause", "resume", "retry", "steer", "stop", "trust"}

// outside refuses what decides for a person in a process that colony started for an ant.
func (a *app) outside(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		if !slices.Contains(deciding, cmd.Name()) {
			continue
		}
		run := cmd.RunE
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if err := a.inside(cmd); err != nil {
				return err
			}
			return run(cmd, args)
		}
	}
}

func (a *app) inside(cmd *cobra.Command) error {
	if a.getenv(hatch.InsideVariable) == "" {
		return nil
	}
	return &hatch.Problem{
		Exit: 2, Code: "inside_ant", Message: cmd.CommandPath() + " decides for the person who started colony, and this is a process of an ant",
		Next: "type it in a terminal of your own",
	}
}
