package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// laterVerbs are the verbs of the command's contract that answer "not built yet".
var laterVerbs = []string{
	"watch", "web",
	"eval", "worker",
}

func later() []*cobra.Command {
	var out []*cobra.Command
	for _, name := range laterVerbs {
		out = append(out, laterCmd(name))
	}
	return out
}

func laterCmd(name string) *cobra.Command {
	return &cobra.Command{
		Use: name, Hidden: true, DisableFlagParsing: true, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return notBuilt(cmd.CommandPath())
		},
	}
}

// laterFlag is a flag of the command's contract that answers "not built yet" with exit 2.
type laterFlag struct{ command, name string }

func (f laterFlag) String() string   { return "" }
func (f laterFlag) Type() string     { return "value" }
func (f laterFlag) Set(string) error { return notBuilt(f.command + " --" + f.name) }
func (f laterFlag) IsBoolFlag() bool { return true }

// laterFlags adds hidden flags that are not built. A name may carry its shorthand: "detach/d".
func laterFlags(cmd *cobra.Command, names ...string) {
	for _, both := range names {
		name, short, _ := strings.Cut(both, "/")
		f := cmd.Flags().VarPF(laterFlag{cmd.Name(), name}, name, short, "not built yet")
		f.Hidden, f.NoOptDefVal = true, "true"
	}
}

var _ pflag.Value = laterFlag{}
