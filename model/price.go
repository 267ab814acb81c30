package model

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"
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
	CacheWriteLong                    int64          // what is kept for an hour; 0 is the rate of CacheWrite
	Reasoning                         int64          // 0 is the rate of Output
	Above                             []Step         // what a request costs whose input is longer, the lowest first
	Services                          map[string]int // percent of the rates, where a reply was served otherwise than by the standard service
	Date                              string         // the day from which the rates hold
	Source                            string         // where they stand
}

// Step is the rates of a request with more input tokens than Above.
type Step struct {
	Above int64
	Price Price
}

// Free is the price of a model that costs nothing.
func Free() Price { return Price{State: PriceFree} }

// ParsePrice reads four rates with slashes between them: dollars for a million tokens of input, of input from the cache, of
// input written to it, and of output. Words may follow: write_1h=RATE, reasoning=RATE, above=TOKENS:RATES for long contexts,
// since=DAY, and SERVICE=PERCENT% for what a service such as batch or priority costs of all that.
func ParsePrice(text string) (Price, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		words = []string{""}
	}
	p, err := parseRates(words[0])
	if err != nil {
		return Price{}, fmt.Errorf("price %q %w", text, err)
	}
	for _, word := range words[1:] {
		if err := p.more(word); err != nil {
			return Price{}, fmt.Errorf("price %q: %q %w", text, word, err)
		}
	}
	slices.SortFunc(p.Above, func(a, b Step) int { return cmp.Compare(a.Above, b.Above) })
	return p, nil
}

func parseRates(text string) (Price, error) {
	parts := strings.Split(text, "/")
	if len(parts) != 4 {
		return Price{}, fmt.Errorf("is not four rates like 1.25/0.125/1.25/10")
	}
	var rates [4]rate
	for i, part := range parts {
		if err := rates[i].UnmarshalYAML([]byte(part)); err != nil {
			return Price{}, fmt.Errorf("does not hold: %w", err)
		}
	}
	return Price{State: PriceKnown, Fresh: int64(rates[0]), Cached: int64(rates[1]), CacheWrite: int64(rates[2]), Output: int64(rates[3])}, nil
}

// more reads one word beside the four rates.
func (p *Price) more(word string) error {
	key, value, found := strings.Cut(word, "=")
	if !found || key == "" {
		return fmt.Errorf("is no word like write_1h=4 or batch=50%%")
	}
	switch key {
	case "since":
		_, err := time.Parse(time.DateOnly, value)
		p.Date = value
		return err
	case "above":
		tokens, rates, _ := strings.Cut(value, ":")
		n, err := strconv.ParseInt(tokens, 10, 64)
		if err != nil || n <= 0 {
			return fmt.Errorf("is no count of tokens and four rates like above=200000:4/0.4/5/15")
		}
		step, err := parseRates(rates)
		p.Above = append(p.Above, Step{n, step})
		return err
	case "write_1h", "reasoning":
		var r rate
		err := r.UnmarshalYAML([]byte(value))
		if key == "write_1h" {
			p.CacheWriteLong = int64(r)
		} else {
			p.Reasoning = int64(r)
		}
		return err
	}
	percent, err := strconv.Atoi(strings.TrimSuffix(value, "%"))
	if err != nil || percent < 0 || percent > 10_000 || !strings.HasSuffix(value, "%") {
		return fmt.Errorf("is no service with its percentage, like batch=50%%")
	}
	if p.Services == nil {
		p.Services = map[string]int{}
	}
	p.Services[key] = percent
	return nil
}

// String is a known price as ParsePrice reads it, its date left out.
func (p Price) String() string {
	if p.State != PriceKnown {
		return cmp.Or(string(p.State), "unknown")
	}
	text := p.four()
	if p.CacheWriteLong != 0 {
		text += " write_1h=" + dollars(p.CacheWriteLong)
	}
	if p.Reasoning != 0 {
		text += " reasoning=" + dollars(p.Reasoning)
	}
	for _, s := range p.Above {
		text += fmt.Sprintf(" above=%d:%s", s.Above, s.Price.four())
	}
	for _, name := range slices.Sorted(maps.Keys(p.Services)) {
		text += fmt.Sprintf(" %s=%d%%", name, p.Services[name])
	}
	return text
}

func (p Price) four() string {
	return strings.Join([]string{dollars(p.Fresh), dollars(p.Cached), dollars(p.CacheWrite), dollars(p.Output)}, "/")
}

// dollars is a rate in dollars for a million tokens, exactly.
func dollars(rate int64) string {
	text := big.NewRat(rate, 1_000_000).FloatString(6)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// Less is the price with a discount in percent, rounded up to a whole picodollar a token.
func (p Price) Less(percent int) Price {
	for _, rate := range []*int64{&p.Fresh, &p.Cached, &p.CacheWrite, &p.CacheWriteLong, &p.Output, &p.Reasoning} {
		*rate -= *rate * int64(percent) / 100
	}
	p.Above = slices.Clone(p.Above)
	for i, s := range p.Above {
		p.Above[i].Price = s.Price.Less(percent)
	}
	return p
}

// Cost is what a usage costs, exactly, in picodollars. It is false where the price is unknown, also of the service that
// the reply came by. An amount that int64 cannot hold is the largest that it can.
func (p Price) Cost(u Usage) (int64, bool) {
	percent, served := p.Services[u.Service]
	switch {
	case p.State == PriceFree:
		return 0, true
	case p.State != PriceKnown || u.Service != "" && !served:
		return 0, false
	case u.Service == "":
		percent = 100
	}
	for _, s := range p.Above {
		if u.Input() > s.Above {
			p.Fresh, p.Cached, p.CacheWrite, p.Output = s.Price.Fresh, s.Price.Cached, s.Price.CacheWrite, s.Price.Output
			p.CacheWriteLong, p.Reasoning = 0, 0
		}
	}
	sum := int64(0)
	long := min(max(u.CacheWriteLong, 0), max(u.CacheWrite, 0))
	thought := min(max(u.Reasoning, 0), max(u.Output, 0))
	for _, part := range [...][2]int64{
		{u.Fresh, p.Fresh}, {u.Cached, p.Cached}, {u.CacheWrite - long, p.CacheWrite}, {long, cmp.Or(p.CacheWriteLong, p.CacheWrite)},
		{u.Output - thought, p.Output}, {thought, cmp.Or(p.Reasoning, p.Output)},
	} {
		sum = addUp(sum, timesUp(part[0], part[1]))
	}
	return percentUp(sum, percent), true
}

// percentUp is a share in percent, rounded up.
func percentUp(amount int64, percent int) int64 {
	high, low := bits.Mul64(uint64(amount), uint64(percent))
	if high >= 100 {
		return math.MaxInt64
	}
	part, rest := bits.Div64(high, low, 100)
	if rest > 0 {
		part++
	}
	return int64(min(part, math.MaxInt64))
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
