package hatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"colony/ant"
	"colony/event"
	"colony/guard"
	"colony/model"
	"colony/plan"
	"colony/queen"
	"colony/repo"
	"colony/tools"
)

// live lets the ant work until its work passed the gates in its worktree, or it cannot go on.
func (l *life) live(ctx context.Context) (queen.Outcome, ant.Reason, error) {
	for returned, unchanged := l.before.returned, l.before.unchanged; ; {
		ending, err := l.ant.Work(ctx)
		if err != nil {
			return queen.Outcome{}, "", err
		}
		if ending.Reason != ant.Done {
			return l.stopped(ending), ending.Reason, nil
		}
		if err := l.commit(ctx); err != nil {
			return l.unrecorded(ctx, ending, err)
		}
		if l.work.SHA == "" {
			if unchanged {
				return queen.Outcome{Reason: queen.NoWork, Detail: "the ant said done twice and changed nothing"}, ending.Reason, nil
			}
			unchanged = true
			if err := l.ant.Tell(ctx, "gate", unchangedText); err != nil {
				return queen.Outcome{}, "", err
			}
			continue
		}
		if out, bad := l.trespassed(); bad {
			return out, ending.Reason, nil
		}
		outcome, why, err := l.verify(ctx)
		if err != nil {
			return l.interrupted(ctx, err)
		}
		if outcome.Reason == queen.Done {
			outcome.Detail = ending.Detail
			l.herald()
			return outcome, ending.Reason, nil
		}
		if returned >= l.settings.limits.GateReturns {
			if risen, err := l.escalate(ctx); err != nil || !risen {
				return outcome, ending.Reason, err
			}
		}
		returned++
		if err := l.ant.Tell(ctx, "gate", l.redact(why+l.count(returned))); err != nil {
			return queen.Outcome{}, "", err
		}
	}
}

// trespassed is the outcome of work that changes what no ant may change. A program that an ant ran can write it, but it
// does not land.
func (l *life) trespassed() (queen.Outcome, bool) {
	for _, file := range l.work.Files {
		if _, what := guard.Protected(file); what != "" {
			return queen.Outcome{Reason: queen.Refused, Detail: file + " was changed: it is " + what + ", which no ant may change"}, true
		}
	}
	return queen.Outcome{}, false
}

const unchangedText = "Nothing in the worktree has changed, so there is nothing to land. Do the task, or end with outcome no_change and the reason, or with blocked."

// unrecorded is the outcome of work that could not be committed: files whose content colony does not store are refused.
func (l *life) unrecorded(ctx context.Context, e ant.Ending, err error) (queen.Outcome, ant.Reason, error) {
	var filter *repo.FilterError
	if errors.As(err, &filter) {
		return queen.Outcome{Reason: queen.Refused, Detail: filter.Error()}, e.Reason, nil
	}
	var content *repo.ContentError
	if errors.As(err, &content) {
		return queen.Outcome{Reason: queen.Refused, Detail: content.Error()}, e.Reason, nil
	}
	return l.interrupted(ctx, err)
}

// interrupted is the outcome of an ant that was stopped while colony worked for it; any other error is colony's own.
func (l *life) interrupted(ctx context.Context, err error) (queen.Outcome, ant.Reason, error) {
	if ctx.Err() == nil {
		return queen.Outcome{}, "", err
	}
	ending := ant.EndingOf(ctx, err)
	return l.stopped(ending), ending.Reason, nil
}

// stopped is the outcome of an ant that ended without work to verify.
func (l *life) stopped(e ant.Ending) queen.Outcome {
	out := queen.Outcome{Reason: queen.Reason(e.Reason), Detail: e.Detail, Scope: e.Scope}
	if e.Cause != nil {
		failed, vain := l.chain.links[l.chain.at].model, ""
		if usage, _, _ := l.log.of(""); usage.Requests == 0 {
			vain = failed.String()
		}
		out.Fatal = l.hopeless(l.order.Card, vain)
		out.Detail = l.advise(failed, e.Cause)
	}
	return out
}

// advise says what a provider's refusal means and what to do.
func (c *Colony) advise(m chosen, e *model.Error) string {
	switch e.Kind {
	case model.Auth:
		return fmt.Sprintf("provider %s refused the key (%s): check %s", m.provider, e.Text, m.server.KeyEnv)
	case model.Quota:
		return fmt.Sprintf("provider %s says that the quota is used up (%s): look at your plan there, then start again", m.provider, e.Text)
	case model.NoModel:
		return fmt.Sprintf("provider %s has no model %s (%s): name another with --model", m.provider, m.name, e.Text)
	case model.ContextTooLong:
		return fmt.Sprintf("the conversation does not fit into the window of %s (%s): cut the task down, or name a model with a larger window", m, e.Text)
	case model.Unverified:
		return fmt.Sprintf("provider %s wants the organisation to be verified for %s (%s): do so there, or name another model with --model", m.provider, m.name, e.Text)
	case model.Transport:
		return fmt.Sprintf("provider %s at %s could not be reached (%s): check the address and the network", m.provider, m.server.BaseURL, e.Text)
	}
	return fmt.Sprintf("provider %s did not answer as needed (%s): try again later", m.provider, e.Error())
}

// commit records what the ant changed since its last commit, under the user's name and with colony's trailers. The
// message holds nothing that the ant said of it: a reviewer can read it.
func (l *life) commit(ctx context.Context) error {
	_, usd, price := l.log.of(l.order.Task)
	cost := string(price)
	if usd != nil {
		cost = usd.String() + " USD"
	}
	commit, err := l.tree.Commit(ctx, repo.Message{
		Subject: l.order.Title,
		Trailers: [][2]string{
			{"Colony-Run", l.run}, {"Colony-Task", l.order.Task}, {"Colony-Ant", l.order.Ant}, {"Colony-Card", l.card.Name},
			{"Colony-Model", l.model.String()}, {"Colony-Cost", cost},
		},
	})
	if err != nil || commit.Empty {
		return err
	}
	l.work = commit
	return l.append(event.CommitMade{Commit: commit.SHA, Tree: commit.Tree, Files: commit.Files, Refused: commit.Refused})
}

