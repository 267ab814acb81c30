package hatch

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"colony/configs"
	"colony/event"
	"colony/guard/hooks"
	"colony/guard/sandbox"
	"colony/tools"
)

// moments are those at which hooks run, in their order.
var moments = []string{hooks.PreToolUse, hooks.PostToolUse, hooks.TaskDone, hooks.Landing, hooks.RunFinished}

func (h hookSettings) at(moment string) []hooks.Hook {
	return map[string][]hooks.Hook{
		hooks.PreToolUse: h.PreToolUse, hooks.PostToolUse: h.PostToolUse, hooks.TaskDone: h.TaskDone, hooks.Landing: h.Landing,
		hooks.RunFinished: h.RunFinished,
	}[moment]
}

// hooks are those of all tiers, and which of them are the project's: those are confined, whatever they say.
func (h *House) hooks(all hookSettings) (hooks.Set, error) {
	var project hookSettings
	if h.project.Path != "" {
		settings, err := configs.Load(configs.Parts{Project: h.project})
		if err != nil {
			return nil, err
		}
		if err := section(settings, "hooks", &project); err != nil {
			return nil, err
		}
	}
	set := hooks.Set{}
	for _, moment := range moments {
		for _, hook := range all.at(moment) {
			its := slices.ContainsFunc(project.at(moment), func(p hooks.Hook) bool { return reflect.DeepEqual(p, hook) })
			if its && hook.Sandbox == hooks.Off {
				return nil, &Problem{
					Exit: 2, Code: "bad_setting", Message: fmt.Sprintf("%s: a project may not run a hook without a sandbox: %s", h.project.Path, hook.Run),
					Next: "take sandbox: off out of it, or write the hook into your own config.yaml",
				}
			}
			set[moment] = append(set[moment], hooks.Entry{Hook: hook, Project: its})
		}
	}
	return set, nil
}

// unconfined makes what runs hooks as their user wants them: without a sandbox.
func (c *Colony) unconfined(ctx context.Context) (err error) {
	c.free = c.box
	for _, entries := range c.hooks {
		if slices.ContainsFunc(entries, func(e hooks.Entry) bool { return e.Sandbox == hooks.Off }) {
			c.free, err = sandbox.New(ctx, sandbox.Parts{Level: sandbox.Off, Home: c.parts.Getenv("HOME"), State: c.parts.State, Config: c.parts.Config})
		}
	}
	return err
}

// once remembers what a person was told.
type once struct {
	mu   sync.Mutex // guards told
	told map[string]bool
}

func newOnce() *once { return &once{told: map[string]bool{}} }

func (o *once) first(text string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer func() { o.told[text] = true }()
	return !o.told[text]
}

// ask runs the hooks of a moment in a directory, confined by box or, where their user says so, not. What they say is
// redacted, and their warnings are events, each once.
func (c *Colony) askHooks(ctx context.Context, box confined, dir string, in hooks.Input) (hooks.Verdict, error) {
	if len(c.hooks[in.Event]) == 0 {
		return hooks.Verdict{}, nil
	}
	in.Session, in.Cwd = c.run, dir
	v, err := c.hooks.Run(ctx, in, func(ctx context.Context, h hooks.Entry, stdin []byte, stdout, stderr io.Writer) (int, error) {
		return c.runHook(ctx, box, dir, h, stdin, stdout, stderr)
	})
	if err != nil {
		return v, err
	}
	v.Reason = c.redact(strings.ToValidUTF8(v.Reason, "\uFFFD"))
	for _, text := range v.Warnings {
		if text = c.redact(strings.ToValidUTF8(text, "\uFFFD")); c.saidOnce.first(text) {
			warned := event.Warned{Code: "hook", Text: text, Next: "Mend the hook: colony config list --origin says where it comes from"}
			if _, err := c.log.Append(context.WithoutCancel(ctx), event.Event{Run: c.run, Task: in.Task, Ant: in.Ant, Body: warned}); err != nil {
				return v, err
			}
		}
	}
	return v, nil
}

// fromFile runs $2 with the file $1 on its stdin.
const fromFile = `exec <"$1"; exec bash -c "$2"`

func (c *Colony) runHook(ctx context.Context, box confined, dir string, h hooks.Entry, stdin []byte, stdout, stderr io.Writer) (int, error) {
	if err := os.MkdirAll(c.scratch(), 0o700); err != nil {
		return 0, err
	}
	scratch, err := os.MkdirTemp(c.scratch(), "hook-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(scratch) // what stays is swept at the end
	if scratch, err = filepath.EvalSymlinks(scratch); err != nil {
		return 0, err
	}
	input := filepath.Join(scratch, "input.json")
	if err := os.WriteFile(input, stdin, 0o600); err != nil {
		return 0, err
	}
	if h.Sandbox == hooks.Off {
		box.box = c.free
	}
	if box.box.Level() == sandbox.Off {
		box.leads = func(string) []sandbox.Bind { return nil }
	}
	if box.tree == "" {
		box.tree = filepath.Join(scratch, "tree")
		if err := os.MkdirAll(filepath.Join(box.tree, ".git"), 0o700); err != nil {
			return 0, err
		}
	}
	box.scratch = scratch
	env := []string{"COLONY_PROJECT_DIR=" + c.parts.Root}
	if h.Sandbox == hooks.Off { // the user's own, which may decide for them
		env = append(env, InsideVariable+"=")
	}
	seen := filepath.Join(box.box.Seen(scratch), filepath.Base(input))
	exit, err := box.exec(ctx, tools.Process{
		Argv: []string{"bash", "-c", fromFile, "hook", seen, h.Run}, Dir: dir, Env: env, Stdout: stdout, Stderr: stderr,
	})
	return exit.Code, err
}

// atRoot is a box whose processes see the user's checkout, and change nothing that stays.
func (c *Colony) atRoot() (confined, error) {
	box, err := c.confine("ants")
	box.leads = func(string) []sandbox.Bind {
		if inMemory(c.parts.Root) {
			return []sandbox.Bind{{At: c.parts.Root, From: c.parts.Root}}
		}
		return nil
	}
	return box, err
}
