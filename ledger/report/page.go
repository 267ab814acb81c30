package report

import (
	_ "embed"
	"fmt"
	"html"
	"slices"
	"strings"
	"time"

	"colony/event"
	"colony/ledger"
)

//go:embed page.css
var pageStyle string

// mostDrawn is how many bars a chart has at most; the table below has all.
const mostDrawn = 60

// page is an HTML page that is being written. Every text goes through say.
type page struct {
	strings.Builder
	escape func(string) string
}

// say is a text from anywhere as HTML that means nothing but itself.
func (p *page) say(text string) string { return html.EscapeString(p.escape(text)) }

func (p *page) f(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// Page is the bill as one HTML page: charts and tables, no script, nothing from elsewhere. Every text that comes from the
// log goes through escape and is quoted.
func Page(b *ledger.Bill, o Options, escape func(string) string) (string, error) {
	t, err := Make(b, o)
	if err != nil {
		return "", err
	}
	byAnt, err := Make(b, Options{By: []string{"ant"}, Since: o.Since, Until: o.Until})
	if err != nil {
		return "", err
	}
	byTool, err := Make(b, Options{By: []string{"tool"}, Since: o.Since, Until: o.Until})
	if err != nil {
		return "", err
	}
	p := &page{escape: escape}
	p.open(title(t))
	p.head(t, byAnt)
	p.bars("Cost by ant", byAnt)
	p.over(t.Days)
	p.cached(byAnt)
	p.gantt(newSource(b, o))
	p.waste(t.Waste)
	if len(o.By) != 1 || o.By[0] != "ant" {
		p.table(t)
	}
	p.table(byAnt)
	p.table(byTool)
	p.WriteString("</main></body></html>\n")
	return p.String(), nil
}

// open writes what stands before the first word.
func (p *page) open(title string) {
	p.f(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer"><title>%s</title><style>%s</style></head><body><main>
`, p.say(title), pageStyle)
}

func title(t Table) string {
	switch {
	case t.Run != "":
		return "Bill of " + t.Run
	case t.Since != "" || t.Until != "":
		return fmt.Sprintf("Bill %s to %s", t.Since, t.Until)
	}
	return "Bill"
}

// head is the figures that matter first.
func (p *page) head(t, byAnt Table) {
	p.f("<h1>%s</h1>\n<dl class=\"figures\">", p.say(title(t)))
	figure := func(name, value string) { p.f("<div><dt>%s</dt><dd>%s</dd></div>", p.say(name), p.say(value)) }
	figure("cost", cost(t.Total, slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Estimated })))
	figure("requests", group3(t.Total.Usage.Requests))
	figure("input tokens", group3(t.Total.Usage.Input))
	figure("of these cached", fmt.Sprintf("%.0f%%", 100*share(t.Total.Usage)))
	figure("output tokens", group3(t.Total.Usage.Output))
	figure("ants", fmt.Sprint(len(byAnt.Rows)))
	if t.PerTask != nil {
		figure("a landed task", "$"+t.PerTask.Rounded())
	}
	if t.PerLine != nil {
		figure("a landed line", "$"+t.PerLine.Rounded())
	}
	p.WriteString("</dl>\n")
}

// group3 is a number with a thin space between each three digits.
func group3(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + " " + text[i:]
	}
	return text
}

const (
	chartWide = 900
	nameWide  = 220
	lineHigh  = 22
)

func (p *page) figure(name, note string, high int, draw func()) {
	p.f("<section><h2>%s</h2>", p.say(name))
	if note != "" {
		p.f("<p>%s</p>", p.say(note))
	}
	p.f("<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">", chartWide, high, p.say(name))
	draw()
	p.WriteString("</svg></section>\n")
}

// label is the name before a bar, and an amount after it.
func (p *page) label(name, amount string, y int) {
	if runes := []rune(name); len(runes) > 30 {
		name = string(runes[:29]) + "…"
	}
	p.f("<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>", nameWide-8, y+15, p.say(name))
	p.f("<text x=\"%d\" y=\"%d\" text-anchor=\"end\" class=\"amount\">%s</text>", chartWide, y+15, p.say(amount))
}

func (p *page) rect(class string, x, y, w, h float64, about string) {
	p.f("<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>%s</title></rect>", class, x, y, max(w, 0), max(h, 0), p.say(about))
}

const barRoom = chartWide - nameWide - 110

// bars are what each row cost, the most first.
func (p *page) bars(name string, t Table) {
	rows := slices.Clone(t.Rows)
	slices.SortStableFunc(rows, func(a, b Row) int { return int(min(max(t.worth(b)-t.worth(a), -1), 1)) })
	note := ""
	if len(rows) > mostDrawn {
		note = fmt.Sprintf("The %d that cost most, of %d.", mostDrawn, len(rows))
		rows = rows[:mostDrawn]
	}
	most := max(t.most(), 1)
	p.figure(name, note, len(rows)*lineHigh+4, func() {
		for i, r := range rows {
			y := i * lineHigh
			amount := cost(r.Sum, r.Estimated)
			p.label(shownKey(Row{Key: r.Key}), amount, y)
			p.rect("cost", nameWide, float64(y+4), float64(t.worth(r))/float64(most)*barRoom, lineHigh-8, fmt.Sprintf("%s: %s, %s tokens", r.Key, amount, group3(r.Usage.Input+r.Usage.Output)))
		}
	})
}

// over is the tokens by kind over time.
func (p *page) over(spots []Spot) {
	const high = 220
	var most int64 = 1
	for _, s := range spots {
		most = max(most, s.Usage.Input+s.Usage.Output)
	}
	p.figure("Tokens over time", "", high+44, func() {
		wide := float64(chartWide-60) / float64(max(len(spots), 1))
		for i, s := range spots {
			y := float64(high)
			for _, k := range kindsOf(s.Usage) {
				h := float64(k.n) / float64(most) * (high - 10)
				y -= h
				p.rect(k.class, 60+float64(i)*wide, y, max(wide-1, 0.5), h, fmt.Sprintf("%s %s: %s", s.At, k.name, group3(k.n)))
			}
		}
		p.f("<text x=\"54\" y=\"14\" text-anchor=\"end\">%s</text><text x=\"54\" y=\"%d\" text-anchor=\"end\">0</text>", p.say(short(most)), high)
		p.f("<line class=\"axis\" x1=\"60\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>", chartWide, high, high)
		if len(spots) > 0 {
			p.f("<text x=\"60\" y=\"%d\">%s</text><text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>", high+16, p.say(spots[0].At), chartWide, high+16, p.say(spots[len(spots)-1].At))
		}
		x := 60
		for _, k := range kindsOf(event.Usage{}) {
			p.rect(k.class, float64(x), high+26, 12, 12, k.name)
			p.f("<text x=\"%d\" y=\"%d\">%s</text>", x+18, high+37, p.say(k.name))
			x += 130
		}
	})
}

func short(n int64) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 1000:
		return fmt.Sprintf("%.0fk", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}

type kind struct {
	class, name string
	n           int64
}

// kindsOf are the kinds of tokens of a usage, which add up to it.
func kindsOf(u event.Usage) []kind {
	return []kind{
		{"k-cached", "cached", u.Cached}, {"k-input", "input", u.Input - u.Cached - u.CacheWrite}, {"k-write", "cache write", u.CacheWrite},
		{"k-output", "output", u.Output - u.Reasoning}, {"k-thought", "reasoning", u.Reasoning},
	}
}

// cached is the part of each ant's input that the cache served.
func (p *page) cached(t Table) {
	rows := t.Rows[:min(len(t.Rows), mostDrawn)]
	p.figure("Cached share of the input", "", len(rows)*lineHigh+4, func() {
		for i, r := range rows {
			y := i * lineHigh
			percent := fmt.Sprintf("%.0f%%", 100*share(r.Usage))
			p.label(shownKey(Row{Key: r.Key}), percent, y)
			p.rect("rest", nameWide, float64(y+4), barRoom, lineHigh-8, r.Key)
			p.rect("k-cached", nameWide, float64(y+4), share(r.Usage)*barRoom, lineHigh-8, r.Key+": "+percent)
		}
	})
}

// gantt is when each ant was at work.
func (p *page) gantt(s *source) {
	type life struct {
		name, status string
		from, to     time.Time
	}
	var lives []life
	var first, last time.Time
	for _, l := range s.lines {
		if l.ant == nil || l.ant.Began.IsZero() || slices.ContainsFunc(lives, func(o life) bool { return o.name == s.inRun(l.run, l.ant.ID) }) || len(lives) >= mostDrawn {
			continue
		}
		one := life{s.inRun(l.run, l.ant.ID), l.status(), l.ant.Began, l.ant.Ended}
		if one.to.IsZero() {
			one.to = l.run.Last
		}
		lives = append(lives, one)
		if first.IsZero() || one.from.Before(first) {
			first = one.from
		}
		if one.to.After(last) {
			last = one.to
		}
	}
	span := max(last.Sub(first), time.Millisecond)
	p.figure("Ants at work", "", len(lives)*lineHigh+26, func() {
		for i, l := range lives {
			y := i * lineHigh
			took := l.to.Sub(l.from).Round(100 * time.Millisecond)
			p.label(l.name, took.String(), y)
			class := "s-other"
			if slices.Contains([]string{"landed", "no_change"}, l.status) {
				class = "s-landed"
			} else if slices.Contains([]string{"failed", "blocked", "cancelled"}, l.status) {
				class = "s-failed"
			}
			p.rect(class, nameWide+float64(l.from.Sub(first))/float64(span)*barRoom, float64(y+4), max(float64(l.to.Sub(l.from))/float64(span)*barRoom, 1), lineHigh-8, fmt.Sprintf("%s: %s, %s", l.name, l.status, took))
		}
		y := len(lives)*lineHigh + 18
		p.f("<text x=\"%d\" y=\"%d\">%s</text><text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>", nameWide, y, p.say(first.UTC().Format("2006-01-02 15:04:05")), nameWide+barRoom, y, p.say(last.UTC().Format("15:04:05")))
	})
}

// waste is what was spent for little, and what to change.
func (p *page) waste(w Waste) {
	rows := []kind{{"waste", "start-up", w.Startup}, {"waste", "cache misses", w.Missed}, {"waste", "repeated reads", w.Repeated}}
	for _, f := range w.Findings {
		if f.Kind == "unlanded" || f.Kind == "no_action" {
			rows = append(rows, kind{"waste", strings.ReplaceAll(f.Kind, "_", " "), f.Tokens})
		}
	}
	var most int64 = 1
	for _, r := range rows {
		most = max(most, r.n)
	}
	p.figure("Waste, in tokens", "", len(rows)*lineHigh+4, func() {
		for i, r := range rows {
			p.label(r.name, group3(r.n), i*lineHigh)
			p.rect("waste", nameWide, float64(i*lineHigh+4), float64(r.n)/float64(most)*barRoom, lineHigh-8, r.name+": "+group3(r.n))
		}
	})
	if len(w.Findings) == 0 {
		return
	}
	p.WriteString("<section><ul>")
	for _, f := range w.Findings {
		p.f("<li><b>%s</b> (%s): %s</li>", p.say(strings.ReplaceAll(f.Kind, "_", " ")), p.say(named(f.Ants)), p.say(f.Change))
	}
	p.WriteString("</ul></section>\n")
}

// table is all rows with all figures.
func (p *page) table(t Table) {
	p.f("<section><h2>By %s</h2><div class=\"wide\"><table><thead><tr>", p.say(strings.Join(t.keys, " and ")))
	heads := []string{t.By, "status", "requests", "input", "cached", "cache write", "output", "reasoning", "cost"}
	tools := slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Tool != nil })
	if tools {
		heads = append(heads, "calls", "results", "schema", "re-read")
	}
	for _, h := range heads {
		p.f("<th>%s</th>", p.say(h))
	}
	p.WriteString("</tr></thead><tbody>\n")
	row := func(key, status string, s ledger.Sum, estimated bool, use *ToolUse) {
		usd := string(s.Price)
		if s.USD != nil {
			usd = s.USD.String()
		}
		p.f("<tr data-usd=\"%s\"><th>%s</th><td>%s</td>", p.say(usd), p.say(key), p.say(status))
		u := s.Usage
		for _, n := range []int64{u.Requests, u.Input, u.Cached, u.CacheWrite, u.Output, u.Reasoning} {
			p.f("<td>%d</td>", n)
		}
		p.f("<td>%s</td>", p.say(cost(s, estimated)))
		if tools {
			if use == nil {
				use = &ToolUse{}
			}
			p.f("<td>%d</td><td>%d</td><td>%d</td><td>%d</td>", use.Calls, use.Put, use.Schema, use.Reread)
		}
		p.WriteString("</tr>\n")
	}
	estimated := false
	for _, r := range t.Rows {
		row(shownKey(r), r.Status, r.Sum, r.Estimated, r.Tool)
		estimated = estimated || r.Estimated
	}
	p.WriteString("</tbody><tfoot>")
	row("total", "", t.Total, estimated, nil)
	p.WriteString("</tfoot></table></div></section>\n")
}
