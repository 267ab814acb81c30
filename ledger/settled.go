package ledger

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// settled is which attempts of an ant have a reply: spans of requests that had one attempt, and the others by name.
type settled struct {
	Spans [][2]int        `json:"spans,omitempty"`
	Odd   map[string]bool `json:"odd,omitempty"`
}

// plain is the number of an ant's request that had one attempt; false for any other.
func plain(ant, request string, number int) (n int, ok bool) {
	digits := strings.TrimPrefix(strings.TrimPrefix(request, ant), ".")
	n, err := strconv.Atoi(digits)
	return n, err == nil && number == 1 && n >= 0 && strconv.Itoa(n) == digits && len(request) == len(ant)+1+len(digits)
}

func odd(request string, number int) string { return fmt.Sprintf("%s/%d", request, number) }

func (s *settled) has(ant, request string, number int) bool {
	n, ok := plain(ant, request, number)
	if !ok {
		return s.Odd[odd(request, number)]
	}
	return slices.ContainsFunc(s.Spans, func(span [2]int) bool { return n >= span[0] && n <= span[1] })
}

// add takes an attempt in, and is false where it is in already.
func (s *settled) add(ant, request string, number int) bool {
	n, ok := plain(ant, request, number)
	if !ok {
		key := odd(request, number)
		if s.Odd[key] {
			return false
		}
		if s.Odd == nil {
			s.Odd = map[string]bool{}
		}
		s.Odd[key] = true
		return true
	}
	for i := len(s.Spans) - 1; i >= 0; i-- {
		switch span := &s.Spans[i]; {
		case n >= span[0] && n <= span[1]:
			return false
		case n == span[1]+1:
			span[1] = n
			return true
		}
	}
	s.Spans = append(s.Spans, [2]int{n, n})
	return true
}
