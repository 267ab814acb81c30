package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"colony/event"
	"colony/view"
)

const repaintEvery = 100 * time.Millisecond

// livePrinter keeps one line an ant that is at work and one of totals at the bottom of a terminal, with the lines
// of what happened above them.
type livePrinter struct {
	mu      sync.Mutex // guards what follows
	w       io.Writer
	width   func() int
	lines   linePrinter
	state   *progress
	drawn   int
	painted time.Time
}

func (p *livePrinter) show(e event.Event) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state.apply(e)
	text := line(e, p.lines.verbose)
	if text == "" && time.Since(p.painted) < repaintEvery {
		return nil
	}
	p.erase()
	if text != "" {
		fmt.Fprintln(p.w, p.lines.palette.paint(tone(e), text))
	}
	p.paint()
	return nil
}

// said puts the line in the ant's row until its next event.
func (p *livePrinter) said(ant, line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a := p.state.ants[ant]; a == nil {
		return
	} else {
		a.Last = "| " + line
	}
	if time.Since(p.painted) >= repaintEvery {
		p.erase()
		p.paint()
	}
}

func (p *livePrinter) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
}

func (p *livePrinter) erase() {
	if p.drawn > 0 {
		fmt.Fprintf(p.w, "\x1b[%dA\x1b[J", p.drawn)
	}
	p.drawn = 0
}

func (p *livePrinter) paint() {
	var rows []string
	landed := 0
	for _, t := range p.state.Tasks {
		if t.Status == "landed" || t.Status == "no_change" {
			landed++
		}
	}
	for _, a := range p.state.Ants {
		if a.State == "running" {
			rows = append(rows, fmt.Sprintf("  %-12s %-14s %8d tokens  %9s  %s", a.ID, a.Task, a.Usage.Input+a.Usage.Output, money(a.USD, a.Price), a.Last))
		}
	}
	rows = append(rows, fmt.Sprintf("  %d of %d tasks landed, %d tokens, %s", landed, len(p.state.Tasks), p.state.Usage.Input+p.state.Usage.Output, money(p.state.USD, p.state.Price)))
	for _, r := range rows {
		fmt.Fprintln(p.w, clip(view.Line(r), p.width()))
	}
	p.drawn, p.painted = len(rows), time.Now()
}

// clip cuts a line to a number of runes.
func clip(s string, width int) string {
	r := []rune(s)
	if width < 2 || len(r) < width {
		return s
	}
	return strings.TrimRight(string(r[:width-2]), " ") + "…"
}
