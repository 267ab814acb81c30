package main

import (
	"colony/hatch"
	"colony/tools"

	"github.com/spf13/cobra"
)

func (a *app) sandboxCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "sandbox", Short: "run a command as an ant would", Args: exactArgs(0, 0), Example: "  colony sandbox run -- go test ./...",
		Long: "What confines the processes of ants, for one command of yours.\n" + exitHelp,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.sandboxRunCmd())
	return cmd
}

func (a *app) sandboxRunCmd() *cobra.Command {
	var level, state string
	cmd := &cobra.Command{
		Use: "run [--level LEVEL] -- CMD...", Short: "run one command as an ant's sh would", Args: exactArgs(1, -1),
		Example: "  colony sandbox run -- go test ./...\n  colony sandbox run --level read-only -- bash -c 'echo x > file'\n  colony sandbox run --json -- make",
		Long: "Run one command with what an ant's command has: the checkout for a worktree, colony's build cache, an empty home and\n" +
			"/tmp, no input, and at levels read-only and workspace no network but a loopback of its own; at workspace+net it reaches\n" +
			"what the card of run.card and sandbox.net of your settings name. At level workspace the\n" +
			"command may write to this checkout, but for .git and other protected paths.\n" +
			"With --json its output goes to stderr, and how it ended to stdout.\n" + exitHelp +
			"\n  any other  the command's own; 126, 127 where it could not be started, 128 and more where a signal ended it",
		RunE: func(cmd *cobra.Command, args []string) error { return a.runSandboxed(cmd, level, state, args) },
	}
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().StringVar(&level, "level", "", "read-only, workspace, workspace+net or off (default: the settings')")
	a.stateFlag(cmd, &state)
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) runSandboxed(cmd *cobra.Command, level, state string, argv []string) error {
	flags := map[string]string{}
	if cmd.Flags().Changed("level") {
		flags["sandbox.level"] = level
	}
	house, err := a.house(state, flags)
	if err != nil {
		return err
	}
	out := exactly(a.out)
	if a.json {
		out = exactly(a.err)
	}
	held, by, exit, err := house.Sandboxed(cmd.Context(), a.getenv, tools.Process{Argv: argv, Dir: house.Dir, Stdout: out, Stderr: exactly(a.err)})
	if err != nil {
		return err
	}
	a.exit = exit.Code
	if !a.json {
		return nil
	}
	return printJSON(a.out, struct {
		Level     string `json:"level"`
		Mechanism string `json:"mechanism"`
		Exit      int    `json:"exit"`
		Signal    string `json:"signal"`
		Ms        int64  `json:"ms"`
	}{held, by, exit.Code, exit.Signal, exit.Duration.Milliseconds()})
}

// prove adds the break-outs to the checks of doctor.
func (a *app) prove(cmd *cobra.Command, state, level string) ([]hatch.Check, error) {
	return hatch.Locate(a.where(state)).Prove(cmd.Context(), a.environ(), level)
}
