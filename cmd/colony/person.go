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
	mu    sync.Mutex // guards what follows
	under printer
	w     io.Writer
	lines <-chan string
	late  bool // a question ended without its answer, which may come yet
}

// newScreen reads answers from in, line by line, for as long as the process lives.
func newScreen(show printer, in io.Reader, w io.Writer) *screen {
	lines := make(chan string, typedAhead)
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(in)
		for scanner.Scan() {
			lines <- scanner.Text()
		}
	}()
	return &screen{under: show, w: w, lines: lines}
}

func (s *screen) show(e event.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.under.show(e)
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
	prompt := "> "
	if q.Kind == "permission" {
		prompt = "allow? [y/N] "
	} else if len(q.Choices) > 0 {
		prompt = strings.Join(q.Choices, " | ") + " > "
	}
	if s.late {
		s.forget()
	}
	fmt.Fprintf(s.w, "%s\n%s", view.Text(q.Text), view.Line(prompt))
	select {
	case text := <-s.lines:
		return tools.Answer{Text: strings.TrimSpace(text), Allow: yes(text)}, nil
	case <-ctx.Done():
		s.late = true
		fmt.Fprintln(s.w)
		return tools.Answer{}, ctx.Err()
	}
}

// typedAhead is how many lines may be typed while no question stands.
const typedAhead = 256

// forget drops what was typed since a question ended without its answer: it was not meant for the next one.
func (s *screen) forget() {
	s.late = false
	for {
		select {
		case _, more := <-s.lines:
			if !more {
				return
			}
		default:
			return
		}
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
