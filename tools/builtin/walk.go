package builtin

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	maxDepth  = 128       // directories below each other that a walk enters
	maxIgnore = 1 << 20   // bytes of a .gitignore file
	maxWalk   = 2_000_000 // names that a walk takes
)

var errTooMany = errors.New("too many files: narrow path")

// walker lists the files below a directory in the order of their paths. It follows no link, never enters
// .git, and honours every .gitignore from the root of the worktree down.
type walker struct {
	hidden bool
	want   func(rel string) bool
	files  []found
	seen   int
}

// found is a file below the root.
type found struct {
	rel  string
	link bool
}

// walk lists what is below the place. The rules of the directories above it hold too.
func (w *walker) walk(ctx context.Context, root string, p place) error {
	var all []rules
	at := ""
	for _, name := range strings.Split(p.rel, "/") {
		if name == "." {
			break
		}
		all = append(all, rulesIn(root, at)...)
		at = path.Join(at, name)
	}
	dir, err := openDir(root, p.rel, false)
	if err != nil {
		return err
	}
	defer dir.Close()
	return w.enter(ctx, dir, at, all, 0)
}

func rulesIn(root, rel string) []rules {
	dir, err := openDir(root, path.Clean(rel), false)
	if err != nil {
		return nil
	}
	defer dir.Close()
	return readRules(dir, rel)
}

// readRules is empty where there is no readable .gitignore file; a link is not followed.
func readRules(dir *os.File, rel string) []rules {
	f, info, err := statOf(openAt(dir, ".gitignore", plainly, 0))
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := load(f, info, maxIgnore)
	if err != nil {
		return nil
	}
	return []rules{parseRules(rel, data)}
}

func (w *walker) enter(ctx context.Context, dir *os.File, rel string, all []rules, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := dir.ReadDir(-1)
	if err != nil {
		return nil // gone or unreadable meanwhile
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ".gitignore" }) {
		all = append(slices.Clip(all), readRules(dir, rel)...)
	}
	for _, e := range entries {
		if err := w.take(ctx, dir, e, path.Join(rel, e.Name()), all, depth); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) take(ctx context.Context, dir *os.File, e fs.DirEntry, rel string, all []rules, depth int) error {
	if w.seen++; w.seen > maxWalk {
		return errTooMany
	}
	hidden := strings.HasPrefix(e.Name(), ".")
	if strings.EqualFold(e.Name(), ".git") || hidden && !w.hidden || ignored(all, rel, e.IsDir()) {
		return nil
	}
	if !e.IsDir() {
		link := e.Type()&fs.ModeSymlink != 0
		if (link || e.Type().IsRegular()) && w.want(rel) {
			w.files = append(w.files, found{rel, link})
		}
		return nil
	}
	if depth >= maxDepth {
		return nil
	}
	sub, err := openAt(dir, e.Name(), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil // gone or unreadable meanwhile
	}
	defer sub.Close()
	return w.enter(ctx, sub, rel, all, depth+1)
}
