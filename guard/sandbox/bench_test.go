package sandbox_test

import (
	"context"
	"os/exec"
	"slices"
	"testing"
	"time"

	"colony/guard/sandbox"
)

// BenchmarkTrue compares a job that does nothing with the same command started plainly. S10
func BenchmarkTrue(b *testing.B) {
	w := newWorld(b)
	s := w.open(b, "workspace")
	j := sandbox.Job{Argv: []string{"/bin/true"}, Dir: w.work, Writable: []string{w.work}}
	for _, c := range []struct {
		name string
		run  func() error
	}{
		{"plain", func() error { return exec.Command("/bin/true").Run() }},
		{"sandboxed", func() error { _, err := s.Run(context.Background(), j); return err }},
	} {
		b.Run(c.name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				if err := c.run(); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
		})
	}
}
