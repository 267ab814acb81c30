package failpoint

// Names are all points that there are, sorted. A test compares them with the source.
func Names() []string {
	return []string{
		"ant.effect.after",      // the call came to what it came to, the log has nothing of it
		"ant.effect.before",     // the call is on the log as begun, nothing of it happened
		"event.answer.before",   // the group is durable, nobody was told
		"event.append.before",   // the group's first record
		"event.flush.after",     // the commit, and with it the flush, returned
		"event.flush.before",    // the commit
		"event.head.after",      // the head file tells of the group
		"event.head.before",     // the head file is behind the log
		"event.leave.before",    // the desk, before the wish is written
		"event.mend.after",      // the log is cut, its head tells of more
		"event.mend.before",     // a copy is kept, the log is as it was
		"event.own.after",       // the lock is held and signed
		"event.own.before",      // the lock file, before it is opened
		"event.rename.after",    // the wish is on the desk
		"event.rename.before",   // the wish is written and synced, under a name that nobody takes
		"event.take.after",      // the wish is carried out and removed
		"event.take.before",     // the wish is carried out and still on the desk
		"ledger.request.after",  // a reply came, the log has nothing of it
		"ledger.request.before", // the reservation is on the log, nothing was sent
		"repo.commit.after",     // the commit is the worktree's HEAD
		"repo.commit.before",    // the commit is written, no ref has it
		"repo.commit.half",      // a ref of the state repository has it, the worktree's HEAD does not
		"repo.drop.after",       // a ref of the run is gone
		"repo.drop.before",      // clean-up is about to delete a ref
		"repo.erase.after",      // the files of a worktree are gone, git still knows of it
		"repo.erase.before",     // a worktree is about to go
		"repo.forward.after",    // the user's branch and checkout went along
		"repo.forward.before",   // the user's branch is about to be moved by a fast-forward
		"repo.rename.after",     // the worktree is in its place
		"repo.rename.before",    // a worktree is whole and has no name yet
		"repo.rename.half",      // what git knows of it has the name, its files do not
		"repo.start.after",      // the run has its branch and its base is pinned
		"repo.start.before",     // no ref of the run is there
		"repo.swap.after",       // a ref of the run, or the user's branch, has moved
		"repo.swap.before",      // the objects are there, the ref is where it was
		"repo.worktree.after",   // a worktree's files are there
		"repo.worktree.before",  // nothing of the worktree is there
	}
}
