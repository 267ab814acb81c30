package repo

import (
	"context"
	"fmt"
	"os"
	"strings"

	"colony/failpoint"
)

// Advance moves the run's branch in the user's repository from old to new if it still is at old.
func (r *Repo) Advance(ctx context.Context, ref, old, new string) (moved bool, err error) {
	if ref != r.Branch() {
		return false, fmt.Errorf("advance %s: only %s is this run's", ref, r.Branch())
	}
	if err := r.ship(ctx, new, old); err != nil {
		return false, fmt.Errorf("advance %s: %w", ref, err)
	}
	return r.swap(ctx, ref, old, new)
}

// Keep pins a commit under a kept ref in the user's repository. What the ref held before stays reachable.
func (r *Repo) Keep(ctx context.Context, ref, commit string) error {
	if err := r.checkKept(ref); err != nil {
		return err
	}
	old, err := r.at(ctx, ref)
	if err != nil {
		return err
	}
	if old == commit {
		return nil
	}
	if old != "" {
		commit, err = r.both(ctx, commit, old)
		if err != nil {
			return fmt.Errorf("keep %s: %w", ref, err)
		}
	}
	if err := r.ship(ctx, commit, r.began()); err != nil {
		return fmt.Errorf("keep %s: %w", ref, err)
	}
	if old == "" {
		old = strings.Repeat("0", len(commit))
	}
	moved, err := r.swap(ctx, ref, old, commit)
	if err == nil && !moved {
		return fmt.Errorf("keep %s: it changed meanwhile", ref)
	}
	return err
}

// both is a commit with the tree of the first that has both as parents.
func (r *Repo) both(ctx context.Context, first, second string) (string, error) {
	objects, err := r.commits(ctx, first)
	if err != nil {
		return "", err
	}
	joined := objects[0]
	joined.parents = []string{first, second}
	return r.write(joined)
}

func (r *Repo) began() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.base
}

// ship copies the objects of a commit, but for those reachable from have, into the user's repository.
func (r *Repo) ship(ctx context.Context, commit, have string) error {
	if err := checkID(commit); err != nil {
		return err
	}
	want := commit + "\n"
	if have != "" {
		if err := checkID(have); err != nil {
			return err
		}
		want += "^" + have + "\n"
	}
	pack := r.own.command(ctx, "pack-objects", "--revs", "--stdout", "-q")
	unpack := r.user.command(ctx, "unpack-objects", "-q")
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	packErrs, unpackErrs := &bounded{limit: errLimit, cut: true}, &bounded{limit: errLimit, cut: true}
	pack.Stdin, pack.Stdout, pack.Stderr = strings.NewReader(want), write, packErrs
	unpack.Stdin, unpack.Stderr = read, unpackErrs
	packErr, unpackErr := pack.Start(), unpack.Start()
	write.Close()
	read.Close()
	if packErr == nil {
		packErr = pack.Wait()
	}
	if unpackErr == nil {
		unpackErr = unpack.Wait()
	}
	none := &bounded{}
	if err := outcome(ctx, "pack-objects", packErr, packErrs, none); err != nil {
		return err
	}
	return outcome(ctx, "unpack-objects", unpackErr, unpackErrs, none)
}

// swap moves a ref in the user's repository if it is where it should be.
func (r *Repo) swap(ctx context.Context, ref, old, new string) (bool, error) {
	if err := checkID(old, new); err != nil {
		return false, err
	}
	if err := failpoint.Hit("repo.swap.before"); err != nil {
		return false, err
	}
	_, err := r.user.writing(r.refLocks(ref)...).run(ctx, fmt.Appendf(nil, "update %s %s %s\n", ref, new, old), "update-ref", "--stdin")
	if err == nil {
		return true, failpoint.Hit("repo.swap.after")
	}
	if at, atErr := r.at(ctx, ref); atErr == nil && at != old && !(at == "" && strings.Trim(old, "0") == "") {
		return false, nil
	}
	return false, fmt.Errorf("move %s: %w", ref, err)
}

// at is where a ref of the user's repository is; empty where there is none.
func (r *Repo) at(ctx context.Context, ref string) (string, error) {
	out, err := r.user.run(ctx, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", ref)
	if exitCode(err) == 1 {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read %s: %w", ref, err)
	}
	return strings.TrimSpace(string(out)), nil
}
