package main

import (
	"errors"

	"colony/hatch"

	"github.com/spf13/cobra"
)

// goOnFrom reads --from and --land into the parts of a run.
func goOnFrom(cmd *cobra.Command, o *runOptions, parts *hatch.Parts) error {
	parts.Land = o.land
	if o.from == "" {
		return nil
	}
	if o.base != "" {
		return usage(cmd, errors.New("--from begins at the run's branch, so --base has no place beside it"))
	}
	past, err := parts.House.Find(o.from)
	if err != nil {
		return err
	}
	parts.From, err = parts.House.From(cmd.Context(), past)
	return err
}
