// Package hatch is where rooms meet. A Colony is made once a process from what a person asked for; it hatches an ant for
// each order of the queen.
package hatch

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"colony/ant"
	"colony/cards"
	"colony/event"
	"colony/guard"
	"colony/guard/hooks"
	"colony/guard/sandbox"
	"colony/guard/secrets"
	"colony/ledger"
	"colony/lsp"
	"colony/model"
	"colony/plan"
	"colony/queen"
	"colony/repo"
	"colony/strict"
	"colony/tools"

	"github.com/hashicorp/go-hclog"
	"github.com/sourcegraph/conc"
)

// Parts is what a person asked for, read and parsed.
type Parts struct {
	*House
	Version  string
	Run      string            // the run's id; empty: one is made
	From     *From             // the run that this one goes on from; none where it is nil
	Land     string            // the branch that takes the run over when everything landed; empty: none
	Plan     plan.Plan         // what is carried out; with a goal the plan so far, if there is one
	Goal     string            // what the queen plans
	Only     bool              // nothing but a plan is wanted
	Models   map[string]string // typed, by card; the empty name is for all
	Labels   map[string]string
	Getenv   func(string) string
	Dirty    bool              // the run begins with the uncommitted files of the checkout
	NoGate   bool              // tasks that nothing verifies are allowed
	typed    map[string]string // settings that were given with a resume
	raised   ledger.Caps       // caps that a person set while the run was carried out
	Replayed bool              // it is carried out again: hooks tell nobody of it, and run confined
	AllowRed bool              // a gate that is red on the base advises until it first passes
	Headless bool              // nobody can answer
	OnAsk    string            // what a question comes to: deny, wait or stop; empty is the person's answer
	AskWait  time.Duration     // how long a question waits, where the settings do not say it
	Yes      bool              // a plan of the queen's starts without a question
	Person   Person
	// Edit lets the person change a text; Save keeps a plan for later and says where.
	Edit func(ctx context.Context, text []byte) ([]byte, error)
	Save func(run string, plan []byte) (file string, err error)
	// Stuck is told when the disk takes nothing and the run begins to wait for it; nil where nobody is to be told.
	Stuck func(*event.StuckError)
	// Progress is told lines that an ant's commands print, while they run: no facts, and not all of them. Nil is nobody.
	Progress func(ant, line string)
	// Now tells the time. The difference of two of its times is what passed while the machine was awake, and Slept is how
	// long it has slept since it was started.
	Now   func() time.Time
	Slept func() time.Duration
	// Diagnostics is for the operator; what a user must know is an event or a Problem.
	Diagnostics hclog.Logger
}

// Colony carries out one run. Its parts do not change after Open.
type Colony struct {
	parts     Parts
	run       string
	settings  settings
	catalogue *model.Catalogue
	cards     map[string]cards.Card // in use, by name
	models    map[string]chosen     // by card
	routed    map[string]route      // by model
	caps      ledger.Caps
	unseen    *int64 // picodollars up to which a plan's high estimate lets it start unseen; nil: none does
	ants      int
	gates     []plan.Gate
	repo      *repo.Repo
	base      string
	firstBase string // where the first of the runs began that this one goes on from
	box       *sandbox.Sandbox
	free      *sandbox.Sandbox // for hooks that run unconfined
	hooks     hooks.Set
	saidOnce  *once
	mode      string
	policies  map[string]*guard.Policy // by card
	registry  *tools.Registry
	servers   *lsp.Servers
	spoken    bool // one of the servers reads a file of the repository
	errorsAt  baseline
	secrets   *secrets.Detector
	served    *served
	store     *event.Store
	log       *tally
	crew      *crew
	pauser    *pauser
	funds     *funds
	retry     chan string // tasks that are to begin again
	book      *ledger.Book
	blobs     *tools.Blobs
	advice    []ant.Instructions
	warmth    *warmth
	windows   *windows
	left      []string
	taken     []string    // uncommitted files in the base
	held      []string    // worktrees that were left, for what they hold
	since     event.Seq   // where the log ended when this process took it up
	begun     bool        // run.started was appended
	past      *queen.Past // of a run that goes on; nil of a new one
}

// Open checks all that can be checked before anything is written or spent. Its error is a *Problem where a person can
// mend it.
func Open(ctx context.Context, p Parts) (*Colony, error) { return open(ctx, p, nil) }

