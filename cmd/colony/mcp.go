package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"colony/mcp"
	"colony/view"

	"github.com/spf13/cobra"
)

func (a *app) mcpCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "mcp", Short: "servers of the Model Context Protocol", Args: exactArgs(0, 0), Example: "  colony mcp list",
		Long: "Servers whose tools ants may use, where their card says so: mcp names the servers that are started for them, and tools\n" +
			"which of theirs they may use, as mcp__server__tool or mcp__server__*. Yours are in your mcp.json, the repository's in its\n" +
			".mcp.json, of which nothing is started before you trust it.\n" + exitHelp,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.mcpList(), a.mcpAdd(), a.mcpRemove(), a.mcpTest(), laterCmd("serve"))
	return cmd
}

func (a *app) mcpList() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "the servers there are", Args: exactArgs(0, 0), Example: "  colony mcp list\n  colony mcp list --json",
		Long: "List the servers that cards may name, and those of the repository that you have not trusted. Nothing is started.\n" + exitHelp,
		RunE: func(*cobra.Command, []string) error {
			house, err := a.house("", nil)
			if err != nil {
				return err
			}
			list, err := house.Servers()
			if err != nil {
				return err
			}
			if a.json {
				return printJSON(a.out, map[string]any{"servers": list})
			}
			return a.sayServers(list)
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) sayServers(list []mcp.Shown) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(a.out, "there are no servers; next: colony mcp add NAME -- COMMAND")
		return err
	}
	w := table(a.out, "SERVER", "PER", "TRUSTED", "IS GIVEN", "FROM", "STARTS OR REACHES")
	for _, s := range list {
		trusted := "yes"
		if !s.Trusted {
			trusted = "no: colony trust"
		}
		given := strings.Join(s.Variables, ", ")
		if len(s.Ignored) > 0 {
			given += " (without effect: " + strings.Join(s.Ignored, ", ") + ")"
		}
		row(w, s.Name, s.Per, trusted, given, s.Source, clip(s.What, 200))
	}
	return w.Flush()
}

func (a *app) mcpAdd() *cobra.Command {
	var e mcp.Entry
	var env []string
	cmd := &cobra.Command{
		Use: "add NAME [-- COMMAND...]", Short: "add a server to yours", Args: exactArgs(1, -1),
		Example: "  colony mcp add files -- node server.js .\n  colony mcp add hub --url https://mcp.example.com/mcp --bearer-env HUB_TOKEN\n  colony mcp add mine --env 'KEY=${MY_KEY}' -- ./server",
		Long: "Add a server to your mcp.json: one that is a process, in the sandbox of each ant, or one that is reached by its URL. Write\n" +
			"a variable of your environment as ${NAME}: its value is put in when the server is started, and never written.\n" + exitHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.inside(cmd); err != nil {
				return err
			}
			if e.Name = args[0]; len(args) > 1 {
				e.Command, e.Args = args[1], args[2:]
			}
			return a.addServer(cmd, e, env)
		},
	}
	cmd.Flags().SetInterspersed(true)
	cmd.Flags().StringVar(&e.URL, "url", "", "the address of a server that speaks streamable `HTTP`")
	cmd.Flags().StringVar(&e.Bearer, "bearer-env", "", "the `VARIABLE` that holds its token")
	cmd.Flags().StringVar(&e.Per, "per", "", "ant: one for each; colony: one for all (default: ant for a command, colony for a URL)")
	cmd.Flags().StringArrayVar(&env, "env", nil, "a variable that it is given, as `KEY=VALUE`")
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) addServer(cmd *cobra.Command, e mcp.Entry, env []string) error {
	if err := mcp.CheckName(e.Name); err != nil {
		return usage(cmd, err)
	}
	for _, entry := range env {
		key, value, both := strings.Cut(entry, "=")
		if !both || key == "" {
			return usage(cmd, fmt.Errorf("--env %q: write KEY=VALUE", entry))
		}
		if e.Env == nil {
			e.Env = map[string]string{}
		}
		e.Env[key] = value
	}
	house, err := a.house("", nil)
	if err != nil {
		return err
	}
	file, err := house.AddServer(e)
	if err != nil {
		return err
	}
	if a.json {
		return printJSON(a.out, map[string]string{"server": e.Name, "file": file})
	}
	_, err = fmt.Fprintf(a.out, "%s is in %s; next: colony mcp test %s\n", e.Name, view.Line(file), e.Name)
	return err
}

