package queen_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"colony/event"
	"colony/queen"
	"colony/repo"
)

// line is a world in which all tasks change one line: work joins the branch only where it was made of its head.
type line struct {
	*world
	file string // which its ants say that they changed
}

func (l line) Stage(ctx context.Context, onto, commit string) (repo.Candidate, *repo.Conflict, error) {
	l.mu.Lock()
	has := strings.Fields(l.trees[commit])
	for _, change := range strings.Fields(l.trees[onto]) {
		if !strings.Contains(" "+strings.Join(has, " ")+" ", " "+change+" ") {
			id := onto + "+" + commit
			l.trees[id] = with(l.trees[onto], has...)
			l.mu.Unlock()
			return repo.Candidate{}, &repo.Conflict{Files: []string{"hot"}, Commit: id}, nil
		}
	}
	l.mu.Unlock()
	return l.world.Stage(ctx, onto, commit)
}

func (l line) Hatch(ctx context.Context, o queen.Order) (queen.Outcome, error) {
	out, err := l.world.Hatch(ctx, o)
	out.Files = []string{l.file}
	return out, err
}

// Eight tasks on one line: each comes back once, and within four landings at most two ants are at work.
func TestOneAfterTheOtherHasTheRightOfWay(t *testing.T) {
	for _, file := range []string{"hot", "another"} { // what conflicts need not be what was changed
		t.Run(file, func(t *testing.T) { oneLine(t, file) })
	}
}

func oneLine(t *testing.T, file string) {
	w := newWorld()
	all := tasks()
	for i := range 8 {
		all.Tasks = append(all.Tasks, task(fmt.Sprintf("t%d", i)))
	}
	p := w.parts(all)
	p.Ants, p.Returns, p.Repo, p.Hatcher = 8, 1, line{w, file}, line{w, file}
	f := run(t, t.Context(), p)
	if f.Status != "landed" {
		t.Fatal(statuses(f))
	}
	landings, conflicts, at := 0, 0, 8
	for _, e := range w.events(t) {
		switch d := e.Body.(type) {
		case event.LandingDone:
			if d.Outcome == "landed" {
				landings++
			} else {
				conflicts++
			}
		case event.Throttled:
			if landings <= 4 {
				at = d.AntsTo
			}
		}
	}
	if at > 2 {
		t.Errorf("%d ants after four landings", at)
	}
	if conflicts > 64 {
		t.Errorf("%d conflicts of 8 tasks", conflicts)
	}
	for _, task := range f.Tasks {
		if task.Attempts > 2 {
			t.Errorf("%s was attempted %d times", task.ID, task.Attempts)
		}
	}
}
