package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"colony/event"
	"colony/ledger"
)

// Keys are what a bill can be made by. Beside these there is label:NAME.
func Keys() []string {
	return []string{"ant", "card", "task", "model", "provider", "tool", "run", "commit", "day", "week", "month", "repo", "user", "status"}
}

func checkKey(key string) error {
	if name, ok := strings.CutPrefix(key, "label:"); ok && name != "" || slices.Contains(Keys(), key) {
		return nil
	}
	return fmt.Errorf("bill: by %q: unknown, use one of %s or label:NAME", key, strings.Join(Keys(), ", "))
}

// source is the lines that a table is of.
type source struct {
	bill  *ledger.Bill
	o     Options
	lines []line
	named map[string]int             // runs of one id
	homes map[string]map[string]bool // repositories of one name
}

// line is a cell of a run with all that counts of it.
type line struct {
	run   *ledger.Run
	cell  *ledger.Cell
	ant   *ledger.Ant  // nil where the log does not tell of it
	task  *ledger.Task // nil where it belongs to none
	count ledger.Count
}

func newSource(b *ledger.Bill, o Options) *source {
	s := &source{bill: b, o: o, named: map[string]int{}, homes: map[string]map[string]bool{}}
	for _, r := range b.Runs() {
		s.named[r.ID]++
		name := repoName(r.Repo)
		if s.homes[name] == nil {
			s.homes[name] = map[string]bool{}
		}
		s.homes[name][r.Repo] = true
		ants, tasks := map[string]*ledger.Ant{}, map[string]*ledger.Task{}
		for _, a := range r.Ants {
			ants[a.ID] = a
		}
		for _, t := range r.Tasks {
			tasks[t.ID] = t
		}
		for i, c := range r.Cells {
			if count := r.Of(i); count.Attempts > 0 && s.within(c.Day) {
				s.lines = append(s.lines, line{r, c, ants[c.Ant], tasks[c.Task], count})
			}
		}
	}
	return s
}

func (s *source) within(day string) bool {
	return (s.o.Since == "" || day >= s.o.Since) && (s.o.Until == "" || day <= s.o.Until)
}

// portion is a part of a line under the keys of its row.
type portion struct {
	keys  []string
	count ledger.Count
	tool  *ledger.Share
}

// conversation is the row of all tokens that belong to no tool: prompts, what was told, and all output.
const conversation = "(conversation)"

// parts takes a line apart where one of the keys is the tool.
func (s *source) parts(l line) []portion {
	if !slices.Contains(s.o.By, "tool") {
		return []portion{{keys: s.keys(l, ""), count: l.count}}
	}
	rest := portion{keys: s.keys(l, conversation), count: l.count}
	out := []portion{}
	for _, tool := range slices.Sorted(maps.Keys(l.cell.Tools)) {
		t := l.cell.Tools[tool]
		n := ledger.Count{Usage: t.Usage, USD: t.USD, Attempts: 1}
		switch { // as sure as the line is
		case l.count.Unknown > 0 || l.count.Silent > 0 && l.count.Known == 0 && l.count.Free == 0:
			n.Unknown = 1
		case l.count.Known > 0:
			n.Known = 1
		default:
			n.Free = 1
		}
		if l.count.Estimated > 0 {
			n.Estimated = 1
		}
		rest.count.Usage = less(rest.count.Usage, t.Usage)
		rest.count.USD -= t.USD
		out = append(out, portion{s.keys(l, tool), n, t})
	}
	return append(out, rest)
}

func less(u, v event.Usage) event.Usage {
	return u.Add(event.Usage{
		Requests: -v.Requests, Input: -v.Input, Cached: -v.Cached, CacheWrite: -v.CacheWrite, CacheWriteLong: -v.CacheWriteLong,
		Output: -v.Output, Reasoning: -v.Reasoning,
	})
}

func (s *source) keys(l line, tool string) []string {
	var out []string
	for _, k := range s.o.By {
		if k == "tool" {
			out = append(out, tool)
		} else {
			out = append(out, s.key(l, k))
		}
	}
	return out
}

// key is what a line is grouped by. Names of ants and tasks are told apart where there are several runs.
func (s *source) key(l line, by string) string {
	switch by {
	case "ant":
		return s.inRun(l.run, l.cell.Ant)
	case "task":
		return s.inRun(l.run, l.cell.Task)
	case "model":
		return l.cell.Model
	case "provider":
		provider, _, _ := strings.Cut(l.cell.Model, "/")
		return provider
	case "run":
		return s.runName(l.run)
	case "commit":
		if l.task != nil {
			return l.task.Commit
		}
		return ""
	case "day":
		return l.cell.Day
	case "month":
		return l.cell.Day[:min(7, len(l.cell.Day))]
	case "week":
		return week(l.cell.Day)
	case "repo":
		return s.repo(l.run)
	case "user":
		return l.run.User
	case "status":
		return l.status()
	case "card":
		return s.card(l)
	}
	return l.run.Labels[strings.TrimPrefix(by, "label:")]
}

func week(day string) string {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day
	}
	year, n := at.ISOWeek()
	return fmt.Sprintf("%04d-W%02d", year, n)
}

// inRun is a name with its run where there are several.
func (s *source) inRun(r *ledger.Run, name string) string {
	if len(s.bill.Runs()) > 1 && name != "" {
		return s.runName(r) + "/" + name
	}
	return name
}

// runName is the id of a run, with what tells it apart from another of the same id.
func (s *source) runName(r *ledger.Run) string {
	if s.named[r.ID] > 1 {
		return r.ID + "@" + r.Birth[:min(8, len(r.Birth))]
	}
	return r.ID
}

// repo is the name of a run's repository, with what tells it apart from another of the same name.
func (s *source) repo(r *ledger.Run) string {
	if name := repoName(r.Repo); len(s.homes[name]) == 1 {
		return name
	}
	return r.Repo
}

// repoName is a repository's place in the state directory without the digest of its path.
func repoName(home string) string {
	if i := strings.LastIndexByte(home, '-'); i > 0 {
		return home[:i]
	}
	return home
}

func (l line) card() string {
	if l.ant == nil {
		return ""
	}
	return l.ant.Card
}

func (s *source) card(l line) string {
	name := l.card()
	if l.ant == nil || s.o.MergeCards {
		return name
	}
	parts := []string{name}
	if source := l.run.Cards[name+"@"+l.ant.Hash]; source != "" {
		parts = append(parts, source)
	}
	if l.ant.Hash != "" {
		parts = append(parts, l.ant.Hash[:min(8, len(l.ant.Hash))])
	}
	return strings.Join(parts, " ")
}

// status is the state of a line's task, or of its run where it belongs to none.
func (l line) status() string {
	if l.cell.Task == "" {
		return l.run.Status
	}
	if l.task != nil && l.task.Status != "" {
		return l.task.Status
	}
	return "running"
}

// unlanded reports whether a line was spent on a task that ended and did not land.
func (l line) unlanded() bool {
	if l.task == nil {
		return false
	}
	switch l.task.Status {
	case "", "landed", "no_change":
		return false
	}
	return true
}
