package hatch

import (
	"context"
	"errors"

	"colony/event"
	"colony/guard"
	"colony/guard/hooks"
	"colony/queen"
	"colony/repo"
	"colony/tools"
)

// beforeTools is what the guard asks before it asks a person; nil where nobody has such hooks.
func (c *Colony) beforeTools() guard.Hook {
	if len(c.hooks[hooks.PreToolUse]) == 0 {
		return nil
	}
	return func(ctx context.Context, env *tools.Env, call tools.Prepared) (decision, reason string, err error) {
		l := c.crew.living(env.Ant)
		if l == nil {
			return "", "", errors.New("no ant of this name lives")
		}
		v, err := c.askHooks(ctx, l.box, l.tree.Dir, hooks.Input{
			Event: hooks.PreToolUse, Task: l.order.Task, Ant: env.Ant, Tool: call.Call.Name, Args: call.Call.Args, Call: call.Call.ID,
		})
		return v.Decision, v.Reason, err
	}
}

// toolHooks is the layer that shows hooks what a call came to. What one of them blocks has happened all the same: the model
// reads why it should not have.
func (l *life) toolHooks() tools.Layer {
	return func(next tools.Handler) tools.Handler {
		return func(ctx context.Context, env *tools.Env, p tools.Prepared) (tools.Result, error) {
			r, err := next(ctx, env, p)
			if err != nil || ctx.Err() != nil {
				return r, err
			}
			v, err := l.askHooks(ctx, l.box, l.tree.Dir, hooks.Input{
				Event: hooks.PostToolUse, Task: l.order.Task, Ant: env.Ant, Tool: p.Call.Name, Args: p.Call.Args, Call: p.Call.ID,
				Response: &hooks.Response{Text: r.Text, Fault: string(r.Fault), Exit: r.Exit},
			})
			if err != nil && ctx.Err() != nil {
				return r, nil // the call has had its effect
			}
			if v.Decision == hooks.Deny {
				r.Text += "\n\nA hook of the user's looked at this and says: " + v.Reason
			}
			return r, err
		}
	}
}

// approved lets the hooks look at work that passed its gates. It says what the ant is told where one of them blocks it.
func (l *life) approved(ctx context.Context, out queen.Outcome) (queen.Outcome, string, error) {
	v, err := l.askHooks(ctx, l.box, l.tree.Dir, hooks.Input{Event: hooks.TaskDone, Task: l.order.Task, Ant: l.order.Ant, Commit: out.Commit, Files: out.Files})
	if err != nil || v.Decision != hooks.Deny && v.Decision != hooks.Ask {
		return out, "", err
	}
	out.Reason, out.Detail = queen.GateRed, "a hook blocks it: "+v.Reason
	return out, "The gates are green, and a hook of the user's sends the work back: " + v.Reason + "\n\nMend it, then call done again. ", nil
}

// holds lets the hooks look at work that is about to land, in a checkout of it. It says why it is not to.
func (c *Colony) holds(ctx context.Context, task, ant string, candidate repo.Candidate) (why string, err error) {
	if len(c.hooks[hooks.Landing]) == 0 {
		return "", nil
	}
	box, err := c.confine("gates")
	if err != nil {
		return "", err
	}
	out, err := c.repo.Checkout(ctx, candidate.Commit)
	if err != nil {
		return "", err
	}
	v, err := c.askHooks(ctx, box.in(out.Dir, ""), out.Dir, hooks.Input{Event: hooks.Landing, Task: task, Ant: ant, Commit: candidate.Commit, Files: candidate.Files})
	if err = errors.Join(err, out.Remove()); err != nil || v.Decision != hooks.Deny && v.Decision != hooks.Ask {
		return "", err
	}
	return v.Reason, nil
}

// toldHooks tells the hooks how the run ended. Nothing that they say changes it.
func (c *Colony) toldHooks(ctx context.Context, finished event.RunFinished) error {
	if len(c.hooks[hooks.RunFinished]) == 0 {
		return nil
	}
	box, err := c.atRoot()
	if err != nil {
		return err
	}
	_, err = c.askHooks(context.WithoutCancel(ctx), box, c.parts.Root, hooks.Input{
		Event: hooks.RunFinished, Commit: finished.Commit, Status: finished.Status, Exit: &finished.Exit,
	})
	return err
}
