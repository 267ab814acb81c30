package event

import "fmt"

// Words is the estimate as people read it.
func (e *Estimate) Words() string {
	t := e.Tokens
	tokens := fmt.Sprintf("%d to %d tokens, expected %d", t.Low, t.High, t.Expected)
	switch {
	case e.Low == nil || e.Expected == nil || e.High == nil:
		return fmt.Sprintf("%s; the price is unknown (%s)", tokens, e.Basis)
	case e.Price == Free:
		return fmt.Sprintf("free; %s (%s)", tokens, e.Basis)
	}
	return fmt.Sprintf("$%s to $%s, expected $%s; %s (%s)", e.Low.Rounded(), e.High.Rounded(), e.Expected.Rounded(), tokens, e.Basis)
}

// Rounded is the amount to four places, for people; what is more than nothing is never shown as nothing.
func (p PicoUSD) Rounded() string {
	const step = Dollar / 10_000
	n := p / step
	if rest := p % step; rest*2 >= step || n == 0 && rest > 0 {
		n++
	}
	return fmt.Sprintf("%d.%04d", n/10_000, n%10_000)
}
