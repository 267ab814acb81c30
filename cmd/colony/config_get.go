package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"colony/configs"
	"colony/hatch"
	"colony/strict"

	"github.com/spf13/cobra"
)

func (a *app) configGet() *cobra.Command {
	var origin bool
	cmd := &cobra.Command{
		Use: "get KEY", Short: "one setting in force", Args: exactArgs(1, 1), Example: "  colony config get run.budget\n  colony config get run.gates --origin",
		Long: "Print the value of a setting as YAML, or with --origin also where it comes from.\n" + exitHelp,
		RunE: func(_ *cobra.Command, args []string) error {
			house, err := a.house("", nil)
			if err != nil {
				return err
			}
			value, from := house.Settings.Get(args[0]), house.Settings.Origin(args[0])
			switch {
			case from == "":
				return noSetting(args[0])
			case a.json:
				return printJSON(a.out, map[string]string{"key": args[0], "value": value, "origin": from})
			case origin:
				w := table(a.out, "VALUE", "FROM")
				row(w, value, from)
				return w.Flush()
			}
			_, err = fmt.Fprintln(a.out, value)
			return err
		},
	}
	cmd.Flags().BoolVar(&origin, "origin", false, "where the value comes from")
	a.jsonFlag(cmd)
	return cmd
}

func noSetting(key string) error {
	var names []string
	for _, k := range configs.Keys() {
		names = append(names, k.Name)
	}
	message := fmt.Sprintf("there is no setting %q", key)
	if near := strict.Nearest(key, names); near != "" {
		message += ": did you mean " + near + "?"
	}
	return &hatch.Problem{Exit: 2, Code: "no_setting", Message: message, Next: "colony config list --origin names them all"}
}

// tierFile is a file of settings that is read where it is there.
type tierFile struct {
	Tier   string `json:"tier"`
	Path   string `json:"path"`
	Exists bool   `json:"exists"`
}

func (a *app) configPath() *cobra.Command {
	cmd := &cobra.Command{
		Use: "path", Short: "the files that settings are read from", Args: exactArgs(0, 0), Example: "  colony config path",
		Long: "List the files that settings are read from, the strongest first, and whether each is there. Variables and flags are\n" +
			"stronger than all of them.\n" + exitHelp,
		RunE: func(*cobra.Command, []string) error {
			files, err := tierFiles(hatch.Locate(a.where("")))
			if err != nil {
				return err
			}
			if a.json {
				return printJSON(a.out, map[string]any{"paths": files})
			}
			w := table(a.out, "TIER", "THERE", "PATH")
			for _, f := range files {
				there := "no"
				if f.Exists {
					there = "yes"
				}
				row(w, f.Tier, there, f.Path)
			}
			return w.Flush()
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

func tierFiles(house *hatch.House) ([]tierFile, error) {
	files := []tierFile{}
	if house.Root != "" {
		files = append(files, tierFile{Tier: "project", Path: filepath.Join(house.Root, ".colony", "config.yaml")})
	}
	files = append(files, tierFile{Tier: "user", Path: filepath.Join(house.Config, "config.yaml")}, tierFile{Tier: "organisation", Path: house.OrganisationFile()})
	for i, f := range files {
		_, err := os.Lstat(f.Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, &hatch.Problem{Exit: 2, Code: "bad_file", Message: fmt.Sprintf("the settings in %s cannot be looked at: %v", f.Path, err), Next: "make its directory readable, or remove it"}
		}
		files[i].Exists = err == nil
	}
	return files, nil
}

func (a *app) configSchema() *cobra.Command {
	cmd := &cobra.Command{
		Use: "schema", Short: "the JSON Schema of the settings", Args: exactArgs(0, 0), Example: "  colony config schema > config.schema.json",
		Long: "Print the JSON Schema of a settings file, for editors: every key with its default and what it does.\n" + exitHelp,
		RunE: func(*cobra.Command, []string) error {
			text, err := configs.Schema()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.out, "%s\n", text)
			return err
		},
	}
	a.jsonFlag(cmd)
	return cmd
}
