package hatch

import (
	"context"
	"testing"
	"time"

	"colony/model"
)

// slowly is a provider that says that it was asked, and answers when it may; its first word comes before.
type slowly struct{ asked, word, answer chan struct{} }

func (h slowly) Complete(ctx context.Context, _ model.Request, show func(model.Delta)) (model.Reply, error) {
	close(h.asked)
	<-h.word
	show(model.Delta{})
	<-h.answer
	return model.Reply{}, ctx.Err()
}

func newSlowly() slowly { return slowly{make(chan struct{}), make(chan struct{}), make(chan struct{})} }

// The second ant of a card asks once the first one's reply began, or when the head start is over, or when it is
// stopped; one of another card waits for nobody.
func TestSiblingsStartAMomentLater(t *testing.T) {
	for name, let := range map[string]func(first slowly, clock chan time.Time, stop func()){
		"the reply begins": func(first slowly, _ chan time.Time, _ func()) { close(first.word) },
		"time is up":       func(_ slowly, clock chan time.Time, _ func()) { clock <- time.Time{} },
		"stopped":          func(_ slowly, _ chan time.Time, stop func()) { stop() },
	} {
		t.Run(name, func(t *testing.T) {
			clock, waiting := make(chan time.Time), make(chan struct{})
			w := newWarmth(func(d time.Duration) <-chan time.Time {
				if d != headStart {
					t.Errorf("waits %s", d)
				}
				close(waiting)
				return clock
			})
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			first, second, other := newSlowly(), newSlowly(), newSlowly()
			done := make(chan struct{}, 3)
			ask := func(card string, h slowly) {
				go func() {
					w.around(card, h).Complete(ctx, model.Request{}, func(model.Delta) {})
					done <- struct{}{}
				}()
			}
			ask("worker", first)
			<-first.asked
			ask("worker", second)
			<-waiting
			ask("scout", other)
			<-other.asked
			select {
			case <-second.asked:
				t.Error("the second did not wait")
			default:
			}
			let(first, clock, stop)
			<-second.asked
			for _, h := range []slowly{first, second, other} {
				select {
				case <-h.word:
				default:
					close(h.word)
				}
				close(h.answer)
			}
			for range 3 {
				<-done
			}
		})
	}
}
