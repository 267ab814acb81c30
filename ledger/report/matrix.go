package report

import (
	"fmt"
	"slices"

	"colony/ledger"
)

// matrix is a bill by two keys as rows and columns; empty where the columns do not fit.
func (t Table) matrix(width int, escape func(string) string) string {
	var down, across []string
	cells := map[[2]string]Row{}
	for _, r := range t.Rows {
		if !slices.Contains(down, r.Keys[0]) {
			down = append(down, r.Keys[0])
		}
		if !slices.Contains(across, r.Keys[1]) {
			across = append(across, r.Keys[1])
		}
		cells[[2]string{r.Keys[0], r.Keys[1]}] = r
	}
	columns := []column{{cells: []string{t.keys[0]}, left: true}}
	columns[0].cells = append(columns[0].cells, dashed(down, escape)...)
	columns[0].cells = append(columns[0].cells, "total")
	for _, a := range append(across, "") {
		whole := len(columns) == len(across)+1
		c := column{cells: []string{dashed([]string{a}, escape)[0]}}
		if whole {
			c.cells[0] = "total"
		}
		var sum ledger.Count
		for _, d := range down {
			var n ledger.Count
			for _, other := range across {
				if r, ok := cells[[2]string{d, other}]; ok && (whole || other == a) {
					n.Add(r.count)
				}
			}
			sum.Add(n)
			c.cells = append(c.cells, cellOf(n))
		}
		c.cells = append(c.cells, cellOf(sum))
		columns = append(columns, c)
	}
	if width > 0 && lineWidth(columns)-columns[0].width()+min(columns[0].width(), keyWidth) > width {
		return ""
	}
	return layout(columns, width)
}

// cellOf is an amount, or tokens where there is none.
func cellOf(n ledger.Count) string {
	s := n.Sum()
	switch {
	case n.Attempts == 0:
		return "."
	case s.USD == nil || *s.USD == 0:
		return fmt.Sprintf("%d tokens", s.Usage.Input+s.Usage.Output)
	}
	return cost(s, n.Estimated > 0)
}

func dashed(names []string, escape func(string) string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		if out[i] = escape(n); n == "" {
			out[i] = "-"
		}
	}
	return out
}
