package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// meanwhile: `meanwhile WHEN CMD... -- CODE FILE CMD...` runs the first command once a line of the standard output of
// the second holds WHEN, and wants the second to end with CODE. FILE keeps its standard output, FILE.too that of the
// first.
func meanwhile(ts *testscript.TestScript, neg bool, args []string) {
	cut := slices.Index(args, "--")
	when, first, second := args[0], args[1:cut], args[cut+1:]
	cmd := command(ts, second[2:])
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	var all strings.Builder
	done := false
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		fmt.Fprintln(&all, lines.Text())
		if !done && strings.Contains(lines.Text(), when) {
			done = true
			said, err := command(ts, first).CombinedOutput()
			ts.Logf("meanwhile: %s", said)
			ts.Check(err)
			ts.Check(os.WriteFile(ts.MkAbs(second[1]+".too"), said, 0o600))
		}
	}
	_ = cmd.Wait() // the code is compared below
	ts.Check(os.WriteFile(ts.MkAbs(second[1]), []byte(all.String()), 0o600))
	ts.Logf("%s%s", all.String(), complaints.String())
	if !done {
		ts.Fatalf("no line held %q", when)
	}
	if code := fmt.Sprint(cmd.ProcessState.ExitCode()); code != second[0] {
		ts.Fatalf("ended with %s, want %s", code, second[0])
	}
}

func command(ts *testscript.TestScript, words []string) *exec.Cmd {
	cmd := exec.Command(program(ts, words[0]), words[1:]...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), environment(ts)
	return cmd
}
