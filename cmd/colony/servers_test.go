package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// serverDirs is where `make servers` puts the real servers that tests talk to.
func serverDirs() string {
	cache, err := filepath.Abs(filepath.Join("..", "..", ".cache"))
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "bin") + string(filepath.ListSeparator) + filepath.Join(cache, "servers", "node_modules", ".bin")
}

// unseen reports whether a sandboxed process, which has a /tmp and a /var/tmp of its own, does not see a path.
func unseen(path string) bool {
	return strings.HasPrefix(path, "/tmp/") || strings.HasPrefix(path, "/var/tmp/")
}

// hasServer: the condition server:NAME holds where `make servers` put a program of that name where the sandbox shows it.
func hasServer(condition string) (bool, error) {
	name, ok := strings.CutPrefix(condition, "server:")
	if !ok {
		return false, fmt.Errorf("there is no condition %q", condition)
	}
	for _, dir := range filepath.SplitList(serverDirs()) {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil && !unseen(dir) {
			return true, nil
		}
	}
	return false, nil
}

// realServers: `servers` puts the real servers of tests on PATH, and the caches of the user's toolchain in their place.
func realServers(ts *testscript.TestScript, neg bool, _ []string) {
	ts.Setenv("PATH", ts.Getenv("PATH")+string(filepath.ListSeparator)+serverDirs())
}
