// Package blame says who wrote each line of a file, where that is proved.
package blame

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"colony/event"
	"colony/ledger"
	"colony/repo"
)

// Line is one line of a file: who wrote it and what that cost, or why nobody can say. Ant is empty where it is not
// proved.
type Line struct {
	Line   int            `json:"line"`
	Text   string         `json:"text"`
	Commit string         `json:"commit"` // in which the line came
	Run    string         `json:"run"`
	Task   string         `json:"task"`
	Ant    string         `json:"ant"`
	Card   string         `json:"card"`
	Model  string         `json:"model"`
	USD    *event.PicoUSD `json:"usd"` // of the task, for each line that it changed; nil where that is not known
	Price  event.Price    `json:"price"`
	Reason string         `json:"reason,omitempty"` // why the ant is not known
}

// File is a file as the commit has it that the checkout is at.
type File struct {
	Path   string `json:"file"`
	Commit string `json:"commit"`
	Dirty  bool   `json:"uncommitted"` // the checkout has another content, which is not in it
	Lines  []Line `json:"lines"`
	text   string
}

// landing is a commit that a task landed, as the bills know it.
type landing struct {
	run  *ledger.Run
	task *ledger.Task
}

// blamer knows what landed, and proves whose a line is.
type blamer struct {
	repo     *repo.Repo
	landings map[string]landing // by commit
	order    []string           // commits, as they landed
	names    map[string]bool    // runs
	noted    map[string]bool    // commits that a person put a note on
	proofs   map[[2]string]proof
}

// proof is what is known of a commit's change to a file.
type proof struct {
	landing
	lines  map[int]landing // by line, where the change is several landings' together
	reason string
}

func newBlamer(r *repo.Repo, runs []*ledger.Run) *blamer {
	b := &blamer{repo: r, landings: map[string]landing{}, names: map[string]bool{}, proofs: map[[2]string]proof{}}
	for _, run := range runs {
		b.names[run.ID] = true
		for _, t := range run.Tasks {
			if t.Commit != "" {
				b.landings[t.Commit] = landing{run, t}
				b.order = append(b.order, t.Commit)
			}
		}
	}
	return b
}

// who is the proof for a line as the commit that brought it has it.
func (b *blamer) who(ctx context.Context, commit, path string, line int) (proof, error) {
	key := [2]string{commit, path}
	p, ok := b.proofs[key]
	if !ok {
		var err error
		if p, err = b.prove(ctx, commit, path); err != nil {
			return p, err
		}
		b.proofs[key] = p
	}
	if p.lines != nil {
		l, ok := p.lines[line]
		if !ok {
			return proof{reason: "the commit " + short(commit) + " joins the work of a run with what is not its"}, nil
		}
		p.landing = l
	}
	return p, nil
}

// prove finds what a commit's change to a file is.
func (b *blamer) prove(ctx context.Context, commit, path string) (proof, error) {
	if l, ok := b.landings[commit]; ok {
		return proof{landing: l}, nil
	}
	signed, err := b.repo.Signed(ctx, commit, b.noted[commit])
	if err != nil {
		return proof{reason: "the commit " + short(commit) + " cannot be read"}, nil
	}
	if len(signed) == 0 {
		return proof{reason: "the commit " + short(commit) + " is not one that colony landed"}, nil
	}
	lines, before, after, ok, err := b.repo.Change(ctx, commit, path)
	if err != nil {
		return proof{}, err
	}
	if !ok {
		return proof{reason: "the commit " + short(commit) + " joins others, and the line is in none of them"}, nil
	}
	same, err := b.same(ctx, lines, path, signed)
	switch {
	case err != nil:
		return proof{}, err
	case len(same) == 1:
		return proof{landing: same[0]}, nil
	case len(same) > 1:
		return proof{reason: "several tasks changed the file as the commit " + short(commit) + " does"}, nil
	}
	if p, err := b.together(ctx, path, before, after, signed); err != nil || p.lines != nil {
		return p, err
	}
	run, task := signed[0][0], signed[0][1]
	if !b.names[run] {
		return proof{reason: fmt.Sprintf("the commit %s says that it is of the run %s, which is not known here: colony ledger import", short(commit), run)}, nil
	}
	return proof{reason: fmt.Sprintf("the commit %s says that it is of the task %s of %s, and does not change the file as that did: it was amended, squashed or joined since", short(commit), task, run)}, nil
}

// same are the landings that a commit names and that changed a file in the very same lines.
func (b *blamer) same(ctx context.Context, lines, path string, signed [][2]string) ([]landing, error) {
	var found []landing
	if lines == "" {
		return nil, nil
	}
	for _, commit := range b.order {
		l := b.landings[commit]
		if !slices.Contains(signed, [2]string{l.run.ID, l.task.ID}) {
			continue
		}
		theirs, _, _, ok, err := b.repo.Change(ctx, commit, path)
		if err != nil {
			return nil, err
		}
		if ok && theirs == lines {
			found = append(found, l)
		}
	}
	return found, nil
}

