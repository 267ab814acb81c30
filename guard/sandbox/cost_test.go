package sandbox_test

import (
	"context"
	"os/exec"
	"slices"
	"testing"
	"time"

	"colony/guard/sandbox"
)

// The cost of a command is told, beside that of the same command started plainly. How long it takes is the machine's, so
// that nothing fails here. S10
func TestCostOfACommand(t *testing.T) {
	w := newWorld(t)
	s := w.open(t, "workspace")
	j := sandbox.Job{Argv: []string{"/bin/true"}, Dir: w.work, Writable: []string{w.work}}
	half := func(run func() error) time.Duration {
		var took []time.Duration
		for range 50 {
			began := time.Now()
			if err := run(); err != nil {
				t.Fatal(err)
			}
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		return took[len(took)/2]
	}
	open := half(func() error { return exec.Command("/bin/true").Run() })
	confined := half(func() error { _, err := s.Run(context.Background(), j); return err })
	t.Logf("security: S10 | a command in the sandbox, p50, above %.1f ms without | %.1f ms | at most 25 ms", ms(open), ms(confined-open))
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
