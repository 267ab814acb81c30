package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// block: `block PAGE N FILE` writes the Nth block of shell of a page of docs to FILE.
func block(ts *testscript.TestScript, neg bool, args []string) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", args[0]))
	ts.Check(err)
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	blocks := strings.Split(string(page), "\n```sh\n")
	if n >= len(blocks) {
		ts.Fatalf("%s has %d blocks of shell", args[0], len(blocks)-1)
	}
	text, _, _ := strings.Cut(blocks[n], "\n```")
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(text+"\n"), 0o600))
}
