package repo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Setup prepares checkouts: what it leaves in them ignored by git is brought into every other of the same base commit
// and lockfiles. The zero value prepares nothing.
type Setup struct {
	Key string // of its commands; empty: there are none
	// Run runs them in a checkout. What gates run on is prepared apart from what ants work in, since an ant can write
	// to the caches that the latter is made with.
	Run func(ctx context.Context, dir string, gates bool) error
}

// lockfiles name what a package manager installs.
var lockfiles = []string{
	"go.sum", "go.work.sum", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb",
	"deno.lock", "Cargo.lock", "poetry.lock", "uv.lock", "pdm.lock", "Pipfile.lock", "requirements.txt", "Gemfile.lock",
	"composer.lock", "mix.lock", "pubspec.lock", "Package.resolved", "gradle.lockfile", "packages.lock.json", "flake.lock",
}

// kit is what setup leaves for checkouts of one kind; it is made once.
type kit struct {
	once sync.Once
	dir  string
	err  error
}

// SetUp prepares what the base's checkouts need, of ants and of gates. Its error is that of Setup.Run.
func (r *Repo) SetUp(ctx context.Context, base string) error {
	for _, gates := range []bool{true, false} {
		if _, err := r.kit(ctx, base, gates); err != nil {
			return err
		}
	}
	return nil
}

// kit is the directory that setup left for a commit's lockfiles; empty where there is no setup.
func (r *Repo) kit(ctx context.Context, commit string, gates bool) (string, error) {
	if r.setup.Key == "" {
		return "", nil
	}
	key, err := r.kitKey(ctx, commit, gates)
	if err != nil {
		return "", err
	}
	r.mu.Lock()
	k := r.kits[key]
	if k == nil {
		k = &kit{dir: filepath.Join(r.state, "setup", key)}
		r.kits[key] = k
	}
	r.mu.Unlock()
	k.once.Do(func() { k.err = r.makeKit(ctx, k.dir, commit, gates) })
	if base := r.began(); k.err != nil && ctx.Err() == nil && commit != base && base != "" {
		return r.kit(ctx, base, gates) // an ant changed what is installed: the gates will say what is wrong with it
	}
	return k.dir, k.err
}

func (r *Repo) kitKey(ctx context.Context, commit string, gates bool) (string, error) {
	all, err := r.entries(ctx, commit)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n%s\n%v\n", r.setup.Key, r.began(), gates)
	for _, e := range all {
		if slices.Contains(lockfiles, path.Base(e.path)) {
			fmt.Fprintf(sum, "%s %q\n", e.id, e.path)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:16]), nil
}

// makeKit runs setup in a checkout of the commit and takes what it left, unless another process did before.
func (r *Repo) makeKit(ctx context.Context, dir, commit string, gates bool) (err error) {
	if _, err := os.Stat(dir); err == nil {
		return os.Chtimes(dir, time.Time{}, time.Now()) // clean-up looks at when it was last of use
	}
	out, t, err := r.checkout(ctx, commit)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Remove()) }()
	if err := r.setup.Run(ctx, out.Dir, gates); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "new.")
	if err != nil {
		return err
	}
	defer RemoveAll(tmp)
	if err := t.harvest(ctx, tmp); err != nil {
		return fmt.Errorf("keep what setup made: %w", err)
	}
	err = os.Rename(tmp, dir)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// harvest moves the ignored files of the worktree that were not brought there.
func (t *Tree) harvest(ctx context.Context, to string) error {
	out, err := t.git.run(ctx, nil, "ls-files", "--others", "--ignored", "--exclude-standard", "-z")
	if err != nil {
		return err
	}
	for _, name := range fields(out) {
		if t.ours(name) || !filepath.IsLocal(filepath.FromSlash(name)) {
			continue
		}
		target := filepath.Join(to, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(t.Dir, filepath.FromSlash(name)), target); err != nil {
			return err
		}
	}
	return nil
}
