package repo

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNoRepository is a directory that is in no git repository.
var ErrNoRepository = errors.New("this directory is in no git repository: cd into one, or run `git init` and commit")

// ErrEmpty is a repository without a commit.
var ErrEmpty = errors.New("the repository has no commit yet: commit something first, for example `git commit --allow-empty -m start`")

// BranchError is a branch that stands where colony's branches go.
type BranchError struct{ Branch string }

func (e *BranchError) Error() string {
	return fmt.Sprintf("the branch %q makes branches named colony/RUN impossible: rename it, for example `git branch -m %s my-%s`", e.Branch, e.Branch, e.Branch)
}

// NameError is a name that cannot be part of a ref.
type NameError struct{ Name string }

func (e *NameError) Error() string {
	return fmt.Sprintf("the name %q cannot be part of a branch name: use letters, digits, dots, dashes and underscores", e.Name)
}

// UnsupportedError is a repository colony does not work on, found before any change.
type UnsupportedError struct{ What, Next string }

func (e *UnsupportedError) Error() string { return e.What + ": " + e.Next }

// RevError is a word that names no commit.
type RevError struct{ Rev string }

func (e *RevError) Error() string {
	return fmt.Sprintf("%q names no commit here: `git log --oneline --all` lists them", e.Rev)
}

// RunExistsError is a run that has a branch already.
type RunExistsError struct{ Run, Branch string }

func (e *RunExistsError) Error() string {
	return fmt.Sprintf("the run %s has the branch %s already: choose another --run-id", e.Run, e.Branch)
}

// FilterError is changed files that belong to a filter, which colony does not run: committing them would
// store what the filter is there to keep out.
type FilterError struct {
	Filter string
	Files  []string
}

func (e *FilterError) Error() string {
	return fmt.Sprintf("%s: changed, and stored through the filter %q, which colony does not run: leave them as they were", list(e.Files), e.Filter)
}

// ContentError is a worktree that git does not record as it is: a name that is git's own, an encoding that a file
// does not have, a pipe in a file's place.
type ContentError struct{ Text string }

func (e *ContentError) Error() string { return "git does not record the worktree as it is: " + e.Text }

// machines is what git says where the fault is the machine's.
var machines = lazily(`No space left|quota exceeded|Read-only file system|Input/output error|[Oo]ut of memory|insufficient permission for adding an object|index\.lock`)

// contentError is the error of a git that read a worktree: what lies there is at fault unless the machine is.
func contentError(err error) error {
	if exitCode(err) <= 0 || machines().MatchString(errText(err)) {
		return err
	}
	first, _, _ := strings.Cut(strings.TrimSpace(errText(err)), "\n")
	return &ContentError{Text: strings.TrimPrefix(strings.TrimPrefix(first, "error: "), "fatal: ")}
}

// HeldError is a worktree that stays because it holds what nothing else does.
type HeldError struct {
	Dir, Why string
	Files    []string
}

func (e *HeldError) Error() string { return fmt.Sprintf("%s stays: %s", e.Dir, e.Why) }

func asHeld(err error, h **HeldError) bool { return errors.As(err, h) }

// list is the first few of many, for a sentence.
func list(files []string) string {
	const most = 3
	if len(files) <= most {
		return strings.Join(files, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(files[:most], ", "), len(files)-most)
}
