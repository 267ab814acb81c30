package ledger

// Recall takes what earlier processes of the run have spent into the caps of the run, of its tasks and of its ants, which
// an ant finds when its account is opened again. The accounts of tasks are open. It is called before anything is spent.
func (b *Book) Recall(bill *Bill) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range bill.runs {
		for _, a := range r.Ants {
			b.run.used.calls += a.Calls
			if task := b.tasks[a.Task]; task != nil {
				task.used.calls += a.Calls
			}
			b.spent(a.ID).calls += a.Calls
		}
		for i, c := range r.Cells {
			n := r.Of(i)
			u := n.Sum().Usage
			// The known part of the money, also beside attempts without a price, and what was set aside for these.
			used := amounts{usd: int64(n.USD + n.Held), tokens: u.Input + u.Output, turns: u.Requests}
			b.run.used = b.run.used.plus(used)
			if task := b.tasks[c.Task]; task != nil {
				task.used = task.used.plus(used)
			}
			ant := b.spent(c.Ant)
			*ant = ant.plus(used)
		}
	}
}

// spent is what an ant has used that has no account yet. The caller holds mu.
func (b *Book) spent(ant string) *amounts {
	if b.before[ant] == nil {
		b.before[ant] = &amounts{}
	}
	return b.before[ant]
}
