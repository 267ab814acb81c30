package hatch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"colony/event"
	"colony/view"
)

// logs reads every log of the repository to its end. With fix, one that lost its end is mended.
func (d *doctor) logs(ctx context.Context) Check {
	if d.house.Root == "" {
		return note("", "not looked at")
	}
	all, err := d.house.Runs()
	if err != nil {
		return wrong("look at the state directory", "%v", err)
	}
	var bad, mended []string
	for _, run := range all {
		_, err := run.finished(ctx)
		if err != nil && d.fix && !run.Owned() {
			var said string
			if said, err = mend(ctx, run); err == nil {
				mended = append(mended, said)
			}
		}
		if err != nil {
			bad = append(bad, view.Line(err.Error()))
		}
	}
	found := strings.Join(append(mended, bad...), "; ")
	switch {
	case len(bad) == 0 && len(mended) == 0:
		return ok("%d of this repository, each whole", len(all))
	case len(bad) == 0:
		return note("colony resume RUN goes on with it", "%s", found)
	case d.fix:
		return wrong("colony log RUN shows what is whole; what landed stays on its branch: colony run --base colony/RUN goes on from there", "cannot be mended: %s", found)
	}
	return wrong("colony doctor --fix mends a log that lost its end, and keeps a copy first", "%s", found)
}

// mend mends the log of a run, and says what it did.
func mend(ctx context.Context, run Past) (string, error) {
	m, err := event.Mend(ctx, run.Dir, event.Parts{Run: run.ID, Now: time.Now})
	if err != nil {
		return "", logProblem(run.ID, err)
	}
	return fmt.Sprintf("mended: the log of %s lost its end, %d after event %d; a copy of it as it was is in %s", view.Line(run.ID), m.Lost, m.Last, m.Copy), nil
}

// spareAge is how old a file must be for nobody to be writing it any more: no command of colony's own git takes so long.
const spareAge = time.Hour

// leavings looks for files that processes left when they were killed: half-written ones that nobody will finish, and
// locks of colony's own git. While a run is carried out none is looked for.
func (d *doctor) leavings(context.Context) Check {
	if d.house.Root == "" {
		return note("", "not looked at")
	}
	all, err := d.house.Runs()
	if err != nil {
		return wrong("look at the state directory", "%v", err)
	}
	for _, run := range all {
		if run.Owned() {
			return note("", "not looked at while %s is carried out", view.Line(run.ID))
		}
	}
	left, err := spare(d.places.State, d.house.home())
	switch {
	case err != nil:
		return wrong("look at the state directory", "%v", err)
	case len(left) == 0:
		return ok("no half-written file and no dead lock")
	case !d.fix:
		return note("colony doctor --fix removes them", "left by processes that were killed: %s", strings.Join(left, ", "))
	}
	for _, path := range left {
		if err := os.RemoveAll(path); err != nil {
			return wrong("remove it by hand", "%v", err)
		}
	}
	return note("", "removed what processes left when they were killed: %s", strings.Join(left, ", "))
}

// spare are the files that nobody will finish or free.
func spare(state, home string) ([]string, error) {
	var left []string
	old := func(path string, info fs.FileInfo) {
		if time.Since(info.ModTime()) > spareAge {
			left = append(left, path)
		}
	}
	for _, of := range [][2]string{{state, "doctor-*"}, {home, "runs/*/blobs/.new-*"}, {home, "runs/*/desk/*.tmp"}, {home, "git/git.*"}, {home, "git/patterns.*"}} {
		names, err := fs.Glob(os.DirFS(of[0]), of[1])
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			path := filepath.Join(of[0], name)
			if info, err := os.Lstat(path); err == nil {
				old(path, info)
			}
		}
	}
	err := filepath.WalkDir(filepath.Join(home, "git", "git"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".lock") {
			return ignoreGone(err)
		}
		info, err := entry.Info()
		if err == nil {
			old(path, info)
		}
		return ignoreGone(err)
	})
	return left, err
}

func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
