package model

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"strings"
)

// PriceState says how sure a price is. The zero value means unknown.
type PriceState string

// The price states.
const (
	PriceUnknown PriceState = ""
	PriceKnown   PriceState = "known"
	PriceFree    PriceState = "free"
)

// Price is what each kind of token of a model costs, in picodollars a token.
type Price struct {
	State                             PriceState
	Fresh, Cached, CacheWrite, Output int64
	CacheWriteLong                    int64  // what is kept for an hour; 0 is the rate of CacheWrite
	Date                              string // the day from which the rates hold
	Source                            string // where they stand
}

// Free is the price of a model that costs nothing.
func Free() Price { return Price{State: PriceFree} }

// ParsePrice reads four rates with slashes between them: dollars for a million tokens of input, of input from the cache, of
// input written to it, and of output.
func ParsePrice(text string) (Price, error) {
	parts := strings.Split(text, "/")
	if len(parts) != 4 {
		return Price{}, fmt.Errorf("price %q is not four rates like 1.25/0.125/1.25/10", text)
	}
	var rates [4]rate
	for i, part := range parts {
		if err := rates[i].UnmarshalYAML([]byte(part)); err != nil {
			return Price{}, fmt.Errorf("price %q: %w", text, err)
		}
	}
	return Price{State: PriceKnown, Fresh: int64(rates[0]), Cached: int64(rates[1]), CacheWrite: int64(rates[2]), Output: int64(rates[3])}, nil
}

// Less is the price with a discount in percent, rounded up to a whole picodollar a token.
func (p Price) Less(percent int) Price {
	for _, rate := range []*int64{&p.Fresh, &p.Cached, &p.CacheWrite, &p.CacheWriteLong, &p.Output} {
		*rate -= *rate * int64(percent) / 100
	}
	return p
}

// Cost is what a usage costs, exactly, in picodollars. It is false where the price is unknown. An amount
// that int64 cannot hold is the largest that it can.
func (p Price) Cost(u Usage) (int64, bool) {
	switch p.State {
	case PriceFree:
		return 0, true
	case PriceKnown:
		sum := int64(0)
		long := min(max(u.CacheWriteLong, 0), max(u.CacheWrite, 0))
		for _, part := range [...][2]int64{
			{u.Fresh, p.Fresh}, {u.Cached, p.Cached}, {u.CacheWrite - long, p.CacheWrite}, {long, cmp.Or(p.CacheWriteLong, p.CacheWrite)}, {u.Output, p.Output},
		} {
			sum = addUp(sum, timesUp(part[0], part[1]))
		}
		return sum, true
	}
	return 0, false
}

// timesUp multiplies two amounts; a negative one counts as nothing.
func timesUp(a, b int64) int64 {
	if a <= 0 || b <= 0 {
		return 0
	}
	high, low := bits.Mul64(uint64(a), uint64(b))
	if high != 0 || low > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(low)
}

func addUp(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
