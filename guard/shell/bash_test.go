package shell_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"colony/guard/shell"
)

var fragments = []string{"echo", "ls", "cat", "true", "printf", "touch PWNED", "touch", "PWNED", " ", " ", " ", " ", ";", "\n", "&", "&&", "|", "||", "$(", ")", "`",
	"'", "\"", "\\", "\\\n", "{", "}", ",", ">", ">>", "<", "&>", ">|", "2>", "<<EOF\n", "\nEOF\n", "<<'EOF'\n", "<<<", "EOF", "#", "$", "${", "<(", ">(", "if", "then", "fi",
	"[[", "]]", "((", "))", "\r", "a=", "=", "!", "~", "~/", "*", "?", "[", "]", "$'", "\\x74ouch", "t\\ouch", "@P", "x()", "eval", "command", "env", "time", "-n", "--", "-v", "cd", ".", "/dev/null", "1", "(", "coproc"}

// contract 30: what the reader calls read-only changes nothing in the hands of a real shell.
func TestReadOnlyInRealShells(t *testing.T) {
	dir := t.TempDir()
	ran := 0
	rapid.Check(t, func(rt *rapid.T) {
		line := strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 1, 14).Draw(rt, "line"), "")
		if l := shell.Parse(line); !l.ReadOnly() || len(l.Commands) == 0 {
			return
		}
		for _, sh := range []string{"bash", "sh"} {
			ran++
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			cmd := exec.CommandContext(ctx, sh, "-c", line)
			cmd.Dir, cmd.Env = dir, []string{"PATH=/usr/bin:/bin", "HOME=" + dir}
			_ = cmd.Run() // how it ends is of no interest
			cancel()
			entries, err := os.ReadDir(dir)
			if err != nil || len(entries) > 0 {
				rt.Fatalf("%s -c %q left %v (%v)", sh, line, entries, err)
			}
		}
	})
	t.Logf("%d runs", ran)
}
