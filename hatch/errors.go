package hatch

import (
	"errors"

	"colony/guard/sandbox"
	"colony/repo"
)

// repoProblem is what a person can do about a repository that colony refuses.
func repoProblem(err error) error {
	var (
		branch      *repo.BranchError
		name        *repo.NameError
		unsupported *repo.UnsupportedError
		exists      *repo.RunExistsError
	)
	problem := func(code, next string) error {
		return &Problem{Exit: 2, Code: code, Message: err.Error(), Next: next}
	}
	switch {
	case errors.Is(err, repo.ErrNoRepository):
		return problem("no_repository", "git init, or colony -C DIR")
	case errors.Is(err, repo.ErrEmpty):
		return problem("empty_repository", "git commit once, then start again")
	case errors.As(err, &branch):
		return problem("branch_taken", "git branch -m colony OTHER")
	case errors.As(err, &name):
		return problem("bad_name", "give another name")
	case errors.As(err, &unsupported):
		return problem("unsupported_repository", "see docs/repositories.md")
	case errors.As(err, &exists):
		return problem("run_exists", "give another --run-id, or none")
	}
	return err
}

// sandboxProblem is what a person can do about a sandbox that does not hold here.
func sandboxProblem(err error) error {
	var refused *sandbox.RefusedError
	if errors.As(err, &refused) {
		return &Problem{Exit: 2, Code: "no_sandbox", Message: refused.Error(), Next: refused.Next}
	}
	return err
}
