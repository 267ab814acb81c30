package main

import (
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

func (a *app) versionCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "version", Short: "print the version", Args: exactArgs(0, 0), Long: "Print the version." + exitHelp,
		Example: "  colony version --json",
		RunE: func(*cobra.Command, []string) error {
			if !a.json {
				_, err := fmt.Fprintf(a.out, "colony %s (%s, %s/%s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
				return err
			}
			return json.NewEncoder(a.out).Encode(map[string]string{
				"version": version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
			})
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) jsonFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.json, "json", false, "print JSON")
}
