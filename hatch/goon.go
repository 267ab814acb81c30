package hatch

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"colony/ant"
	"colony/event"
	"colony/repo"
	"colony/tools"
)

// before is what an ant did in the attempt that it goes on with: a fold over its events since it got its worktree.
type before struct {
	worktree  string
	commit    event.CommitMade // its last; zero where it made none
	passed    map[string]event.GateReceipt
	returned  int  // how often its gates sent it back
	unchanged bool // done was said of an unchanged tree
	model     string
	moved     bool // the worktree that it gets next is in the place of the one that it has
}

// worktreeLeft is the code of the warning that an ant goes on in another worktree than it had.
const worktreeLeft = "worktree_left"

func (b *before) add(e event.Event) {
	switch body := e.Body.(type) {
	case event.AntHatched:
		if body.Worktree != b.worktree && !b.moved {
			*b = before{passed: map[string]event.GateReceipt{}}
		}
		b.worktree, b.model, b.moved = body.Worktree, body.Model, false
	case event.Warned:
		b.moved = b.moved || body.Code == worktreeLeft
	case event.AntTold:
		if body.Kind == "gate" {
			b.sentBack(body.Text)
		}
	case event.CommitMade:
		b.commit = body
	case event.GateDone:
		if body.Where == "task" && body.Exit == 0 {
			b.passed[body.Command+"\x00"+body.Tree] = event.GateReceipt{Command: body.Command, Ms: body.Ms, Output: body.Output, Tree: body.Tree, Reused: true}
		}
	}
}

// sentBack counts what the ant was told of its gates in the worktree.
func (b *before) sentBack(text string) {
	switch {
	case text == unchangedText:
		b.unchanged = true
	case b.commit.Commit != "":
		b.returned++
	}
}

// goesOnIn takes up the worktree that the ant had, with the files that it left and the commit that the log knows.
func (l *life) goesOnIn(ctx context.Context) (lost string, err error) {
	for e, err := range l.log.Read(ctx, 0) {
		if err != nil {
			return "", err
		}
		if e.Ant == l.order.Ant {
			l.before.add(e)
		}
	}
	head := l.order.Base
	if made := l.before.commit; made.Commit != "" {
		head = made.Commit
		l.work = repo.Commit{SHA: made.Commit, Tree: made.Tree, Files: made.Files, Refused: made.Refused}
	}
	content := head
	if kept := l.past.Kept[l.order.Task]; kept != "" && l.order.Review == nil {
		fork, err := l.repo.Fork(ctx, head, kept)
		if err != nil {
			return "", err
		}
		if fork == head { // else it is of an earlier attempt
			content = kept
		}
	}
	return l.takeUp(ctx, head, content)
}

// takeUp adopts the worktree, or makes another one where that cannot be.
func (l *life) takeUp(ctx context.Context, head, content string) (lost string, err error) {
	if l.before.worktree == "" {
		l.tree, err = l.repo.Worktree(ctx, l.treeName(), head)
		return "", err
	}
	var whole bool
	l.tree, whole, err = l.repo.Adopt(ctx, filepath.Base(l.before.worktree), head, content)
	var held *repo.HeldError
	if errors.As(err, &held) {
		l.tree, err = l.repo.Worktree(ctx, l.treeName(), content)
		if err == nil {
			err = l.record(l.order.Ant, event.Warned{Code: worktreeLeft, Text: held.Error(), Next: "look there for what is not in the branch"})
		}
	}
	switch {
	case err != nil || whole && l.tree.Dir == l.before.worktree:
		return "", err
	case whole:
		return fmt.Sprintf("Your worktree is at %s now, as it was.", l.tree.Dir), nil
	case content == head:
		return fmt.Sprintf("Your worktree was lost: it is at %s now and holds the last commit that colony made of your work. Look at what is there before you go on.", l.tree.Dir), nil
	}
	return fmt.Sprintf("Your worktree was made again at %s from what colony kept: files that git ignores are not in it.", l.tree.Dir), nil
}

func (l *life) treeName() string { return fmt.Sprintf("%s.%d", l.order.Ant, l.order.Attempt) }

// goOn lets an ant of an earlier process go on in its conversation.
func (l *life) goOn(ctx context.Context, memory *ant.Memory) error {
	if l.tree.Dir != l.before.worktree {
		memory.Move(l.tree.Dir)
	}
	if other, ok := l.models[escalated(l.card.Name)]; ok && l.before.model == other.String() && l.before.model != l.model.String() {
		l.risen, l.model = true, other
		l.account.Provider, l.account.Model = other.provider, other.name
	}
	if err := l.animate(ctx, memory); err != nil {
		return err
	}
	return l.ant.Resume(ctx, l.lost)
}

// reused is the receipt of a gate that passed on this tree before; false where it did not.
func (l *life) reused(command, tree string) (event.GateReceipt, bool) {
	r, ok := l.before.passed[command+"\x00"+tree]
	return r, ok
}

// relived is a call of an earlier process and what it came to.
type relived struct {
	call   tools.Call
	result *tools.Result // nil where it has none
}

// relive takes the result of a call that began.
func (l *life) relive(d event.ToolDone) {
	for i := len(l.calls) - 1; i >= 0; i-- {
		if l.calls[i].call.ID != d.Call || l.calls[i].result != nil {
			continue
		}
		r := &tools.Result{Fault: tools.Fault(d.Fault), Text: d.Text, Exit: d.Exit, Duration: time.Duration(d.Ms) * time.Millisecond}
		for _, s := range d.Seen {
			r.Seen = append(r.Seen, tools.Seen(s))
		}
		l.calls[i].result = r
		return
	}
}

// remember lets the loop guard see the calls of an earlier process in the same worktree; none of them runs.
func (l *life) remember(ctx context.Context, loops tools.Layer) error {
	for _, past := range l.calls {
		if past.result == nil {
			continue
		}
		seen := loops(func(context.Context, *tools.Env, tools.Prepared) (tools.Result, error) { return *past.result, nil })
		if _, err := seen(ctx, l.env, l.env.Tools.Prepare(past.call)); err != nil {
			return err
		}
	}
	l.calls = nil
	return nil
}