func (a *app) mcpRemove() *cobra.Command {
	cmd := &cobra.Command{
		Use: "remove NAME", Short: "remove a server of yours", Args: exactArgs(1, 1), Example: "  colony mcp remove hub",
		Long: "Take a server out of your mcp.json, and forget what you saw of its tools. A server of the repository is taken out of its\n" +
			".mcp.json by hand.\n" + exitHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.inside(cmd); err != nil {
				return err
			}
			house, err := a.house("", nil)
			if err != nil {
				return err
			}
			file, err := house.RemoveServer(args[0])
			if err != nil {
				return err
			}
			if a.json {
				return printJSON(a.out, map[string]string{"server": args[0], "file": file})
			}
			_, err = fmt.Fprintf(a.out, "%s is not in %s any more\n", args[0], view.Line(file))
			return err
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) mcpTest() *cobra.Command {
	var trial mcp.Trial
	var args string
	cmd := &cobra.Command{
		Use: "test NAME", Short: "start a server, list its tools and call one", Args: exactArgs(1, 1),
		Example: "  colony mcp test files\n  colony mcp test files --call list_directory --args '{\"path\":\".\"}'\n  colony mcp test files --accept",
		Long: "Start a server as an ant's would be, in the sandbox, with this checkout for its root that it may only read. Shown are its\n" +
			"tools with the bytes and tokens (a quarter of them) that each costs once an ant has loaded it, and what it says otherwise\n" +
			"than when you last saw it: calls of such tools are asked about until you take it with --accept.\n" + exitHelp,
		RunE: func(cmd *cobra.Command, names []string) error {
			if err := a.inside(cmd); err != nil {
				return err
			}
			if trial.Args = json.RawMessage(args); !json.Valid(trial.Args) {
				return usage(cmd, fmt.Errorf("--args %q is no JSON", args))
			}
			house, err := a.house("", nil)
			if err != nil {
				return err
			}
			tested, err := house.TestServer(cmd.Context(), a.getenv, version, names[0], trial)
			if err != nil {
				return err
			}
			if tested.Wrong() {
				a.exit = 3
			}
			if a.json {
				return printJSON(a.out, tested)
			}
			return a.sayTested(tested)
		},
	}
	cmd.Flags().StringVar(&trial.Tool, "call", "", "call the `TOOL`")
	cmd.Flags().StringVar(&args, "args", "{}", "with these arguments, as `JSON`")
	cmd.Flags().BoolVar(&trial.Accept, "accept", false, "take what the server says of its tools now")
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) sayTested(t mcp.Report) error {
	fmt.Fprintf(a.out, "%s: %s\nstarted and listed in %d ms\n\n", t.Name, t.What, t.Ms)
	w := table(a.out, "TOOL", "BYTES", "TOKENS", "WHAT IT SAYS OF ITSELF")
	for _, one := range t.Tools {
		row(w, one.Name, strconv.Itoa(one.Bytes), strconv.Itoa(one.Tokens), clip(one.Description, 80))
	}
	row(w, fmt.Sprintf("%d tools", len(t.Tools)), strconv.Itoa(t.Bytes), strconv.Itoa(t.Tokens), "")
	if err := w.Flush(); err != nil {
		return err
	}
	for _, note := range t.Notes {
		fmt.Fprintf(a.out, "\n%s\n", view.Line(note))
	}
	for _, one := range t.Tools {
		if one.Changed != "" {
			fmt.Fprintf(a.out, "\n%s changed:\n%s", one.Name, view.Text(one.Changed))
		}
	}
	for _, name := range t.Accepted {
		fmt.Fprintf(a.out, "taken as it is now: %s\n", name)
	}
	if t.Result == nil {
		return nil
	}
	what := "the call"
	if t.Result.Fault != "" {
		what += " failed (" + t.Result.Fault + ")"
	}
	_, err := fmt.Fprintf(a.out, "\n%s, %d ms, %d images:\n%s\n", what, t.Result.Ms, t.Result.Images, view.Text(t.Result.Text))
	return err
}
