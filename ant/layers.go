package ant

import (
	"context"

	"colony/event"
	"colony/failpoint"
	"colony/tools"
)

// record notes tool.done for every call that came down, and applies what the result carries. It is durable before the
// next request is sent.
func (a *Ant) record(next tools.Handler) tools.Handler {
	return func(ctx context.Context, env *tools.Env, p tools.Prepared) (tools.Result, error) {
		start := env.Now()
		r, err := next(ctx, env, p)
		if err != nil {
			return r, err
		}
		if r.Duration == 0 {
			r.Duration = env.Now().Sub(start)
		}
		done := doneOf(p, r)
		done.Recovered = a.memory.Spelt()
		if err := a.note(done); err != nil {
			return r, err
		}
		env.Files.Apply(r.Seen...)
		a.memory.done(done)
		return r, nil
	}
}

// intent records tool.started directly before the effect, durably where there is one.
func (a *Ant) intent(next tools.Handler) tools.Handler {
	return func(ctx context.Context, env *tools.Env, p tools.Prepared) (tools.Result, error) {
		started := event.ToolStarted{
			Call: p.Call.ID, Tool: p.Call.Name, Args: compact(p.Call.Args), ArgsSum: p.Digest,
			Effects: effectsOf(p.Effects), Decision: p.Decision, Rule: p.Rule, After: p.After,
		}
		if err := foretell(ctx, env, p, &started); err != nil {
			return tools.Result{}, err
		}
		if err := a.start(ctx, p, started); err != nil {
			return tools.Result{}, err
		}
		if err := failpoint.Hit("ant.effect.before"); err != nil {
			return tools.Result{}, err
		}
		r, err := next(ctx, env, p)
		if hit := failpoint.Hit("ant.effect.after"); hit != nil {
			return r, hit
		}
		return r, err
	}
}

func (a *Ant) start(ctx context.Context, p tools.Prepared, started event.ToolStarted) error {
	if p.Effects.Known && p.Effects.ReadOnly {
		return a.note(started)
	}
	return a.append(ctx, started)
}

// foretell fills in the hashes before and planned of a call that can be previewed, so that a later life of the
// ant knows whether the call happened. A preview that comes to a fault plans nothing.
func foretell(ctx context.Context, env *tools.Env, p tools.Prepared, started *event.ToolStarted) error {
	previewer, ok := p.Tool.(tools.Previewer)
	if !ok {
		return nil
	}
	preview, err := previewer.Preview(ctx, env, p.Call.Args)
	if err != nil || preview.Fault != "" {
		return err
	}
	for _, s := range preview.Seen {
		hash := event.FileHash{Path: s.Path, SHA256: s.Hash}
		if s.Wrote {
			started.Planned = append(started.Planned, hash)
		} else {
			started.Before = append(started.Before, hash)
		}
	}
	return nil
}

func effectsOf(e tools.Effects) event.Effects {
	out := event.Effects{Known: e.Known, ReadOnly: e.ReadOnly, Reads: e.Reads, Writes: e.Writes, Hosts: e.Hosts}
	for _, c := range e.Commands {
		out.Commands = append(out.Commands, c.Text)
	}
	return out
}

func doneOf(p tools.Prepared, r tools.Result) event.ToolDone {
	done := event.ToolDone{
		Call: p.Call.ID, Tool: p.Call.Name, Fault: string(r.Fault), Text: r.Text, Ends: r.Ends, Exit: r.Exit,
		Ms: r.Duration.Milliseconds(), Bytes: r.Bytes, Loaded: r.Loaded, Cwd: r.Cwd, Views: r.Views,
		Coerced: p.Coerced, Rule: r.Rule, After: r.After,
	}
	if r.Spilled != nil {
		blob := event.Blob(*r.Spilled)
		done.Spilled = &blob
	}
	for _, i := range r.Images {
		done.Images = append(done.Images, event.Blob(i))
	}
	for _, s := range r.Seen {
		done.Seen = append(done.Seen, event.Seen(s))
	}
	return done
}
