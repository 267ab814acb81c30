package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"colony/event"
	"colony/ledger"
)

const (
	keyWidth = 12 // the least width that the first column keeps when others are left out
	barWidth = 16
)

// Text is the table for people, in lines of at most width columns, or of any length where width is 0. Every text that
// comes from the log goes through escape first.
func (t Table) Text(width int, escape func(string) string) string {
	if len(t.keys) == 2 {
		if text := t.matrix(width, escape); text != "" {
			return text + t.footer(width, escape)
		}
	}
	return layout(t.columns(escape), width) + t.footer(width, escape)
}

// layout writes columns side by side; the least important ones are left out where they do not fit.
func layout(columns []column, width int) string {
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
		{cells: []string{""}, left: true, rank: 0},
	}
	tools := []column{{cells: []string{"calls"}, rank: 6}, {cells: []string{"results"}, rank: 7}, {cells: []string{"schema"}, rank: 6}, {cells: []string{"re-read"}, rank: 7}}
	byTool := false
	row := func(key, status string, s ledger.Sum, estimated bool, bar string, use *ToolUse) {
		u := s.Usage
		for i, cell := range []string{
			escape(key), escape(status), fmt.Sprint(u.Requests), fmt.Sprint(u.Input), fmt.Sprintf("%.0f%%", 100*share(u)),
			fmt.Sprint(u.Output), cost(s, estimated), bar,
		} {
			cs[i].cells = append(cs[i].cells, cell)
		}
		words := []string{"", "", "", ""}
		if use != nil {
			byTool = true
			words = []string{fmt.Sprint(use.Calls), fmt.Sprint(use.Put), fmt.Sprint(use.Schema), fmt.Sprint(use.Reread)}
		}
		for i, w := range words {
			tools[i].cells = append(tools[i].cells, w)
		}
	}
	estimated := false
	most := t.most()
	for _, r := range t.Rows {
		row(shownKey(r), r.Status, r.Sum, r.Estimated, bar(t.worth(r), most, barWidth), r.Tool)
		estimated = estimated || r.Estimated
	}
	row("total", "", t.Total, estimated, "", nil)
	if byTool {
		return append(append(cs[:1:1], tools...), cs[3:]...)
	}
	return cs
}

// shownKey is a row's key as people read it: a helper stands below the ant that hatched it.
func shownKey(r Row) string {
	switch {
	case r.Key == "":
		return "-"
	case r.Parent != "":
		return "└ " + r.Key
	}
	return r.Key
}

// worth is what bars are drawn by: money where all of it is known and not free, else tokens.
func (t Table) worth(r Row) int64 {
	if t.Total.USD != nil && *t.Total.USD > 0 {
		if r.USD == nil { // not billed, by a model without a price
			return 0
		}
		return int64(*r.USD)
	}
	return r.Usage.Input + r.Usage.Output
}

func (t Table) most() (most int64) {
	for _, r := range t.Rows {
		most = max(most, t.worth(r))
	}
	return most
}

var eighths = []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}

// bar is a part of a whole in a width, to an eighth of a column.
func bar(n, most int64, width int) string {
	if most <= 0 || n <= 0 {
		return ""
	}
	parts := int(float64(n) / float64(most) * float64(width*8))
	return strings.Repeat("█", parts/8) + eighths[parts%8]
}

var heights = []rune("▁▂▃▄▅▆▇█")

// Spark is a line of what was spent over time, at most so wide.
func spark(spots []Spot, width int) string {
	values := make([]int64, 0, len(spots))
	for _, s := range spots {
		values = append(values, s.Usage.Input+s.Usage.Output)
	}
	for len(values) > width && width > 0 {
		half := make([]int64, 0, len(values)/2+1)
		for i := 0; i < len(values); i += 2 {
			sum := values[i]
			if i+1 < len(values) {
				sum += values[i+1]
			}
			half = append(half, sum)
		}
		values = half
	}
	most := int64(1)
	for _, v := range values {
		most = max(most, v)
	}
	var out strings.Builder
	for _, v := range values {
		out.WriteRune(heights[int(float64(v)/float64(most)*float64(len(heights)-1))])
	}
	return out.String()
}

