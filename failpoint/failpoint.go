// Package failpoint names the places where a test may end the process as kill -9 does, or make an operation fail. In
// a program built without the tag failpoints nothing ever happens at them, and they cost nothing.
//
// A point is named room.operation.before or room.operation.after, and Names lists them all. It stands directly before
// or after a write, a sync, a rename, a change of a ref or a request:
//
//	if err := failpoint.Hit("repo.advance.before"); err != nil {
//		return false, err
//	}
//
// In a program built with -tags failpoints, COLONY_FAILPOINT says what happens where:
//
//	repo.advance.before         the first hit of the point ends the process with SIGKILL
//	repo.advance.before:3       the third hit does
//	repo.advance.before:3:eio   the third hit answers EIO; enospc is the other error
//	event.*:7-9:enospc          hits 7 to 9 of all points whose names begin so answer ENOSPC
//	*:40-:eio                   from the fortieth hit of any point on, all answer EIO
//
// COLONY_FAILPOINT_TRACE names a file to which each hit appends its name and a line break. Both are read at every
// hit, so that a test may change them between two; hits count from the moment COLONY_FAILPOINT had its present value.
package failpoint
