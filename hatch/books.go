package hatch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"colony/event"
	"colony/ledger"
	"colony/repo"
)

// snapshotEvery is how many events of a log are read before what they came to is kept beside it. Smaller logs are read whole,
// each time.
const snapshotEvery = 20_000

// Account is what a run has spent: from its log, as far as that can be read. With an error it is what is whole. Of a long
// log what was read before is kept beside it, and only what follows is read.
func (p Past) Account(ctx context.Context) (*ledger.Run, error) {
	owned := p.Owned()
	run, err := p.fold(ctx)
	// What has no reply is in flight if somebody was at work before the log was read, or is now.
	run.Repo, run.Live = filepath.Base(p.home()), owned || p.Owned()
	if err != nil {
		err = logProblem(p.ID, err)
	}
	return run, err
}

func (p Past) fold(ctx context.Context) (*ledger.Run, error) {
	run := ledger.NewRun(p.ID, p.kept)
	r, err := event.OpenReader(p.Dir)
	if err != nil {
		return run, fmt.Errorf("open the log of %s: %w", p.ID, err)
	}
	var from event.Seq
	if kept, ok := p.snapshot(ctx, r); ok {
		run, from = kept, kept.Seq
	}
	for e, failed := range r.Select(ctx, from, ledger.Types()...) {
		if err = failed; err != nil {
			break
		}
		run.Add(e)
	}
	lines := p.lines(ctx, run)
	if err == nil && run.Seq >= from+snapshotEvery {
		p.keep(ctx, r, run)
	}
	return run, errors.Join(err, lines, r.Close())
}

func (p Past) snapshotPath() string { return filepath.Join(p.Dir, "bill") }

// snapshot is what was kept of the log as it is now: false where there is nothing, or it is of another log.
func (p Past) snapshot(ctx context.Context, r *event.Reader) (*ledger.Run, bool) {
	data, err := os.ReadFile(p.snapshotPath())
	if err != nil {
		return nil, false
	}
	run, sum, err := ledger.Restore(data, p.kept)
	if err != nil || run.ID != p.ID {
		return nil, false
	}
	have, err := r.Sum(ctx, run.Seq)
	return run, err == nil && have == sum && sum != ""
}

// keep writes what a log came to beside it. Where that cannot be, the log is read again the next time.
func (p Past) keep(ctx context.Context, r *event.Reader, run *ledger.Run) {
	sum, err := r.Sum(ctx, run.Seq)
	if err != nil || sum == "" {
		return
	}
	data, err := run.Snapshot(sum)
	if err != nil {
		return
	}
	f, err := os.CreateTemp(p.Dir, "bill-")
	if err != nil {
		return
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), p.snapshotPath())
	}
	if err != nil {
		_ = os.Remove(f.Name()) // it is of no use
	}
}

// home is where what belongs to the run's repository is kept.
func (p Past) home() string { return filepath.Dir(filepath.Dir(p.Dir)) }

// kept is a blob of the run; an error where it is gone. It makes nothing.
func (p Past) kept(sum string) ([]byte, error) {
	if _, err := os.Lstat(filepath.Join(p.Dir, "blobs")); err != nil {
		return nil, err
	}
	return p.blob(sum)
}

// lines counts the lines that the run's landed commits changed, where that has not been done.
func (p Past) lines(ctx context.Context, run *ledger.Run) error {
	var commits []string
	for _, t := range run.Tasks {
		if t.Commit != "" && !t.Counted {
			commits = append(commits, t.Commit)
		}
	}
	if len(commits) == 0 {
		return nil
	}
	lines, err := repo.Parts{State: filepath.Join(p.home(), "git")}.Lines(ctx, commits)
	if err != nil {
		return ctx.Err() // without git nobody knows how many lines there are, and the bill says nothing of them
	}
	for _, t := range run.Tasks {
		if n, ok := lines[t.Commit]; ok {
			t.Lines, t.Counted = n, true
		}
	}
	return nil
}

// Everywhere are the runs of all repositories, those of each oldest first.
func (h *House) Everywhere() ([]Past, error) {
	homes, err := os.ReadDir(filepath.Join(h.State, "repos"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list repositories: %w", err)
	}
	var all []Past
	for _, home := range homes {
		runs, err := runsIn(filepath.Join(h.State, "repos", home.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, runs...)
	}
	return all, nil
}

// Imported are the bills that came from other machines, or whose conversations are gone; of this repository alone, or all.
// With an error, which names files that are not what was written, they are those of the others.
func (h *House) Imported(all bool) ([]*ledger.Run, error) {
	files, failed := h.stored("")
	var out []*ledger.Run
	for _, path := range files {
		runs, err := readLedger(path)
		if err != nil {
			failed = errors.Join(failed, err)
		}
		for _, r := range runs {
			if all || r.Repo == filepath.Base(h.home()) {
				out = append(out, r)
			}
		}
	}
	return out, failed
}

func readLedger(path string) ([]*ledger.Run, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	runs, err := ledger.ReadExport(f)
	if err != nil {
		err = &Problem{
			Exit: 3, Code: "damaged_ledger", Message: fmt.Sprintf("the ledger %s is not what was written: %v", path, err),
			Next: "move it away, and import it again from where it came", cause: &event.CorruptError{Log: path, What: err.Error(), Err: err},
		}
	}
	return runs, errors.Join(err, f.Close())
}

// stored are the files of the ledger whose names begin so, sorted.
func (h *House) stored(prefix string) ([]string, error) {
	entries, err := os.ReadDir(h.ledgers())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var files []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) && strings.HasSuffix(e.Name(), ".jsonl") {
			files = append(files, filepath.Join(h.ledgers(), e.Name()))
		}
	}
	return files, err
}

// ledgers is where bills are kept that have no log here.
func (h *House) ledgers() string { return filepath.Join(h.State, "ledger") }
