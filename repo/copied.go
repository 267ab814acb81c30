package repo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Copy makes a repository of its own in a directory that is not there yet: one commit of the user's, with its files and
// without what came before it, on the branch main. Nothing of the user's repository is changed, and nothing of its
// configuration is taken over.
func (r *Repo) Copy(ctx context.Context, commit, dir string) error {
	if err := checkID(commit); err != nil {
		return err
	}
	own := caller{bin: r.own.bin, dir: filepath.Dir(dir), env: ownEnv(filepath.Dir(dir)), traffic: r.own.traffic}
	if _, err := own.run(ctx, nil, "init", "--quiet", "--template=", "--initial-branch=main", "--object-format="+r.found.format, dir); err != nil {
		return fmt.Errorf("make the repository %s: %w", dir, err)
	}
	git := filepath.Join(dir, ".git")
	last := []byte(commit + "\n") // the one that has no parents
	if _, err := r.user.run(ctx, append([]byte("--shallow "+commit+"\n"), last...), "pack-objects", "--quiet", "--revs", "--shallow", filepath.Join(git, "objects", "pack", "pack")); err != nil {
		return fmt.Errorf("copy %s to %s: %w", commit, dir, err)
	}
	if err := os.WriteFile(filepath.Join(git, "shallow"), last, 0o600); err != nil {
		return err
	}
	own = own.at(git, dir)
	for _, args := range [][]string{{"update-ref", "refs/heads/main", commit}, {"reset", "--quiet", "--hard"}} {
		if _, err := own.run(ctx, nil, args...); err != nil {
			return fmt.Errorf("check %s out in %s: %w", commit, dir, err)
		}
	}
	return nil
}