// together proves a commit in which several landings of a run that it names were put together: the file was before as it was at one
// commit of the run's branch, and is after as it was at a later one, so that what git says of each line there holds here.
func (b *blamer) together(ctx context.Context, path, before, after string, signed [][2]string) (proof, error) {
	for i := len(b.order) - 1; i >= 0 && after != ""; i-- {
		last := b.order[i]
		run := b.landings[last].run
		if !slices.ContainsFunc(signed, func(s [2]string) bool { return s[0] == run.ID }) {
			continue
		}
		at, err := b.repo.BlobOf(ctx, last, path)
		if err != nil {
			return proof{}, err
		}
		if at != after {
			continue
		}
		lines, ok, err := b.repo.Blame(ctx, last, path)
		if err != nil {
			return proof{}, err
		}
		if !ok {
			continue
		}
		found := map[int]landing{}
		for n, l := range lines {
			if landed, known := b.landings[l.Commit]; known && landed.run == run {
				found[n+1] = landed
			}
		}
		fits, err := b.began(ctx, run, path, before)
		if err != nil {
			return proof{}, err
		}
		if fits && len(found) > 0 {
			return proof{lines: found}, nil
		}
	}
	return proof{}, nil
}

// began reports whether a file was at the beginning of a run, or at one of its landings, as it was before a commit.
func (b *blamer) began(ctx context.Context, run *ledger.Run, path, before string) (bool, error) {
	for _, commit := range append([]string{run.Base}, commitsOf(run)...) {
		if commit == "" {
			continue
		}
		at, err := b.repo.BlobOf(ctx, commit, path)
		if err != nil {
			return false, err
		}
		if at == before && (at != "" || b.repo.Has(ctx, commit)) {
			return true, nil
		}
	}
	return false, nil
}

func commitsOf(run *ledger.Run) (out []string) {
	for _, t := range run.Tasks {
		if t.Commit != "" {
			out = append(out, t.Commit)
		}
	}
	return out
}

// blamed is a line with what is proved of it.
func (b *blamer) blamed(n int, text, commit string, p proof) Line {
	out := Line{Line: n, Text: text, Commit: commit, Reason: p.reason, Price: event.Unknown}
	if p.task == nil {
		return out
	}
	out.Run, out.Task = p.run.ID, p.task.ID
	var sum ledger.Count
	var models []string
	for i, c := range p.run.Cells {
		if c.Task == p.task.ID {
			sum.Add(p.run.Of(i))
		}
	}
	total := sum.Sum()
	if out.Price = total.Price; total.USD != nil && p.task.Lines > 0 {
		per := *total.USD / event.PicoUSD(p.task.Lines)
		out.USD = &per
	}
	if len(p.task.Authors) != 1 {
		out.Reason = "no one ant is known to have written what the task landed"
		if len(p.task.Authors) > 1 {
			out.Reason = strings.Join(p.task.Authors, " and ") + " both worked on what the task landed"
		}
		return out
	}
	out.Ant = p.task.Authors[0]
	for _, a := range p.run.Ants {
		if a.ID == out.Ant {
			out.Card = a.Card
		}
	}
	for _, c := range p.run.Cells {
		if c.Ant == out.Ant && c.Model != "" && !slices.Contains(models, c.Model) {
			models = append(models, c.Model)
		}
	}
	out.Model = strings.Join(models, " ")
	return out
}

// Of says of the lines of a file of a commit who wrote them, all or from one to another. What rests on no proof is not said:
// a commit counts as an ant's where a bill names it, or where it says that it is of a task and changes the file as that
// did. False where the commit has no such file.
func Of(ctx context.Context, r *repo.Repo, runs []*ledger.Run, commit, path string, from, to int) (File, bool, error) {
	out := File{Path: path, Commit: commit, Lines: []Line{}}
	lines, ok, err := r.Blame(ctx, commit, path)
	if err != nil || !ok {
		return out, ok, err
	}
	b := newBlamer(r, runs)
	if b.noted, err = r.Noted(ctx); err != nil {
		return out, ok, err
	}
	for i, l := range lines {
		out.text += l.Text + "\n"
		if from > 0 && (i+1 < from || i+1 > to) {
			continue
		}
		who, err := b.who(ctx, l.Commit, l.Path, l.Line)
		if err != nil {
			return out, ok, err
		}
		out.Lines = append(out.Lines, b.blamed(i+1, l.Text, l.Commit, who))
	}
	return out, ok, nil
}

// Text is the whole file, also where only some of its lines were asked for.
func (f File) Text() string { return f.text }

// Is reports whether the whole file has this text.
func (f File) Is(text string) bool {
	plain := func(s string) string { return strings.TrimSuffix(strings.ReplaceAll(s, "\r", ""), "\n") }
	return plain(text) == plain(f.text)
}

func short(commit string) string { return commit[:min(10, len(commit))] }
