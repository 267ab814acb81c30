package strict

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strings"
	"time"
)

// USD is money in picodollars, read from a decimal number of dollars with at most 12 places, exactly.
type USD int64

// UnmarshalText reads an amount such as 0.50.
func (u *USD) UnmarshalText(text []byte) error {
	amount, err := ParseUSD(string(text))
	if err == nil {
		*u = amount
	}
	return err
}

// ParseUSD is the amount that the text says.
func ParseUSD(text string) (USD, error) {
	if !regexp.MustCompile(`^[0-9]{1,12}(\.[0-9]{1,12})?$`).MatchString(text) {
		return 0, fmt.Errorf("want dollars such as 0.50, got %q", clip(text))
	}
	whole, frac, _ := strings.Cut(text, ".")
	n, _ := new(big.Int).SetString(whole+frac+strings.Repeat("0", 12-len(frac)), 10)
	if !n.IsInt64() {
		return 0, fmt.Errorf("%s dollars is too much: the most is %d", text, math.MaxInt64/int64(1e12))
	}
	return USD(n.Int64()), nil
}

// Duration is a time span, read from text such as 10m or 1h30m. It is never negative.
type Duration time.Duration

// UnmarshalText reads a time span.
func (d *Duration) UnmarshalText(text []byte) error {
	span, err := time.ParseDuration(string(text))
	if err != nil || span < 0 {
		return fmt.Errorf("want a time span such as 10m, got %q", clip(string(text)))
	}
	*d = Duration(span)
	return nil
}

func clip(text string) string {
	if runes := []rune(text); len(runes) > 60 {
		return string(runes[:60]) + "…"
	}
	return text
}
