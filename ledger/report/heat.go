package report

import (
	"fmt"
	"hash/fnv"

	"colony/event"
)

// HeatLine is a line of a file as a heat map shows it. USD is nil where it is not known.
type HeatLine struct {
	Line           int // from 1
	Text, Who, Ant string
	USD            *event.PicoUSD
}

// Heat is a file as a page: each line as warm as it cost, with a mark in the colour of its ant.
func Heat(name string, lines []HeatLine, escape func(string) string) string {
	p := &page{escape: escape}
	p.open(name)
	p.f("<h1>%s</h1>\n<div class=\"wide\"><table class=\"heat\"><tbody>\n", p.say(name))
	most := event.PicoUSD(1)
	for _, l := range lines {
		if l.USD != nil {
			most = max(most, *l.USD)
		}
	}
	for _, l := range lines {
		heat, colour := 0, "transparent"
		if l.USD != nil {
			heat = int(float64(*l.USD) / float64(most) * 60)
		}
		if l.Ant != "" {
			sum := fnv.New32a()
			sum.Write([]byte(l.Ant))
			colour = fmt.Sprintf("hsl(%d 55%% 50%%)", sum.Sum32()%360)
		}
		p.f("<tr title=\"%s\"><th>%d</th><td style=\"border-left:4px solid %s\">%s</td><td><code style=\"background:color-mix(in srgb,var(--output) %d%%,transparent)\">%s</code></td></tr>\n",
			p.say(l.Who), l.Line, colour, p.say(l.Who), heat, p.say(l.Text))
	}
	p.WriteString("</tbody></table></div></main></body></html>\n")
	return p.String()
}
