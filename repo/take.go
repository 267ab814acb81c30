package repo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"colony/failpoint"
)

// Target is a branch of the user's that a run is to land on, as it is now.
type Target struct {
	Branch string // without refs/heads/
	Head   string
	Dir    string // the checkout that has it; empty where none has
}

func (t Target) ref() string { return "refs/heads/" + t.Branch }

// NoBranchError is a branch that is not there.
type NoBranchError struct{ Branch string }

func (e *NoBranchError) Error() string {
	return fmt.Sprintf("there is no branch %q here: git branch lists them", e.Branch)
}

// CheckoutError is why the checkout that has a branch cannot go with it.
type CheckoutError struct{ Dir, Why, Next string }

func (e *CheckoutError) Error() string { return fmt.Sprintf("%s %s: %s", e.Dir, e.Why, e.Next) }

// On is the branch that the user's checkout was on when the repository was opened; empty where it was on none.
func (r *Repo) On() string { return r.found.on }

// Target looks at a branch of the user's. It returns a *NoBranchError, or a *NameError for a branch of a run.
func (r *Repo) Target(ctx context.Context, branch string) (Target, error) {
	t := Target{Branch: strings.TrimPrefix(branch, "refs/heads/")}
	if strings.HasPrefix(t.Branch, "colony/") || strings.ContainsAny(t.Branch, "\x00\n") || t.Branch == "" {
		return Target{}, &NameError{Name: branch}
	}
	out, err := r.user.run(ctx, nil, "show-ref", "--verify", "--hash", "--end-of-options", t.ref())
	if exitCode(err) > 0 {
		return Target{}, &NoBranchError{Branch: t.Branch}
	}
	if err != nil {
		return Target{}, fmt.Errorf("read %s: %w", t.ref(), err)
	}
	t.Head = strings.TrimSpace(string(out))
	t.Dir, err = r.holder(ctx, t.ref())
	return t, err
}

// holder is the checkout that has a branch, or is amid rebasing it.
func (r *Repo) holder(ctx context.Context, ref string) (string, error) {
	out, err := r.user.run(ctx, nil, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return "", fmt.Errorf("list the checkouts: %w", err)
	}
	dir := ""
	for _, line := range strings.Split(string(out), "\x00") {
		if at, ok := strings.CutPrefix(line, "worktree "); ok {
			dir = at
		}
		if line == "branch "+ref {
			return dir, nil
		}
	}
	for _, amid := range []string{"rebase-merge/head-name", "rebase-apply/head-name"} {
		if name, err := os.ReadFile(filepath.Join(r.found.gitDir, amid)); err == nil && strings.TrimSpace(string(name)) == ref {
			return "", &CheckoutError{r.found.root, "is amid a rebase of " + ref, "end it with git rebase --continue or --abort, then land again"}
		}
	}
	return "", nil
}

// Ready refuses with a *CheckoutError where the checkout that has the branch cannot be moved: it is not the one that the
// command was started in, or has changes that are not committed.
func (r *Repo) Ready(ctx context.Context, t Target) error {
	if t.Dir == "" {
		return nil
	}
	if resolve(t.Dir) != resolve(r.found.root) {
		return &CheckoutError{t.Dir, "has " + t.Branch + " checked out", "colony -C " + t.Dir + " land"}
	}
	dirty, err := status(ctx, r.user, "--untracked-files=no")
	if err != nil {
		return fmt.Errorf("look for uncommitted files in %s: %w", t.Dir, err)
	}
	if len(dirty) > 0 {
		return &CheckoutError{t.Dir, "has changes that are not committed, in " + list(dirty), "commit or stash them, then land again"}
	}
	return nil
}

// Take moves the branch forward to a commit that descends from where it is. A checkout that has it goes along, by git's own
// fast-forward; else the branch alone is moved, if it still is where it was. It is false where somebody else moved it
// meanwhile. Nothing is ever forced.
func (r *Repo) Take(ctx context.Context, t Target, commit string) (moved bool, err error) {
	if err := r.Ready(ctx, t); err != nil {
		return false, err
	}
	if err := r.ship(ctx, commit, t.Head); err != nil {
		return false, fmt.Errorf("land on %s: %w", t.Branch, err)
	}
	if over, err := r.reaches(ctx, commit, t.Head); err != nil || !over {
		return false, err
	}
	logged := &Repo{run: r.run, state: r.state, found: r.found, own: r.own, known: r.known, // a move of the user's branch is in its reflog
		user: r.user.with("core.logAllRefUpdates=true", "GIT_REFLOG_ACTION=colony land "+r.run)}
	if t.Dir == "" {
		return logged.swap(ctx, t.ref(), t.Head, commit)
	}
	return logged.forward(ctx, t, commit)
}

// with is the caller with one more setting and one more variable.
func (c caller) with(setting, variable string) caller {
	c.side = append(slices.Clone(c.side), "-c", setting)
	c.env = append(slices.Clone(c.env), variable)
	return c
}

// forward lets git move the checkout and its branch.
func (r *Repo) forward(ctx context.Context, t Target, commit string) (bool, error) {
	if err := r.unfiltered(ctx, t, commit); err != nil {
		return false, err
	}
	on, err := r.user.run(ctx, nil, "symbolic-ref", "--quiet", "HEAD")
	if err != nil || strings.TrimSpace(string(on)) != t.ref() {
		return false, nil
	}
	if err := failpoint.Hit("repo.forward.before"); err != nil {
		return false, err
	}
	_, mergeErr := r.user.run(ctx, nil, "merge", "--ff-only", "--quiet", "--no-stat", "--no-autostash", commit)
	at, err := r.at(ctx, t.ref())
	if hit := failpoint.Hit("repo.forward.after"); hit != nil {
		return false, hit
	}
	switch {
	case err != nil || at == commit:
		return err == nil, err
	case at != t.Head:
		return false, nil
	case exitCode(mergeErr) > 0:
		return false, &CheckoutError{t.Dir, "did not go along: " + oneLine(errText(mergeErr)), "mend that, then land again"}
	}
	return false, mergeErr
}

// unfiltered refuses files that a program of the user's configuration would have to write: colony runs none.
func (r *Repo) unfiltered(ctx context.Context, t Target, commit string) error {
	files, err := r.Files(ctx, t.Head, commit)
	if err != nil || len(files) == 0 || len(r.found.filters) == 0 {
		return err
	}
	out, err := r.user.run(ctx, []byte(strings.Join(files, "\x00")+"\x00"), "check-attr", "-z", "--stdin", "filter")
	if err != nil {
		return err
	}
	parts := fields(out)
	for i := 0; i+2 < len(parts); i += 3 {
		if slices.Contains(r.found.filters, parts[i+2]) {
			return &CheckoutError{t.Dir, fmt.Sprintf("stores %s through the filter %q, which colony does not run", parts[i], parts[i+2]),
				"git merge --ff-only " + commit}
		}
	}
	return nil
}
