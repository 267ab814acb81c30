package ledger

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"colony/event"
)

// keyWidth is the least width that the first column keeps when others are left out.
const keyWidth = 12

// Text is the table for people, in lines of at most width columns, or of any length where width is 0. Every
// text that comes from the log goes through escape first.
func (t Table) Text(width int, escape func(string) string) string {
	columns := t.columns(escape)
	for width > 0 && len(columns) > 2 && lineWidth(columns)-columns[0].width()+keyWidth > width {
		columns = dropLeast(columns)
	}
	if over := lineWidth(columns) - width; width > 0 && over > 0 {
		columns[0].shorten(max(columns[0].width()-over, 1))
	}
	var out strings.Builder
	for i := range columns[0].cells {
		var line strings.Builder
		for j, c := range columns {
			if j > 0 {
				line.WriteString("  ")
			}
			line.WriteString(c.pad(i))
		}
		out.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return out.String()
}

// column is one column with its head first. The one with the lowest rank is left out first.
type column struct {
	cells []string
	left  bool
	rank  int
}

func (t Table) columns(escape func(string) string) []column {
	cs := []column{
		{cells: []string{t.By}, left: true, rank: 9}, {cells: []string{"status"}, left: true, rank: 3},
		{cells: []string{"requests"}, rank: 2}, {cells: []string{"input"}, rank: 5},
		{cells: []string{"cached"}, rank: 1}, {cells: []string{"output"}, rank: 4}, {cells: []string{"cost"}, rank: 8},
	}
	row := func(key, status string, s Sum, estimated bool) {
		u := s.Usage
		for i, cell := range []string{
			escape(key), escape(status), fmt.Sprint(u.Requests), fmt.Sprint(u.Input), fmt.Sprintf("%.0f%%", 100*share(u)),
			fmt.Sprint(u.Output), cost(s, estimated),
		} {
			cs[i].cells = append(cs[i].cells, cell)
		}
	}
	estimated := false
	for _, r := range t.Rows {
		key := r.Key
		if key == "" {
			key = "-"
		}
		row(key, r.Status, r.Sum, r.Estimated)
		estimated = estimated || r.Estimated
	}
	row("total", "", t.Total, estimated)
	return cs
}

// cost is an amount for people: to a millionth of a dollar, with ~ where it is estimated.
func cost(s Sum, estimated bool) string {
	switch {
	case s.Price == event.Free:
		return "free"
	case s.USD == nil:
		return "unknown"
	}
	micro := (int64(*s.USD) + 500_000) / 1_000_000
	text := fmt.Sprintf("$%d.%06d", micro/1_000_000, micro%1_000_000)
	if estimated {
		return "~" + text
	}
	return text
}

func dropLeast(cs []column) []column {
	least := 0
	for i, c := range cs {
		if c.rank < cs[least].rank {
			least = i
		}
	}
	return append(cs[:least:least], cs[least+1:]...)
}

func (c column) width() (w int) {
	for _, cell := range c.cells {
		w = max(w, utf8.RuneCountInString(cell))
	}
	return w
}

func (c column) shorten(width int) {
	for i, cell := range c.cells {
		if utf8.RuneCountInString(cell) > width {
			c.cells[i] = string([]rune(cell)[:width-1]) + "…"
		}
	}
}

func (c column) pad(row int) string {
	cell := c.cells[row]
	blank := strings.Repeat(" ", c.width()-utf8.RuneCountInString(cell))
	if c.left {
		return cell + blank
	}
	return blank + cell
}

func lineWidth(cs []column) int {
	n := 2 * (len(cs) - 1)
	for _, c := range cs {
		n += c.width()
	}
	return n
}
