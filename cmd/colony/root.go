package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// app is one invocation of the command.
type app struct {
	args     []string
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
	environ  func() []string
	slept    func() time.Duration // of the machine since it was started
	// organisation is the directory of the organisation's settings and of what it trusts.
	organisation string

	dir     string
	quiet   bool
	verbose bool
	noColor bool
	json    bool
	typed   []byte // what was read from stdin as a goal or a plan
	exit    int
}

const rootHelp = `colony runs a swarm of coding agents on a git repository.

A plan is a graph of tasks. Each task gets an agent, an ant, in a worktree of its own; what an ant produces lands on
the branch colony/RUN only after the repository's own checks pass on the combined tree; and every token and cent is on
the bill. Your checkout is never written.

Next:
  colony demo                 see it work: no key, no network
  colony init                 set this repository up
  colony run -f plan.yaml     carry a plan out`

const exitHelp = `
Exit codes:
  0  done; for run: every task landed or no_change
  1  colony itself failed
  2  usage, settings, card or plan is wrong: nothing was started
  3  at least one task did not land
  4  a cap of the run was reached
  5  an ask or an untrusted file stood in the way
  6  the model provider refused or could not be reached
  129, 130, 143  hang-up, interrupt, terminate`

func run(ctx context.Context, a *app) int {
	ctx, stop := withSignals(ctx, a.getenv(detachedVar) != "")
	defer stop()
	a.guarded()
	root := a.root()
	root.SetArgs(a.args)
	if err := root.ExecuteContext(ctx); err != nil {
		return a.fail(ctx, err)
	}
	return a.exit
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use: "colony", Short: "a swarm of coding agents on a git repository", Long: rootHelp,
		SilenceErrors: true, SilenceUsage: true, Version: version,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		RunE:              func(cmd *cobra.Command, args []string) error { return cmd.Help() },
		Args:              cobra.ArbitraryArgs,
	}
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetIn(a.in)
	flags := root.PersistentFlags()
	flags.StringVarP(&a.dir, "dir", "C", ".", "run as if started in `DIR`")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "no progress")
	flags.BoolVarP(&a.verbose, "verbose", "v", false, "every event as progress")
	flags.BoolVar(&a.noColor, "no-color", false, "no colour (also NO_COLOR)")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usage(cmd, err) })
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownVerb(root, args[0])
		}
		return cmd.Help()
	}
	root.AddCommand(a.runCmd(), a.planCmd(), a.demoCmd(), a.initCmd(), a.statusCmd(), a.logCmd(), a.costCmd(), a.ledgerCmd(), a.blameCmd(),
		a.cardsCmd(), a.configCmd(), a.trustCmd(), a.versionCmd(),
		a.stopCmd(), a.pauseCmd(), a.retryCmd(), a.steerCmd(), a.answerCmd(), a.inboxCmd(),
		a.diffCmd(), a.landCmd(), a.gcCmd(), a.resumeCmd(), a.replayCmd())
	root.AddCommand(a.toolsCmd(), a.modelsCmd(), a.guardCmd(), a.doctorCmd(), a.sandboxCmd(), a.completionCmd(), a.mcpCmd())
	a.outside(root)
	root.AddCommand(later()...)
	a.completeWords(root)
	return root
}

// withSignals ends ctx with a *signalError at the first signal, hurries it at the second, and ends the process at the
// third. A hang-up is none to a command that is detached.
func withSignals(ctx context.Context, detached bool) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	if detached {
		signal.Ignore(syscall.SIGHUP)
	} else {
		signal.Notify(signals, syscall.SIGHUP)
	}
	done := make(chan struct{})
	hurry := make(chan struct{})
	go func() {
		for count := 1; ; count++ {
			select {
			case s := <-signals:
				switch number := s.(syscall.Signal); count {
				case 1:
					cancel(&signalError{number, hurry})
				case 2:
					close(hurry)
				default:
					os.Exit(128 + int(number))
				}
			case <-done:
				return
			}
		}
	}()
	return ctx, func() { signal.Stop(signals); close(done); cancel(nil) }
}

// signalError is why a command was stopped.
type signalError struct {
	number syscall.Signal
	hurry  <-chan struct{} // closed by a second signal
}

func (e *signalError) Error() string { return e.number.String() }

// ExitCode is the code of a process that this signal ended, which run.finished has too.
func (e *signalError) ExitCode() int { return 128 + int(e.number) }

// Hurry is closed when what runs must end now.
func (e *signalError) Hurry() <-chan struct{} { return e.hurry }

// terminal reports whether w is a terminal.
func terminal(w any) bool {
	if r, ok := w.(redacting); ok {
		w = r.w
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
