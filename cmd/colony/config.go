package main

import (
	"fmt"

	"colony/configs"

	"github.com/spf13/cobra"
)

func (a *app) configCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "list the settings", Args: exactArgs(0, -1), Long: "List the settings." + exitHelp, Example: "  colony config list --origin",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownVerb(cmd, args[0])
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(a.configList(), laterCmd("get"), laterCmd("path"), laterCmd("schema"))
	return cmd
}

func (a *app) configList() *cobra.Command {
	var origin bool
	cmd := &cobra.Command{
		Use: "list", Short: "the settings in force", Args: exactArgs(0, 0), Example: "  colony config list --origin\n  colony config list --json",
		Long: "Print the settings in force as YAML, or each key with where its value comes from." + exitHelp,
		RunE: func(*cobra.Command, []string) error {
			house, err := a.house("", nil)
			if err != nil {
				return err
			}
			if a.json {
				return a.settingsJSON(house.Settings)
			}
			if !origin {
				_, err = fmt.Fprint(a.out, house.Settings.Text())
				return err
			}
			w := table(a.out, "KEY", "FROM")
			for _, k := range configs.Keys() {
				row(w, k.Name, house.Settings.Origin(k.Name))
			}
			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&origin, "origin", false, "where each value comes from")
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) settingsJSON(s *configs.Settings) error {
	type key struct {
		Key     string `json:"key"`
		Value   string `json:"value"`
		Default string `json:"default"`
		Origin  string `json:"origin"`
	}
	keys := []key{}
	for _, k := range configs.Keys() {
		keys = append(keys, key{k.Name, s.Get(k.Name), k.Default, s.Origin(k.Name)})
	}
	return printJSON(a.out, map[string]any{"settings": keys, "sha256": s.SHA256()})
}
