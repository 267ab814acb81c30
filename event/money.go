package event

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// PicoUSD is money in picodollars: a millionth of a millionth of a dollar. As JSON it is a decimal number
// of dollars with at most 12 places.
type PicoUSD int64

// Dollar is one dollar.
const Dollar PicoUSD = 1_000_000_000_000

// String is the exact amount in dollars.
func (p PicoUSD) String() string {
	sign, n := "", uint64(p)
	if p < 0 {
		sign, n = "-", -n
	}
	frac := strings.TrimRight(fmt.Sprintf("%012d", n%uint64(Dollar)), "0")
	if frac == "" {
		return sign + strconv.FormatUint(n/uint64(Dollar), 10)
	}
	return sign + strconv.FormatUint(n/uint64(Dollar), 10) + "." + frac
}

// MarshalJSON writes the amount in dollars.
func (p PicoUSD) MarshalJSON() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalJSON reads an amount in dollars exactly.
func (p *PicoUSD) UnmarshalJSON(data []byte) error {
	text := string(data)
	if text == "null" {
		return nil
	}
	if amount, ok := plainUSD(text); ok {
		*p = amount
		return nil
	}
	if _, exponent, found := strings.Cut(strings.ToLower(text), "e"); len(text) > 40 || found && len(exponent) > 3 {
		return fmt.Errorf("money %.40q: too long", text)
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return fmt.Errorf("money %q: not a number", text)
	}
	r.Mul(r, new(big.Rat).SetInt64(int64(Dollar)))
	if !r.IsInt() || !r.Num().IsInt64() {
		return fmt.Errorf("money %q: more than 12 places or too large", data)
	}
	*p = PicoUSD(r.Num().Int64())
	return nil
}

// plainUSD reads an amount as it is written here: digits with at most one point.
func plainUSD(text string) (PicoUSD, bool) {
	whole, frac, pointed := strings.Cut(text, ".")
	if len(whole) == 0 || len(whole) > 6 || len(frac) > 12 || pointed && frac == "" || len(whole) > 1 && whole[0] == '0' {
		return 0, false
	}
	n := int64(0)
	for i := range len(whole) + 12 {
		digit := byte('0')
		switch {
		case i < len(whole):
			digit = whole[i]
		case i-len(whole) < len(frac):
			digit = frac[i-len(whole)]
		}
		if digit < '0' || digit > '9' {
			return 0, false
		}
		n = n*10 + int64(digit-'0')
	}
	return PicoUSD(n), true
}

// Price says how sure an amount is.
type Price string

// The price states. An amount whose price is unknown is nil, never 0.
const (
	Known   Price = "known"
	Free    Price = "free"
	Unknown Price = "unknown"
)

// Usage counts billed tokens as reports show them. Input holds cached and cache-write tokens; Output holds
// reasoning tokens.
type Usage struct {
	Requests   int64 `json:"requests"`
	Input      int64 `json:"input_tokens"`
	Cached     int64 `json:"cached_input_tokens"`
	CacheWrite int64 `json:"cache_write_tokens"`
	Output     int64 `json:"output_tokens"`
	Reasoning  int64 `json:"reasoning_tokens"`

	CacheWriteLong int64 `json:"cache_write_1h_tokens,omitempty"` // the part of CacheWrite that is kept for an hour
}

// Add is the sum of both.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Requests + v.Requests, u.Input + v.Input, u.Cached + v.Cached, u.CacheWrite + v.CacheWrite, u.Output + v.Output, u.Reasoning + v.Reasoning, u.CacheWriteLong + v.CacheWriteLong}
}
