package main

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"colony/tools"
)

// A late answer does not answer the next question, which nobody has read.
func TestLateAnswerIsDropped(t *testing.T) {
	in, typed := io.Pipe()
	s := newScreen(noPrinter{}, in, io.Discard)
	question := tools.Question{Kind: "permission", Text: "rm?"}
	soon := func() context.Context {
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
		t.Cleanup(stop)
		return ctx
	}
	if _, err := s.ask(soon(), question); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	if _, err := io.WriteString(typed, "y\n"); err != nil {
		t.Fatal(err)
	}
	for range 5000 {
		if len(s.lines) == 1 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if a, err := s.ask(soon(), question); !errors.Is(err, context.DeadlineExceeded) || a.Allow {
		t.Errorf("%+v, %v", a, err)
	}
	typed.Close()
	if a, err := s.ask(t.Context(), question); err != nil || a.Allow {
		t.Errorf("the end of the input: %+v, %v", a, err)
	}
}
