package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// slept is how long the machine has slept since it was started: one of its clocks stands still meanwhile.
func slept() time.Duration {
	var all, awake unix.Timespec
	// Awake is read first, so that what passes between the two makes nothing negative.
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &awake) != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &all) != nil {
		return 0
	}
	return time.Duration(all.Nano() - awake.Nano())
}
