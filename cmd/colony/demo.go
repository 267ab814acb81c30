package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"colony/event"
	"colony/hatch"
	tables "colony/ledger/report"
	"colony/model/scripted"
	"colony/view"

	"github.com/spf13/cobra"
	"golang.org/x/tools/txtar"
)

//go:embed demo/scenario.yaml
var demoScenario []byte

//go:embed demo/files.txtar
var demoFiles []byte

// demoPrice is made up, so that the bill has something to show.
const demoPrice = "1.25/0.125/1.25/10"

// demoGoal is what the queen of the demo plans.
const demoGoal = "Say in a line how many words a text has, which is the longest, and how it reads as a title and as a slug"

func (a *app) demoCmd() *cobra.Command {
	var fast, keep bool
	cmd := &cobra.Command{
		Use: "demo", Short: "a whole swarm on a throw-away repository, without key or network", Args: exactArgs(0, 0),
		Long: "Carry out a goal on a throw-away Go module with the embedded scripted model: the queen plans five tasks, four ants\n" +
			"work side by side, a gate fails once, a reviewer sends back once, a conflict is reworked, all of it lands; then the\n" +
			"bill. It needs Go, git and a shell, no key and no network.\n" + exitHelp,
		Example: "  colony demo\n  colony demo --fast --keep",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context(), fast, keep) },
	}
	cmd.Flags().BoolVar(&fast, "fast", false, "the scripted model answers at once")
	cmd.Flags().BoolVar(&keep, "keep", false, "keep the repository and print where it is")
	a.jsonFlag(cmd)
	return cmd
}

// demo is the real product on a made-up repository, with a made-up model behind the real client.
func (a *app) demo(ctx context.Context, fast, keep bool) error {
	dir, err := os.MkdirTemp("", "colony-demo-")
	if err != nil {
		return fmt.Errorf("make the demo's directory: %w", err)
	}
	if !keep {
		defer os.RemoveAll(dir)
	}
	return a.demoIn(ctx, dir, fast, keep)
}

// demoIn plays the demo in dir. Cards that lie in its config/cards are the made-up user's.
func (a *app) demoIn(ctx context.Context, dir string, fast, keep bool) error {
	server, err := serveDemo(ctx, fast)
	if err != nil {
		return err
	}
	defer server.Close()
	checkout := filepath.Join(dir, "report")
	if err := makeDemoRepository(ctx, checkout); err != nil {
		return err
	}
	if !a.json && !a.quiet {
		fmt.Fprintf(a.err, "a throw-away repository in %s, a scripted model on %s: nothing leaves this machine\n", checkout, server.URL)
	}
	a.dir = checkout
	places := hatch.Places{Dir: checkout, State: filepath.Join(dir, "state"), Config: filepath.Join(dir, "config"), Cache: filepath.Join(a.cacheDir(), "demo"), Organisation: a.organisation}
	if err := configure(places.Config, server.URL); err != nil {
		return err
	}
	house, err := hatch.Enter(places, nil, map[string]string{"run.gates": flow([]string{"go vet ./..."})})
	if err != nil {
		return err
	}
	if err := a.carryOut(ctx, hatch.Parts{
		Version: version, House: house, Goal: demoGoal, Models: map[string]string{"": "scripted/demo"},
		Getenv: a.demoEnv, Headless: true, Now: time.Now, Diagnostics: a.diagnostics(), Person: hatch.Nobody,
	}, func(event.RunFinished) []string { return nil }, func(f event.RunFinished, _ hatch.Brief) error { return a.counted(server, f.Usage) }); err != nil || a.json {
		return err
	}
	return a.demoEnd(ctx, house, keep)
}

// demoEnv is the environment. Go builds the same code once, in whichever worktree it lies, and leaves vetting to the gate
// that does it.
func (a *app) demoEnv(name string) string {
	if name == "GOFLAGS" {
		return "-trimpath -vet=off"
	}
	return a.getenv(name)
}

// counted compares the bill with what the model's server counted by itself.
func (a *app) counted(server *scripted.Server, bill event.Usage) error {
	var seen event.Usage
	for _, r := range server.Counts().Rows {
		seen = seen.Add(event.Usage{
			Requests: r.Replies, Input: r.Input, Cached: r.Cached, CacheWrite: r.CacheWrite, Output: r.Output, Reasoning: r.Reasoning,
		})
	}
	if seen != bill {
		return fmt.Errorf("compare the bill with the model's server: the bill has %+v, the server counted %+v", bill, seen)
	}
	if a.json || a.quiet {
		return nil
	}
	_, err := fmt.Fprintf(a.err, "the model's server counted the same as the bill: %d requests, %d tokens\n", seen.Requests, seen.Input+seen.Output)
	return err
}

// demoEnd shows the bill and what to look at.
func (a *app) demoEnd(ctx context.Context, house *hatch.House, keep bool) error {
	runs, err := house.Runs()
	if err != nil {
		return err
	}
	fmt.Fprintln(a.out)
	b := books{app: a, house: house}
	bill, err := b.bill(ctx, nil)
	if err != nil {
		return err
	}
	table, err := tables.Make(&bill, tables.Options{By: []string{"ant"}})
	if err != nil {
		return err
	}
	fmt.Fprint(a.out, table.Text(a.columns(), view.Line))
	if err := b.told(); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "the rates are made up, in dollars for a million tokens of input, cached, cache write and output: %s\n", demoPrice)
	if keep {
		_, err = fmt.Fprintf(a.out, "kept: cd %s && git log colony/%s && colony log --state-dir %s\n", house.Root, runs[len(runs)-1].ID, house.State)
		return err
	}
	_, err = fmt.Fprintln(a.out, "next: colony demo --keep leaves the repository to look at; colony init sets up your own")
	return err
}

// configure writes the settings of the demo's made-up user: where the scripted model listens.
func configure(dir, url string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the demo's settings: %w", err)
	}
	text := fmt.Sprintf("providers:\n  scripted: {base_url: %q, price: %s}\n", url, demoPrice)
	return os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(text), 0o600)
}

func serveDemo(ctx context.Context, fast bool) (*scripted.Server, error) {
	scenario, err := scripted.Parse("demo/scenario.yaml", demoScenario)
	if err != nil {
		return nil, err
	}
	for _, tasks := range scenario.Cards {
		for _, turns := range tasks {
			for i := range turns {
				if fast {
					turns[i].Latency = 0
				}
			}
		}
	}
	return scripted.Serve(ctx, scripted.Parts{Scenarios: []scripted.Scenario{scenario}})
}

// makeDemoRepository writes the module and commits it once.
func makeDemoRepository(ctx context.Context, dir string) error {
	for _, f := range txtar.Parse(demoFiles).Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("make the demo's repository: %w", err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			return fmt.Errorf("make the demo's repository: %w", err)
		}
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"add", "-A"},
		{"-c", "user.name=Demo", "-c", "user.email=demo@example.test", "-c", "commit.gpgsign=false", "commit", "-q", "-m", "Describe a text in a line"},
	} {
		git := exec.CommandContext(ctx, "git", args...)
		git.Dir = dir
		git.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		if out, err := git.CombinedOutput(); err != nil {
			return fmt.Errorf("make the demo's repository: git %s: %w: %s", args[0], err, out)
		}
	}
	return nil
}
