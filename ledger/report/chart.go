package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"colony/event"
)

// chartHeight is how many lines the course of time has.
const chartHeight = 8

// Chart is the bill as bars, each of its kinds of tokens, and as columns over time, in at most width columns.
func (t Table) Chart(width int, escape func(string) string) string {
	var out strings.Builder
	var most int64
	name, amounts := 0, 0
	for _, r := range t.Rows {
		most = max(most, r.Usage.Input+r.Usage.Output)
		name = max(name, utf8.RuneCountInString(escape(shownKey(r))))
		amounts = max(amounts, utf8.RuneCountInString(cost(r.Sum, r.Estimated)))
	}
	name = min(name, max(width/3, 4))
	room := max(width-name-amounts-4, 1)
	for _, r := range t.Rows {
		c := column{cells: []string{escape(shownKey(r))}, left: true}
		c.shorten(name)
		key := c.cells[0] + strings.Repeat(" ", name-utf8.RuneCountInString(c.cells[0]))
		line := fmt.Sprintf("%s  %*s  %s", key, amounts, cost(r.Sum, r.Estimated), kinds(r.Usage, most, room))
		out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	line := fmt.Sprintf("%-*s  %*s  ", name, "", amounts, "")
	for _, word := range []string{"█ output", "▓ cache write", "▒ input", "░ cached"} {
		if utf8.RuneCountInString(line+word) <= width {
			line += word + "  "
		}
	}
	out.WriteString(strings.TrimRight(line, " ") + "\n")
	if len(t.Days) > 1 {
		out.WriteString("\n" + course(t.Days, width))
	}
	return out.String()
}

// kinds is a bar of a usage: what was said, what was written to the cache, what was new and what the cache had.
func kinds(u event.Usage, most int64, width int) string {
	if most <= 0 {
		return ""
	}
	var out strings.Builder
	done, sum := 0, int64(0)
	for _, k := range []struct {
		n    int64
		mark string
	}{{u.Output, "█"}, {u.CacheWrite, "▓"}, {u.Input - u.Cached - u.CacheWrite, "▒"}, {u.Cached, "░"}} {
		sum += k.n
		upto := int(float64(sum) / float64(most) * float64(width))
		out.WriteString(strings.Repeat(k.mark, max(upto-done, 0)))
		done = max(done, upto)
	}
	return out.String()
}

// course is columns of tokens over time.
func course(spots []Spot, width int) string {
	line := []rune(spark(spots, max(width-2, 8)))
	var out strings.Builder
	for row := chartHeight - 1; row >= 0; row-- {
		text := "│ "
		for _, c := range line {
			if level := strings.IndexRune(string(heights), c) / len("▁"); level >= row {
				text += "█"
			} else {
				text += " "
			}
		}
		out.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	first, last := spots[0].At, spots[len(spots)-1].At
	out.WriteString("└ " + first + strings.Repeat(" ", max(len(line)-len(first)-len(last), 1)) + last + "\n")
	return out.String()
}
