package ledger

import "colony/event"

// Recall takes what earlier processes of the run have spent into the caps of the run and of its tasks, which are open. It
// is called before anything is spent.
func (b *Book) Recall(bill *Bill) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.run.used = b.run.used.plus(spent(bill.Total()))
	for id, task := range b.tasks {
		task.used = task.used.plus(spent(bill.Task(id)))
	}
}

func spent(u event.Usage, usd *event.PicoUSD, _ event.Price) amounts {
	out := amounts{tokens: u.Input + u.Output, turns: u.Requests}
	if usd != nil {
		out.usd = int64(*usd)
	}
	return out
}
