//go:build !failpoints

package failpoint_test

import (
	"testing"

	"colony/failpoint"
)

// A program as it is released does nothing at a point, whatever its environment says.
func TestInert(t *testing.T) {
	t.Setenv("COLONY_FAILPOINT", "*:1-:eio")
	t.Setenv("COLONY_FAILPOINT_TRACE", "/no/such/place")
	if err := failpoint.Hit("event.flush.before"); err != nil || failpoint.Built {
		t.Error(err)
	}
	if n := testing.AllocsPerRun(100, func() { failpoint.Hit("event.flush.before") }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
