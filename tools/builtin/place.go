package builtin

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"colony/tools"
)

// place is where the path of a call leads.
type place struct {
	abs    string // no component that exists is a link
	rel    string // below the root, "." for the root itself; "" outside
	inside bool
}

// subject is what a permission rule's content is matched against.
func (p place) subject() string {
	if p.inside {
		return p.rel
	}
	return p.abs
}

// locate resolves a path as the kernel would, from the ant's working directory, and goes on by name where
// nothing exists yet, so a link that leads nowhere is followed too. It reads links and nothing else.
func locate(env *tools.Env, path string) (place, error) {
	if path == "" {
		return place{}, badArg("path", "is empty", `name a file, or "." for the directory itself`)
	}
	if strings.ContainsRune(path, 0) {
		return place{}, badArg("path", "contains a NUL byte", "")
	}
	if !filepath.IsAbs(path) {
		path = env.Cwd() + "/" + path
	}
	abs, err := tools.Resolve(env.Root, path)
	if err != nil {
		return place{}, badArg("path", "cannot be followed: "+err.Error(), "")
	}
	if !below(env.Root, abs) {
		return place{abs: abs}, nil
	}
	rel := strings.TrimPrefix(strings.TrimPrefix(abs, env.Root), "/")
	if rel == "" {
		rel = "."
	}
	return place{abs: abs, rel: rel, inside: true}, nil
}

// below reports whether path is root or under it, comparing whole components.
func below(root, path string) bool {
	rest, ok := strings.CutPrefix(path, root)
	return ok && (rest == "" || rest[0] == '/' || root == "/")
}

// outside is the result of a call whose path leaves the worktree.
func outside(env *tools.Env, path string, p place) tools.Result {
	return tools.Refuse(tools.PermissionDenied, fmt.Sprintf(
		"%s leads to %s, outside the worktree %s: use a path inside it", path, p.abs, env.Root))
}

// broken says why a file could not be used, as a fault the model can act on.
func broken(op, path string, err error) tools.Result {
	fault, next := tools.Internal, ""
	switch {
	case errors.Is(err, unix.ENOENT):
		fault, next = tools.Missing, ": check the name with find"
	case errors.Is(err, unix.ENOTDIR):
		fault, next = tools.Missing, ": a part of the path is a file or a link"
	case errors.Is(err, unix.ELOOP):
		fault, next = tools.PermissionDenied, ": it became a link during the call"
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM), errors.Is(err, unix.EROFS):
		fault = tools.PermissionDenied
	case errors.Is(err, unix.ENAMETOOLONG), errors.Is(err, errNotRegular), errors.Is(err, errTooBig), errors.Is(err, unix.ENXIO),
		errors.Is(err, unix.EISDIR):
		fault = tools.Validation
	}
	reason := err.Error()
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		reason = pe.Err.Error()
	}
	return tools.Refuse(fault, fmt.Sprintf("%s %s: %s%s", op, path, reason, next))
}
