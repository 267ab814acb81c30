package queen

import (
	"fmt"
	"slices"
	"strings"

	"colony/repo"
)

// reconcile is the order to rework what does not join: told to the author while it may come back, else to the resolver,
// who knows neither task.
func (r *run) reconcile(t *task, c *repo.Conflict) Order {
	t.detail = "it does not join what landed in " + strings.Join(c.Files, ", ")
	if t.returns < r.p.Returns {
		return Order{Base: c.Commit, Kind: "conflict", Told: toldConflict(c.Files)}
	}
	return Order{Base: c.Commit, Kind: "conflict", Prompt: r.toldResolver(t, c.Files)}
}

// toldConflict says to an ant why its work comes back.
func toldConflict(files []string) string {
	return "Your work does not join the branch: other work landed meanwhile and changed the same places.\n" +
		"Your worktree now holds the branch with your work on it. Both versions stand between conflict markers in:\n- " +
		strings.Join(files, "\n- ") +
		"\nRead each file, keep what both sides are for, remove every marker, then call done."
}

// toldResolver is the resolver's task: both sides, what each is for, and where they meet.
func (r *run) toldResolver(t *task, files []string) string {
	var b strings.Builder
	b.WriteString("Two pieces of work do not join, and the author of one could not mend it.\n" +
		"Your worktree holds the branch with that work on it. Both versions stand between conflict markers in:\n- ")
	b.WriteString(strings.Join(files, "\n- "))
	fmt.Fprintf(&b, "\n\nThe side that is to be joined is the task %s, %s:\n%s\n", t.ID, t.Title, strings.TrimSpace(t.Prompt))
	for _, other := range r.graph.order {
		if other.state == landed && slices.ContainsFunc(files, func(f string) bool { return slices.Contains(other.report.Files, f) }) {
			fmt.Fprintf(&b, "\nOn the branch already is the task %s, %s:\n%s\n", other.ID, other.Title, strings.TrimSpace(other.Prompt))
		}
	}
	b.WriteString("\nKeep what both sides are for, change only these files and what they break, leave no marker, then call done.")
	return b.String()
}
