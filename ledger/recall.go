package ledger

import "colony/event"

// Recall takes what earlier processes of the run have spent into the caps of the run, of its tasks and of its ants, which
// an ant finds when its account is opened again. The accounts of tasks are open. It is called before anything is spent.
func (b *Book) Recall(bill *Bill) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, n := range bill.calls {
		b.run.used.calls += n
		if task := b.tasks[key[0]]; task != nil {
			task.used.calls += n
		}
		b.spent(key[1]).calls += n
	}
	b.run.used = b.run.used.plus(spent(bill.Total()))
	for id, task := range b.tasks {
		task.used = task.used.plus(spent(bill.Task(id)))
	}
	for _, l := range bill.counted() {
		used := b.spent(l.ant)
		*used = used.plus(spent(l.usage, l.usd, l.price))
	}
}

// spent is what an ant has used that has no account yet. The caller holds mu.
func (b *Book) spent(ant string) *amounts {
	if b.before[ant] == nil {
		b.before[ant] = &amounts{}
	}
	return b.before[ant]
}

func spent(u event.Usage, usd *event.PicoUSD, _ event.Price) amounts {
	out := amounts{tokens: u.Input + u.Output, turns: u.Requests}
	if usd != nil {
		out.usd = int64(*usd)
	}
	return out
}
