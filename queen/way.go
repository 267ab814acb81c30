package queen

import "slices"

// A task whose work did not join the branch has the right of way in the files where it did not, until it lands or ends.
// What others bring in these files waits for it: they would undo its rework, and it would be the one that never lands.
// The first that was sent back goes first.

// giveWay lets others wait for a task in these files.
func (r *run) giveWay(t *task, files []string) {
	if t.turn == 0 {
		r.turns++
		t.turn = r.turns
	}
	t.way, t.clash = files, nil
}

// yields reports whether a task with these files waits for another that has the right of way. One that will have no ant any
// more keeps nobody waiting.
func (r *run) yields(t *task, files []string) bool {
	lame := r.capped || r.fatal || r.stale || r.broken
	return slices.ContainsFunc(r.graph.order, func(other *task) bool {
		return other != t && other.turn > 0 && !other.ended() && !(lame && other.state == ready) && (t.turn == 0 || other.turn < t.turn) &&
			slices.ContainsFunc(other.way, func(f string) bool { return slices.Contains(files, f) })
	})
}

// free is the work that waits to land and for no other task.
func (r *run) free() []*task {
	return slices.DeleteFunc(slices.Clone(r.toLand), func(t *task) bool { return r.yields(t, t.report.Files) || r.yields(t, t.clash) })
}
