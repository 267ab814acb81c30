package ledger

import "colony/event"

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
			s := n.Sum()
			used := b.spent(c.Ant)
			*used = used.plus(spent(s.Usage, s.USD, s.Price))
			b.recallHeld(c, int64(n.Held), used)
		}
	}
	b.run.used = b.run.used.plus(spent(bill.Total()))
	for id, task := range b.tasks {
		task.used = task.used.plus(spent(bill.Task(id)))
	}
}

// recallHeld counts what was set aside for attempts without a price, which no sum has.
func (b *Book) recallHeld(c *Cell, held int64, ant *amounts) {
	b.run.used.usd += held
	ant.usd += held
	if task := b.tasks[c.Task]; task != nil {
		task.used.usd += held
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
