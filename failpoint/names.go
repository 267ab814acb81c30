package failpoint

// Names are all points that there are, sorted. A test compares them with the source.
func Names() []string {
	return []string{
		"event.answer.before", // the group is durable, nobody was told
		"event.append.before", // the group's first record
		"event.flush.after",   // the commit, and with it the flush, returned
		"event.flush.before",  // the commit
		"event.head.after",    // the head file tells of the group
		"event.head.before",   // the head file is behind the log
		"event.leave.before",  // the desk, before the wish is written
		"event.mend.after",    // the log is cut, its head tells of more
		"event.mend.before",   // a copy is kept, the log is as it was
		"event.own.after",     // the lock is held and signed
		"event.own.before",    // the lock file, before it is opened
		"event.rename.after",  // the wish is on the desk
		"event.rename.before", // the wish is written and synced, under a name that nobody takes
		"event.take.after",    // the wish is carried out and removed
		"event.take.before",   // the wish is carried out and still on the desk
	}
}
