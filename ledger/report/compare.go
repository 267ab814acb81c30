package report

import (
	"fmt"

	"colony/event"
)

// Comparison is two bills side by side.
type Comparison struct {
	By    string   `json:"by"`
	A     Side     `json:"a"`
	B     Side     `json:"b"`
	Rows  []Versus `json:"rows"`
	Total Versus   `json:"total"`
}

// Side is one of the two bills.
type Side struct {
	Name string `json:"name"`
	Table
}

// Versus is one key in both. USD is nil where it is not known; Change is B less A.
type Versus struct {
	Key     string         `json:"key"`
	TokensA int64          `json:"a_tokens"`
	TokensB int64          `json:"b_tokens"`
	A       *event.PicoUSD `json:"a_usd"`
	B       *event.PicoUSD `json:"b_usd"`
	Change  *event.PicoUSD `json:"change_usd"`
}

// Compare puts two bills side by side: the rows of a, then those that only b has.
func Compare(nameA string, a Table, nameB string, b Table) Comparison {
	c := Comparison{By: a.By, A: Side{nameA, a}, B: Side{nameB, b}, Rows: []Versus{}}
	inB := map[string]Row{}
	for _, r := range b.Rows {
		inB[r.Key] = r
	}
	nothing := Row{}
	nothing.Sum = nothing.count.Sum()
	seen := map[string]bool{}
	for _, r := range a.Rows {
		other, ok := inB[r.Key]
		if !ok {
			other = nothing
		}
		seen[r.Key] = true
		c.Rows = append(c.Rows, versus(r.Key, r, other))
	}
	for _, r := range b.Rows {
		if !seen[r.Key] {
			c.Rows = append(c.Rows, versus(r.Key, nothing, r))
		}
	}
	c.Total = versus("total", Row{Sum: a.Total}, Row{Sum: b.Total})
	return c
}

func versus(key string, a, b Row) Versus {
	v := Versus{Key: key, TokensA: a.Usage.Input + a.Usage.Output, TokensB: b.Usage.Input + b.Usage.Output, A: a.USD, B: b.USD}
	if a.USD != nil && b.USD != nil {
		change := *b.USD - *a.USD
		v.Change = &change
	}
	return v
}

// Text is the comparison for people.
func (c Comparison) Text(width int, escape func(string) string) string {
	cs := []column{
		{cells: []string{c.By}, left: true, rank: 9}, {cells: []string{escape(c.A.Name)}, rank: 7}, {cells: []string{escape(c.B.Name)}, rank: 7},
		{cells: []string{"change"}, rank: 8}, {cells: []string{""}, rank: 6}, {cells: []string{"tokens"}, rank: 1}, {cells: []string{"tokens"}, rank: 2},
	}
	for _, v := range append(append([]Versus{}, c.Rows...), c.Total) {
		key := v.Key
		if key == "" {
			key = "-"
		}
		for i, cell := range []string{escape(key), dollars(v.A), dollars(v.B), signed(v.Change), percent(v), fmt.Sprint(v.TokensA), fmt.Sprint(v.TokensB)} {
			cs[i].cells = append(cs[i].cells, cell)
		}
	}
	return layout(cs, width)
}

func dollars(p *event.PicoUSD) string {
	if p == nil {
		return "unknown"
	}
	return "$" + p.Rounded()
}

func signed(p *event.PicoUSD) string {
	switch {
	case p == nil:
		return "unknown"
	case *p < 0:
		return "-$" + (-*p).Rounded()
	}
	return "+$" + p.Rounded()
}

func percent(v Versus) string {
	if v.Change == nil || *v.A == 0 {
		return ""
	}
	return fmt.Sprintf("%+.0f%%", float64(*v.Change)/float64(*v.A)*100)
}
