package hatch

import (
	"fmt"
	"time"

	"colony/event"
)

// nap is the shortest sleep of the machine that is told of; what is shorter is the time between two looks at its clocks.
const nap = time.Second

// sleeper notices that the machine slept. Limits, caps and deadlines need nothing of it: they count by a clock that stands
// still meanwhile, and no lease is judged by a clock.
type sleeper struct {
	slept func() time.Duration // since the machine was started
	known time.Duration
}

// look is how long the machine slept since the last look; 0 where that is no nap.
func (s *sleeper) look() time.Duration {
	now := s.slept()
	d := now - s.known
	if d < nap {
		return 0
	}
	s.known = now
	return d
}

// awoke says in the log that the machine slept, and lets the open questions be open for as much longer.
func (c *Colony) awoke(d time.Duration) error {
	c.crew.awoke(d)
	return c.record("", event.Warned{
		Code: "machine_slept", Text: fmt.Sprintf("the machine slept for %s", d.Round(time.Second)),
		Next: "nothing: limits, caps and deadlines count the time that it was awake",
	})
}
