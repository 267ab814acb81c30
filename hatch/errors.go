package hatch

import (
	"errors"
	"fmt"
	"strings"

	"colony/guard/sandbox"
	"colony/repo"
)

// repoProblem is what a person can do about a repository that colony refuses. Its errors end with the next step, after a
// colon.
func repoProblem(err error) error {
	var (
		branch      *repo.BranchError
		name        *repo.NameError
		rev         *repo.RevError
		unsupported *repo.UnsupportedError
		exists      *repo.RunExistsError
		moved       *repo.MovedError
		filter      *repo.FilterError
		content     *repo.ContentError
		submodule   *repo.SubmoduleError
		include     *repo.IncludeError
		absent      *repo.NoBranchError
		checkout    *repo.CheckoutError
	)
	if err == nil {
		return nil
	}
	problem := func(code string) error {
		text := err.Error()
		if i := strings.LastIndex(text, ": "); i > 0 {
			return &Problem{Exit: 2, Code: code, Message: text[:i], Next: text[i+2:]}
		}
		return &Problem{Exit: 2, Code: code, Message: text}
	}
	switch {
	case errors.Is(err, repo.ErrNoRepository):
		return problem("no_repository")
	case errors.Is(err, repo.ErrEmpty):
		return problem("empty_repository")
	case errors.As(err, &branch):
		return problem("branch_taken")
	case errors.As(err, &name):
		return problem("bad_name")
	case errors.As(err, &rev):
		return problem("no_commit")
	case errors.As(err, &unsupported):
		return problem("unsupported_repository")
	case errors.As(err, &filter), errors.As(err, &content):
		return problem("dirty_content")
	case errors.As(err, &submodule):
		return problem("no_submodule")
	case errors.As(err, &absent):
		return problem("no_branch")
	case errors.As(err, &checkout):
		return problem("checkout")
	case errors.As(err, &include):
		return problem("bad_include")
	case errors.As(err, &moved):
		return problem("branch_moved")
	case errors.As(err, &exists):
		return problem("run_exists")
	}
	return err
}

// sandboxProblem is what a person can do about a sandbox that does not hold here.
func sandboxProblem(err error) error {
	var refused *sandbox.RefusedError
	if errors.As(err, &refused) {
		return &Problem{Exit: 2, Code: "no_sandbox", Message: fmt.Sprintf("the sandbox level %q does not hold here: %s", refused.Level, refused.Why), Next: refused.Next}
	}
	return err
}