// verify runs the gates in the worktree, up to the first that is red. It
// says what the ant is told where the work comes back.
func (l *life) verify(ctx context.Context) (out queen.Outcome, why string, err error) {
	out = queen.Outcome{Reason: queen.Done, Commit: l.work.SHA, Tree: l.work.Tree}
	if out.Files, err = l.repo.Files(ctx, cmp.Or(l.order.From, l.order.Base), l.work.SHA); err != nil {
		return out, "", err
	}
	if out.Stray, err = l.stray(ctx); err != nil {
		return out, "", err
	}
	places, err := l.leaks(ctx)
	if err != nil {
		return out, "", err
	}
	if len(places) > 0 {
		out.Reason, out.Detail = queen.Refused, "it adds what looks like a credential: "+places[0].String()
		return out, leaked(places), nil
	}
	for _, g := range l.order.Gates {
		if receipt, ok := l.reused(g.Run, l.work.Tree); ok {
			out.Gates = append(out.Gates, receipt)
			continue
		}
		if err := l.append(event.GateStarted{Gate: g.Title(), Command: g.Run, Where: "task", Tree: l.work.Tree}); err != nil {
			return out, "", err
		}
		receipt, output, err := l.gate(ctx, l.box, l.tree.Dir, g)
		if err != nil {
			return out, "", err
		}
		receipt.Tree = l.work.Tree
		receipt.Flaky = receipt.Flaky || l.wavers(g, receipt)
		out.Gates = append(out.Gates, receipt)
		if err := l.append(event.GateDone{
			Gate: g.Title(), Command: g.Run, Where: "task", Tree: l.work.Tree, Exit: receipt.Exit, Ms: receipt.Ms, Output: receipt.Output,
			Flaky: receipt.Flaky,
		}); err != nil {
			return out, "", err
		}
		if receipt.Flaky && g.Retry == 0 {
			out.Reason, out.Detail = queen.GateRed, fmt.Sprintf("gate %s is flaky: red and then green on one tree", g.Title())
			return out, fmt.Sprintf("The gate `%s` was red, and is green now on the very same files: it is flaky, which is no pass. Find out what it depends on "+
				"and mend that, then call done again. ", g.Run), nil
		}
		if receipt.Exit != 0 {
			out.Reason, out.Detail = queen.GateRed, fmt.Sprintf("gate %s returned %d", g.Title(), receipt.Exit)
			return out, fmt.Sprintf("The gate `%s` returned %d. Read all of its output, mend the cause, then call done again.\n\n%s\n\n",
				g.Run, receipt.Exit, l.shown(string(output))), nil
		}
	}
	return l.approved(ctx, out)
}

// wavers remembers on which tree a gate was red, and reports whether it is green now on the same.
func (l *life) wavers(g plan.Gate, receipt event.GateReceipt) bool {
	if receipt.Exit != 0 {
		l.red[g.Title()] = receipt.Tree
		return false
	}
	return l.red[g.Title()] == receipt.Tree
}

// stray are the files that the task changed and its scope does not cover.
func (l *life) stray(ctx context.Context) ([]string, error) {
	if len(l.order.Files) == 0 {
		return nil, nil
	}
	files, err := l.repo.Files(ctx, cmp.Or(l.order.From, l.order.Base), l.work.SHA)
	return slices.DeleteFunc(files, plan.Task{Files: l.order.Files}.Covers), err
}

// count says how often work came back.
func (l *life) count(n int) string {
	most := l.settings.limits.GateReturns
	if _, more := l.models[escalated(l.card.Name)]; more {
		most++
	}
	return fmt.Sprintf("This is return %d of %d.", n, most)
}

// redOutput is what the gates of a landing said that sent the ant back.
func (l *life) redOutput() string {
	var b strings.Builder
	for _, g := range l.order.Red {
		data, err := l.blobs.Get(g.Output)
		if err != nil {
			continue
		}
		fmt.Fprintf(&b, "\n\n`%s` said:\n%s", g.Command, l.shown(string(data)))
	}
	return b.String()
}

// shown is a gate's output, which is redacted, as an ant reads it: cut where it is long.
func (c *Colony) shown(output string) string {
	text, _, err := tools.CapText(strings.ToValidUTF8(output, "\uFFFD"), c.settings.limits.ResultCap, c.blobs)
	if err != nil || strings.TrimSpace(text) == "" {
		return "(no output)"
	}
	return text
}

// settle keeps work that will not land and lets the worktree go where nothing in it would be lost.
func (l *life) settle(ctx context.Context, out queen.Outcome) (queen.Outcome, error) {
	if out.Reason == queen.Done {
		l.tree.Release()
		return out, nil
	}
	out.Asked = l.denied.Load()
	ctx = context.WithoutCancel(ctx)
	kept, err := l.tree.Keep(ctx, l.repo.KeptRef(l.order.Task))
	if err != nil {
		return out, fmt.Errorf("keep the work of %s: %w", l.order.Ant, err)
	}
	if err := l.unlocked(ctx); err != nil {
		return out, err
	}
	if kept != "" {
		out.Kept = l.repo.KeptRef(l.order.Task)
	}
	var held *repo.HeldError
	if err := l.tree.Remove(ctx); err != nil && !errors.As(err, &held) {
		return out, err
	}
	return out, nil
}