// open opens a new run, or one that goes on where it has a past.
func open(ctx context.Context, p Parts, past *queen.Past) (*Colony, error) {
	p.Person = p.asked()
	c := &Colony{parts: p, run: p.Run, past: past, begun: past != nil, crew: newCrew(), pauser: &pauser{now: p.Now}, funds: newFunds(), retry: make(chan string, mostAgain), saidOnce: newOnce(), served: newServed(), warmth: newWarmth(time.After), windows: &windows{}}
	if c.run == "" {
		c.run = NewRunID(p.Now())
	}
	for _, step := range []func(context.Context) error{c.readHouse, c.castCards, c.castHelpers, c.chooseModels, c.fitWindows, c.knowSecrets, c.bindGates, c.canWrite, c.lookRound, c.openLog} {
		if err := step(ctx); err != nil {
			c.box.Close()
			return nil, err
		}
	}
	return c, nil
}

// NewRunID is an id for a run that begins now.
func NewRunID(now time.Time) string {
	var b [4]byte
	rand.Read(b[:])
	return "r-" + now.UTC().Format("20060102") + "-" + hex.EncodeToString(b[:])[:6]
}

func (c *Colony) readHouse(context.Context) (err error) {
	if err := c.parts.trustedOrProblem(); err != nil {
		return err
	}
	if c.settings, err = readSettings(c.parts.Settings); err != nil {
		return err
	}
	if c.hooks, err = c.parts.hooks(c.settings.hooks); err != nil {
		return err
	}
	if c.parts.Replayed {
		c.hooks = again(c.hooks)
	}
	c.catalogue, err = model.Builtin()
	return err
}

// castCards finds the card of every task and checks it; for a goal, the queen's and all that she may give tasks to.
func (c *Colony) castCards(context.Context) error {
	c.cast(&c.parts.Plan)
	if faults := c.parts.CheckCards(c.parts.Plan); len(faults) > 0 {
		return faults
	}
	names := []string{}
	for _, t := range c.parts.Plan.Tasks {
		names = append(names, t.Card)
	}
	if c.parts.Goal != "" {
		names = append(c.parts.workers(), queenCard, c.settings.run.Card)
	}
	c.cards = map[string]cards.Card{}
	for _, name := range names {
		card, err := c.parts.Cards.Get(name)
		if err != nil {
			return &Problem{Exit: 2, Code: "no_card", Message: err.Error(), Next: "colony cards list"}
		}
		if faults := c.lint(card); len(faults) > 0 {
			return faults
		}
		c.cards[name] = card
	}
	return nil
}

// lint checks a card as this run uses it.
func (c *Colony) lint(card cards.Card) strict.Faults {
	if c.parts.Models[card.Name] != "" || c.parts.Models[""] != "" {
		card.Model = "" // the typed one is used instead
	}
	return c.parts.LintCard(card)
}

// cast gives tasks without a card the run's default one.
func (c *Colony) cast(p *plan.Plan) {
	for i := range p.Tasks {
		if p.Tasks[i].Card == "" {
			p.Tasks[i].Card = c.settings.run.Card
		}
	}
}

func (c *Colony) chooseModels(context.Context) error {
	c.models = map[string]chosen{}
	for name := range c.parts.Models {
		if _, err := c.parts.Cards.Get(name); name != "" && err != nil {
			return &Problem{Exit: 2, Code: "no_card", Message: "--model: " + err.Error(), Next: "colony cards list"}
		}
	}
	for name, card := range c.cards {
		m, err := c.choose(card)
		if err != nil && c.spare(name) {
			delete(c.cards, name)
			continue
		}
		if err != nil {
			return err
		}
		c.models[name] = m
		if err := c.chooseEscalated(card); err != nil {
			return err
		}
	}
	return c.bound()
}

// bindGates finds the gates of the repository and refuses a task that nothing verifies.
func (c *Colony) bindGates(context.Context) error {
	c.gates = c.settings.run.Gates
	if len(c.gates) > 0 || c.parts.NoGate {
		return nil
	}
	for _, t := range c.parts.Plan.Tasks {
		if !c.verified(t) {
			return &Problem{
				Exit: 2, Code: "no_gate", Message: fmt.Sprintf("nothing verifies task %s: it has no gate, nor has its card or the repository", t.ID),
				Next: "give one with --gate, run colony init, or allow it with --no-gate",
			}
		}
	}
	return nil
}

// lookRound reads the repository while a sandbox is tried, and then lays down what ants may do.
func (c *Colony) lookRound(ctx context.Context) error {
	var lost, loose error
	var both conc.WaitGroup
	both.Go(func() { lost = c.findRepo(ctx) })
	both.Go(func() { loose = c.confineIt(ctx) })
	both.Wait()
	if err := cmp.Or(lost, loose); err != nil {
		return err
	}
	c.mode = modeIn(c.settings.run.Mode, c.box.Level())
	return c.lay(c.mode)
}

