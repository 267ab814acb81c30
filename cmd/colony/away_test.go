package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// makeAway: `away` makes a directory outside /tmp, which a sandboxed process could see, and sets $AWAY to it and $HOME
// to a home in it. The command is in $AWAY/bin.
func makeAway(ts *testscript.TestScript, neg bool, _ []string) {
	root, err := filepath.Abs(filepath.Join("..", "..", ".cache", "test"))
	ts.Check(err)
	if strings.HasPrefix(root, "/tmp/") {
		root = "/var/tmp"
	}
	ts.Check(os.MkdirAll(root, 0o700))
	dir, err := os.MkdirTemp(root, "away-")
	ts.Check(err)
	ts.Defer(func() {
		if err := os.RemoveAll(dir); err != nil {
			ts.Logf("remove %s: %v", dir, err)
		}
	})
	ts.Check(os.CopyFS(filepath.Join(dir, "home"), os.DirFS(ts.Getenv("HOME"))))
	binary, err := os.ReadFile(program(ts, "colony"))
	ts.Check(err)
	ts.Check(os.Mkdir(filepath.Join(dir, "bin"), 0o700))
	ts.Check(os.WriteFile(filepath.Join(dir, "bin", "colony"), binary, 0o700))
	ts.Setenv("AWAY", dir)
	ts.Setenv("HOME", filepath.Join(dir, "home"))
}

// fill: `fill FILE...` replaces $AWAY, $WORK, $PORT, $SERVED and $MODEL, the last model's address, in files.
func fill(ts *testscript.TestScript, neg bool, args []string) {
	replacer := strings.NewReplacer("$AWAY", ts.Getenv("AWAY"), "$WORK", ts.Getenv("WORK"), "$PORT", ts.Getenv("PORT"), "$MODEL", ts.Getenv("MODEL"), "$SERVED", ts.Getenv("SERVED"))
	for _, name := range args {
		text := replacer.Replace(ts.ReadFile(name))
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o600))
	}
}
