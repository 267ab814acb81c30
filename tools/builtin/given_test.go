package builtin_test

import (
	"strconv"
	"strings"
	"syscall"
	"testing"

	"colony/tools"
)

// Commands as data: contracts 42 and 43, cases PR01, PR02, PR03 and PR05. One that waits ends with its timeout, which is a
// fault. That nothing is left of them is the sandbox's to prove, as is PR04; what this test leaves it ends itself.
func TestGivenProcesses(t *testing.T) {
	var cases []struct {
		Name, Command, Timeout string
		Fault                  tools.Fault
		Says                   []string
		Longest                int
	}
	load(t, "testdata/processes.json", &cases)
	if len(cases) == 0 {
		t.Fatal("no case")
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			w := newWorld(t)
			res := w.fault(c.Fault, "", "sh", args{"command": c.Command, "timeout": c.Timeout})
			for _, says := range c.Says {
				if !strings.Contains(res.Text, says) {
					t.Errorf("%q is not in %.500q", says, res.Text)
				}
			}
			if c.Longest > 0 && len(res.Text) > c.Longest {
				t.Errorf("%d bytes", len(res.Text))
			}
			for line := range strings.Lines(res.Text) {
				if pid, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(line, "pid "))); err == nil && strings.HasPrefix(line, "pid ") {
					w.must(syscall.Kill(pid, syscall.SIGKILL))
				}
			}
		})
	}
}
