package tools

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks is how many links of one path are followed, as a kernel would.
const maxLinks = 40

// Resolve is where an absolute path leads as the kernel would follow it; what does not exist yet goes on by name, and a
// link that leads nowhere is followed too. It reads links and nothing else. root is a directory that is resolved already, of
// which nothing need be looked at: "/" for none.
func Resolve(root, path string) (string, error) {
	at, links := "/", 0
	if below, ok := strings.CutPrefix(path, root+"/"); ok && root != "" {
		at, path = root, below
	}
	todo := strings.Split(path, "/")
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
			return "", fmt.Errorf("resolve %s: %w", path, errors.Unwrap(err))
		}
	}
	return at, nil
}

// notLink reports whether reading a link said that there is something else, nothing, or nothing that could be.
func notLink(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR) ||
		errors.Is(err, syscall.ENAMETOOLONG)
}
