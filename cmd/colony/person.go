package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"colony/event"
	"colony/tools"
	"colony/view"
)

// screen is a terminal that shows a run and on which its questions are asked, one at a time. It is safe for concurrent
// use.
type screen struct {
	mu      sync.Mutex // guards what follows
	under   printer
	w       io.Writer
	want    chan<- struct{}
	lines   <-chan string
	reading bool // a line is on its way
	late    bool // a question ended without its answer, which may come yet
}

// newScreen reads answers from in, a line for each question and nothing between, so that an editor may have the
// terminal meanwhile. It reads for as long as the process lives.
func newScreen(show printer, in io.Reader, w io.Writer) *screen {
	want, lines := make(chan struct{}, 1), make(chan string, 1)
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(in)
		for range want {
			if !scanner.Scan() {
				return
			}
			lines <- scanner.Text()
		}
	}()
	return &screen{under: show, w: w, want: want, lines: lines}
}

func (s *screen) show(e event.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.under.show(e)
}

// said is dropped while a question is open.
func (s *screen) said(ant, line string) {
	if !s.mu.TryLock() {
		return
	}
	defer s.mu.Unlock()
	s.under.said(ant, line)
}

func (s *screen) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.under.close()
}

// ask waits for the answer to one question. The end of the input is a no.
func (s *screen) ask(ctx context.Context, q tools.Question) (tools.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.under.close()
	fmt.Fprintf(s.w, "%s\n%s", view.Text(q.Text), view.Line(prompt(q)))
	if s.late {
		s.forget()
	}
	if !s.reading {
		s.want <- struct{}{}
		s.reading = true
	}
	select {
	case text, ok := <-s.lines:
		s.reading = !ok
		if !ok {
			text = "no"
			fmt.Fprintln(s.w)
		}
		return typedAnswer(q, strings.TrimSpace(text)), nil
	case <-ctx.Done():
		s.late = true
		fmt.Fprintln(s.w)
		return tools.Answer{}, ctx.Err()
	}
}

// prompt says what may be typed.
func prompt(q tools.Question) string {
	switch {
	case q.Kind == "permission" && q.Grant != "":
		return "allow? [y/N] (r: for this run) "
	case q.Kind == "permission":
		return "allow? [y/N] "
	case q.Kind == "plan" && len(q.Choices) > 2:
		return "Enter starts, e edits, s saves and ends, n ends > "
	case q.Kind == "plan":
		return "Enter edits again, n ends > "
	case len(q.Choices) > 0:
		return strings.Join(q.Choices, " | ") + " > "
	}
	return "> "
}

// typedAnswer reads a line: y allows, r allows for the whole run where that was offered.
func typedAnswer(q tools.Question, text string) tools.Answer {
	forRun := q.Grant != "" && (strings.EqualFold(text, "r") || text == tools.ForRun)
	return tools.Answer{Text: text, Allow: forRun || yes(text), ForRun: forRun}
}

// forget drops what was typed since a question ended without its answer: it was not meant for the next one.
func (s *screen) forget() {
	s.late = false
	select {
	case _, more := <-s.lines:
		s.reading = !more
	default:
	}
}

// yes reports whether a typed line agrees. Anything but y or yes is a no.
func yes(line string) bool {
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true
	}
	return false
}