// footer is the course of time, what a landing cost and what was spent for little.
func (t Table) footer(width int, escape func(string) string) string {
	if width == 0 {
		width = 120
	}
	var lines []string
	if len(t.Days) > 1 {
		first, last := t.Days[0].At, t.Days[len(t.Days)-1].At
		lines = append(lines, fmt.Sprintf("tokens  %s %s %s", first, spark(t.Days, max(width-len(first)-len(last)-10, 8)), last))
	}
	if t.PerTask != nil {
		line := fmt.Sprintf("landed  %s of %d", per(*t.PerTask, "task"), t.Landed)
		if t.PerLine != nil {
			line += fmt.Sprintf(", %s of %d", per(*t.PerLine, "line"), t.Lines)
		}
		lines = append(lines, line)
	}
	for _, f := range t.Waste.Findings {
		amount := fmt.Sprintf("%d tokens", f.Tokens)
		switch {
		case f.USD != nil && *f.USD > 0:
			amount = "$" + f.USD.Rounded()
		case f.USD == nil && f.Tokens == 0:
			amount = "an unknown amount"
		}
		lines = append(lines, fmt.Sprintf("waste   %s: %s by %s. %s", strings.ReplaceAll(f.Kind, "_", " "), amount, escape(named(f.Ants)), f.Change))
	}
	if len(lines) == 0 {
		return ""
	}
	var out strings.Builder
	out.WriteString("\n")
	for _, l := range lines {
		wrap(&out, l, width)
	}
	return out.String()
}

func per(p event.PicoUSD, of string) string { return "$" + p.Rounded() + " a " + of }

// mostNamed is how many ants a line names.
const mostNamed = 4

func named(ants []string) string {
	if len(ants) <= mostNamed {
		return strings.Join(ants, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(ants[:mostNamed], ", "), len(ants)-mostNamed)
}

// wrap writes a line in pieces that fit, the later ones below the text of the first.
func wrap(out *strings.Builder, text string, width int) {
	const indent = 8
	line := ""
	for i, word := range strings.SplitAfter(text, " ") {
		if i > 0 && utf8.RuneCountInString(line+strings.TrimRight(word, " ")) > width && strings.TrimSpace(line) != "" {
			out.WriteString(strings.TrimRight(line, " ") + "\n")
			line = strings.Repeat(" ", min(indent, max(width-1, 0)))
		}
		for utf8.RuneCountInString(line+word) > width && utf8.RuneCountInString(word) > max(width-indent, 1) {
			room := max(width-utf8.RuneCountInString(line), 1)
			runes := []rune(word)
			out.WriteString(line + string(runes[:min(room, len(runes))]) + "\n")
			word, line = string(runes[min(room, len(runes)):]), ""
		}
		line += word
	}
	out.WriteString(strings.TrimRight(line, " ") + "\n")
}

// cost is an amount for people: to a millionth of a dollar, with ~ where it is estimated.
func cost(s ledger.Sum, estimated bool) string {
	switch {
	case s.Price == event.Free:
		return "free"
	case s.USD == nil:
		return "unknown"
	}
	sign, n := "", int64(*s.USD)
	if n < 0 {
		sign, n = "-", -n
	}
	micro := (n + 500_000) / 1_000_000
	text := fmt.Sprintf("%s$%d.%06d", sign, micro/1_000_000, micro%1_000_000)
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

// shorten leaves out the middle of what is too long: names differ at their ends.
func (c column) shorten(width int) {
	for i, cell := range c.cells {
		if runes := []rune(cell); len(runes) > width {
			end := min(12, width/3)
			if width < 2*keyWidth {
				end = 0
			}
			c.cells[i] = string(runes[:width-1-end]) + "…" + string(runes[len(runes)-end:])
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
