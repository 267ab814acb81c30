package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"colony/configs"
	"colony/event"
	"colony/hatch"

	"github.com/spf13/cobra"
)

// shells are those that completion can be written for.
var shells = []string{"bash", "zsh", "fish", "powershell"}

func (a *app) completionCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "completion SHELL", Short: "completion of verbs, flags, runs, ants and tasks for a shell", Args: exactArgs(1, 1),
		Long: "Print a script that completes colony's words in bash, zsh, fish or powershell: verbs and flags, and the runs, ants,\n" +
			"tasks and cards of the repository you are in.\n" + exitHelp,
		Example: "  colony completion bash > /etc/bash_completion.d/colony\n  source <(colony completion zsh)",
		RunE: func(cmd *cobra.Command, args []string) error {
			var script bytes.Buffer
			if err := completion(cmd.Root(), args[0], &script); err != nil {
				return usage(cmd, err)
			}
			if a.json {
				return printJSON(a.out, map[string]string{"shell": args[0], "script": script.String()})
			}
			_, err := a.out.Write(script.Bytes())
			return err
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

func completion(root *cobra.Command, shell string, out io.Writer) error {
	switch shell {
	case "bash":
		return root.GenBashCompletionV2(out, true)
	case "zsh":
		return root.GenZshCompletion(out)
	case "fish":
		return root.GenFishCompletion(out, true)
	case "powershell":
		return root.GenPowerShellCompletionWithDesc(out)
	}
	return fmt.Errorf("there is no completion for %q: there is one for %s", shell, strings.Join(shells, ", "))
}

// completeWords gives every verb the completion of its arguments, by the words of its usage line, and of its flags that
// name an ant, a task, a card or a run.
func (a *app) completeWords(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		a.completeWords(sub)
	}
	if cmd.Hidden {
		return
	}
	places := strings.Fields(strings.NewReplacer("[", "", "]", "", "...", "").Replace(cmd.Use))
	if places = places[min(1, len(places)):]; len(places) > 0 && cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			if len(args) >= len(places) {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return a.complete(cmd, places[len(args)], args, begun)
		}
	}
	for flag, word := range map[string]string{"ant": "ANT", "task": "TASK", "card": "NAME", "run": "RUN"} {
		if f := cmd.LocalFlags().Lookup(flag); f == nil || f.Hidden {
			continue
		}
		fill := func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			return a.complete(cmd, word, args, begun)
		}
		if err := cmd.RegisterFlagCompletionFunc(flag, fill); err != nil {
			panic(err) // the flag was just looked up
		}
	}
}

// complete are the words of a kind that begin so. What is no kind of ours is left to the shell, which names files.
func (a *app) complete(cmd *cobra.Command, kind string, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	var all []string
	switch kind {
	case "RUN":
		all = a.runWords(cmd)
	case "ANT", "TASK":
		all = a.logWords(cmd, kind, args)
	case "NAME":
		if house, err := a.house("", nil); err == nil {
			for _, c := range house.Cards.List() {
				all = append(all, c.Name)
			}
		}
	case "KEY":
		for _, k := range configs.Keys() {
			all = append(all, k.Name)
		}
	case "SHELL":
		all = shells
	default:
		return nil, cobra.ShellCompDirectiveDefault
	}
	all = slices.DeleteFunc(slices.Clone(all), func(w string) bool { return !strings.HasPrefix(w, begun) })
	return all, cobra.ShellCompDirectiveNoFileComp
}

// here is the repository, with the state directory that was typed.
func (a *app) here(cmd *cobra.Command) *hatch.House {
	state := ""
	if f := cmd.Flags().Lookup("state-dir"); f != nil {
		state = f.Value.String()
	}
	return hatch.Locate(a.where(state))
}

// runWords are @ and the ids of the repository's runs, the latest first.
func (a *app) runWords(cmd *cobra.Command) []string {
	runs, err := a.here(cmd).Runs()
	if err != nil || len(runs) == 0 {
		return nil
	}
	words := []string{"@"}
	for _, r := range slices.Backward(runs) {
		words = append(words, r.ID)
	}
	return words
}

// logWords are the ants or tasks in the log of the run that was typed, else of the latest.
func (a *app) logWords(cmd *cobra.Command, kind string, args []string) []string {
	run := "@"
	if f := cmd.Flags().Lookup("run"); f != nil && f.Value.String() != "" {
		run = f.Value.String()
	}
	if strings.Contains(cmd.Use, "RUN") && len(args) > 0 {
		run = args[0]
	}
	past, err := a.here(cmd).Find(run)
	if err != nil {
		return nil
	}
	var words []string
	for e, err := range past.Events(cmd.Context()) {
		if err != nil {
			break
		}
		if word := wordOf(e, kind); word != "" && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	slices.Sort(words)
	return words
}

func wordOf(e event.Event, kind string) string {
	if kind == "ANT" {
		return e.Ant
	}
	return e.Task
}
