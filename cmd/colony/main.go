// Command colony runs a swarm of coding agents on a git repository: one file per verb, with its flags, one call
// and the printing of what came of it.
package main

import (
	"context"
	"os"

	"colony/guard/sandbox"
)

// version is set by the build.
var version = "dev"

func main() {
	sandbox.Helper()
	os.Exit(run(context.Background(), &app{
		args: os.Args[1:], in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv, environ: os.Environ, slept: slept,
		organisation: "/etc/colony",
	}))
}
