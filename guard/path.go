package guard

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const maxLinks = 40

// resolve is where an absolute path leads as the kernel would follow it; what does not exist yet goes on by
// name, and a link that leads nowhere is followed too.
func resolve(path string) (string, error) {
	at, todo, links := "/", strings.Split(path, "/"), 0
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
				return "", fmt.Errorf("resolve %s: too many links", path)
			}
			if filepath.IsAbs(target) {
				at = "/"
			}
			todo = append(strings.Split(target, "/"), todo...)
		case notLink(err):
			at = next
		default:
			return "", fmt.Errorf("resolve %s: %w", path, err)
		}
	}
	return at, nil
}

// notLink reports whether reading a link said that there is something else, nothing, or nothing that could be.
func notLink(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR) ||
		errors.Is(err, syscall.ENAMETOOLONG)
}

// beneath is path as seen from root, comparing whole components; false where it is not root or under it.
func beneath(root, path string) (string, bool) {
	switch rest, ok := strings.CutPrefix(path, root); {
	case !ok:
		return "", false
	case rest == "":
		return ".", true
	case root == "/":
		return rest, true
	case rest[0] == '/':
		return rest[1:], true
	}
	return "", false
}

func beneathAny(roots []string, path string) bool {
	for _, root := range roots {
		if _, ok := beneath(root, path); ok {
			return true
		}
	}
	return false
}
