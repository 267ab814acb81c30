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

const maxLinks = 40

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
	at := "/"
	if below(env.Root, path) {
		at, path = env.Root, path[len(env.Root):]
	}
	abs, err := resolve(at, path)
	if err != nil {
		return place{}, err
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

func resolve(at, path string) (string, error) {
	todo := strings.Split(path, "/")
	links := 0
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		target, err := os.Readlink(next)
		switch {
		case err == nil:
			if links++; links > maxLinks {
				return "", badArg("path", "leads through too many links", "")
			}
			if filepath.IsAbs(target) {
				at = "/"
			}
			todo = append(strings.Split(target, "/"), todo...)
		case notLink(err):
			at = next
		default:
			return "", badArg("path", "cannot be resolved: "+errors.Unwrap(err).Error(), "")
		}
	}
	return at, nil
}

// notLink reports whether reading a link said that there is something else, or nothing yet.
func notLink(err error) bool {
	return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR)
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
