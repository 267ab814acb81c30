package hatch

import (
	"context"
	"fmt"
	"strings"

	"colony/event"
)

// news is work of another ant that is on its way to land.
type news struct{ task, from, commit string }

// herald lets all others at work know what this ant brings.
func (l *life) herald() {
	l.crew.mu.Lock()
	defer l.crew.mu.Unlock()
	for _, other := range l.crew.lives {
		if other != l && other.parent == nil && other.order.Review == nil {
			other.ears.Lock()
			other.news = append(other.news, news{l.order.Task, l.order.Base, l.work.SHA})
			other.ears.Unlock()
		}
	}
}

// listen gives what the ant is told from outside since the last time: what a person said, and where its worktree, as it is
// now, would not join the work of another that lands before. That it could not be looked at is no reason to stop.
func (l *life) listen(ctx context.Context) []event.AntTold {
	l.ears.Lock()
	heard, fresh := l.heard, l.news
	l.heard, l.news = nil, nil
	l.ears.Unlock()
	var told []event.AntTold
	for _, text := range heard {
		told = append(told, event.AntTold{Kind: "steering", Text: text})
	}
	for _, n := range fresh {
		files, err := l.tree.Clash(ctx, n.commit)
		if err != nil {
			l.parts.Diagnostics.Debug("early warning", "ant", l.order.Ant, "task", n.task, "error", err)
		}
		if len(files) > 0 {
			told = append(told, event.AntTold{Kind: "conflict", Text: n.told(files)})
		}
	}
	return told
}

func (n news) told(files []string) string {
	return fmt.Sprintf("The work of task %s, which lands before yours, changes the same places as yours in:\n- %s\n"+
		"`git diff %s %s -- FILE` shows what it does there. Make yours fit beside it where you can, so that it need not come back.",
		n.task, strings.Join(files, "\n- "), n.from, n.commit)
}
