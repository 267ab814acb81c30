package main

import (
	"fmt"
	"strings"

	"colony/hatch"
	"colony/view"

	"github.com/spf13/cobra"
)

func (a *app) doctorCmd() *cobra.Command {
	var state string
	var level string
	var fix, prove bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "check this machine and this repository", Args: exactArgs(0, 0), Example: "  colony doctor\n  colony doctor --json\n  colony doctor --fix\n  colony doctor --prove",
		Long: "Check what a run needs: git, the sandbox (by trying it), settings, keys, local model servers, the state directory,\n" +
			"disk space, the repository, gates, language servers, trust, the logs of its runs, runs that were cut off, and what killed processes left.\n" +
			"Where something is wrong the exit code is 3, and each check says what to do.\n" +
			"With --fix a log that lost its end is mended, after a copy of it was kept, and leavings are removed; it says which.\n" +
			"With --prove every break-out that the sandbox must hold is tried in a scratch tree, first in the open, where it has to\n" +
			"work, then at the level of the settings or of --sandbox.\n" + exitHelp,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if fix {
				if err := a.inside(cmd); err != nil {
					return err
				}
			}
			checks := hatch.Doctor(cmd.Context(), a.where(state), a.environ(), a.getenv, fix)
			if prove {
				proofs, err := a.prove(cmd, state, level)
				if err != nil {
					return err
				}
				checks = append(checks, proofs...)
			}
			for _, c := range checks {
				if c.State == hatch.CheckWrong {
					a.exit = 3
				}
			}
			if a.json {
				return printJSON(a.out, map[string]any{"checks": checks})
			}
			return a.sayChecks(checks)
		},
	}
	a.stateFlag(cmd, &state)
	a.jsonFlag(cmd)
	cmd.Flags().BoolVar(&fix, "fix", false, "mend logs that lost their end, remove what killed processes left")
	cmd.Flags().BoolVar(&prove, "prove", false, "try every break-out of the sandbox in a scratch tree")
	cmd.Flags().StringVar(&level, "sandbox", "", "with --prove: the level to try (default: the settings')")
	return cmd
}

func (a *app) sayChecks(checks []hatch.Check) error {
	for _, c := range checks {
		if _, err := fmt.Fprintf(a.out, "%-5s  %-15s  %s\n", c.State, c.Name, view.Line(c.Found)); err != nil {
			return err
		}
		if c.Next != "" {
			fmt.Fprintf(a.out, "%s  next: %s\n", strings.Repeat(" ", 22), view.Line(c.Next))
		}
	}
	return nil
}