// verified reports whether a gate verifies the task, or none has to.
func (c *Colony) verified(t plan.Task) bool {
	return c.parts.NoGate || len(c.gates)+len(t.Gates)+len(c.cards[t.Card].Gates) > 0
}

func (c *Colony) findRepo(ctx context.Context) (err error) {
	if c.parts.Root == "" {
		return NoRepository(c.parts.Dir)
	}
	c.repo, err = repo.Open(ctx, repo.Parts{Dir: c.parts.Dir, State: filepath.Join(c.parts.home(), "git"), Run: c.run, Setup: c.setup()})
	if err != nil {
		return repoProblem(err)
	}
	rev := c.settings.run.Base
	if c.past != nil {
		rev = c.past.Started.Base
	}
	if c.base, err = c.repo.Resolve(ctx, rev); err != nil {
		return repoProblem(err)
	}
	if err := c.goOn(ctx); err != nil {
		return err
	}
	if c.parts.Land != "" {
		if _, err := c.repo.Target(ctx, c.parts.Land); err != nil {
			return repoProblem(err)
		}
	}
	if c.parts.Dirty && (rev != "HEAD" || c.parts.From != nil) {
		return &Problem{Exit: 2, Code: "dirty_base", Message: "--include-dirty: uncommitted files belong to HEAD, and the run begins elsewhere",
			Next: "leave out --base and --from, or commit the files"}
	}
	c.left, err = c.repo.Dirty(ctx)
	return err
}

// confineIt finds a sandbox that holds.
func (c *Colony) confineIt(ctx context.Context) (err error) {
	c.box, err = sandbox.New(ctx, sandbox.Parts{
		Level: c.settings.sandbox.Level, Home: c.parts.Getenv("HOME"), State: c.parts.State, Config: c.parts.Config,
	})
	if err != nil {
		return sandboxProblem(err)
	}
	return c.unconfined(ctx)
}

// toolsWith is the registry from which ants' are carved, with this check of plans.
func (c *Colony) toolsWith(check queen.PlanCheck) (*tools.Registry, error) {
	warn := c.parts.Diagnostics.StandardWriter(&hclog.StandardLoggerOptions{ForceLevel: hclog.Warn})
	return c.parts.allTools(warn, time.Duration(c.settings.limits.Sh), check, c.help, c.servers)
}

// Since is where the log ended when this process took the run up.
func (c *Colony) Since() event.Seq { return c.since }

// Log is the run's log.
func (c *Colony) Log() event.Log { return c.log }

// Close ends the servers, the log and the sandbox, and removes what the ants left in their /tmp.
func (c *Colony) Close() error {
	c.served.close()
	c.servers.Close()
	c.box.Close()
	c.sweep()
	return errors.Join(c.store.Close(), c.forget())
}

// Fresh is the problem of a run id that is taken; nil where it is not.
func (h *House) Fresh(run string) error {
	if _, err := os.Stat(h.runDir(run)); err != nil {
		return nil
	}
	return &Problem{Exit: 2, Code: "run_exists", Message: fmt.Sprintf("there is a run %s already", run), Next: "give another --run-id, or none"}
}

func (c *Colony) canWrite(context.Context) error { return writable(c.parts.State) }

func (c *Colony) openLog(ctx context.Context) (err error) {
	dir := c.parts.runDir(c.run)
	if err := c.parts.Fresh(c.run); err != nil && c.past == nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the run's directory: %w", err)
	}
	if c.store, err = event.Open(ctx, dir, event.Parts{Run: c.run, Now: c.parts.Now, Stuck: c.waits(ctx)}); err != nil {
		return notStarted(c.run, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "started"), nil, 0o600); err != nil {
		return err
	}
	if c.blobs, err = tools.NewBlobs(filepath.Join(dir, "blobs")); err != nil {
		return err
	}
	c.log = newTally(c.store)
	for e, err := range c.store.Read(ctx, 0) {
		if err != nil {
			return err
		}
		c.log.add([]event.Event{e})
		c.since = e.Seq
	}
	if c.book, err = ledger.NewBook(ledger.Parts{Log: c.log, Run: c.caps, Rate: c.rate, Now: c.pauser.clock}); err != nil {
		return err
	}
	if c.routed, err = c.routes(); err != nil {
		return err
	}
	if c.servers, err = c.languages("servers"); err != nil {
		return err
	}
	c.spoken = c.parts.spoken()
	c.registry, err = c.toolsWith(nobodyPlans)
	return err
}
