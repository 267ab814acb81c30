package scheduler_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"colony/tools"
	"colony/tools/toolstest"
)

// Batches as data: contracts 24 and 25, cases SD02, SD03 and SD04.
func TestGivenBatches(t *testing.T) {
	var cases []struct {
		Name        string
		Width       int
		Calls, Want []string
		Alone       []int
		Cancel      struct{ Done, Hanging int }
	}
	data, err := os.ReadFile("testdata/batches.json")
	if err == nil {
		err = json.Unmarshal(data, &cases)
	}
	if err != nil || len(cases) == 0 {
		t.Fatal(len(cases), err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			g := &given{t: t, alone: map[int]bool{}}
			for _, i := range c.Alone {
				g.alone[i] = true
			}
			if n := c.Cancel.Done + c.Cancel.Hanging; n > 0 {
				g.reached.Add(n)
				go func() { g.reached.Wait(); cancel() }()
			} else {
				g.free = true
			}
			var calls []tools.Prepared
			for i, kind := range times(t, c.Calls) {
				calls = append(calls, g.call(i, kind))
			}
			results := run(t, ctx, c.Width, calls...)
			for i, want := range times(t, c.Want) {
				if got := came(results[i], i); got != want {
					t.Errorf("call %d came to %s, want %s: %+v", i, got, want, results[i])
				}
			}
		})
	}
}

// times spells "ok*3" out.
func times(t *testing.T, words []string) (out []string) {
	for _, w := range words {
		word, many, ok := strings.Cut(w, "*")
		n := 1
		if ok {
			var err error
			if n, err = strconv.Atoi(many); err != nil {
				t.Fatal(err)
			}
		}
		for range n {
			out = append(out, word)
		}
	}
	return out
}

func came(r tools.Result, i int) string {
	switch {
	case r.Fault == "" && r.Text == fmt.Sprint("real ", i):
		return "real"
	case r.Fault == tools.Cancelled && strings.Contains(r.Text, "not started"):
		return "unstarted"
	}
	return string(r.Fault)
}

// given is what the calls of a case share.
type given struct {
	t       *testing.T
	alone   map[int]bool
	running atomic.Int64
	reached sync.WaitGroup // until the batch is cancelled
	free    bool           // it never is
	flips   atomic.Int64
}

func (g *given) call(i int, kind string) tools.Prepared {
	do := func(ctx context.Context, _ *tools.Env, _ json.RawMessage) (tools.Result, error) {
		if n := g.running.Add(1); g.alone[i] && n > 1 {
			g.t.Errorf("call %d runs beside %d others", i, n-1)
		}
		defer g.running.Add(-1)
		switch kind {
		case "fail":
			return tools.Refuse(tools.Missing, "no file"), nil
		case "panic":
			panic("boom")
		case "hang", "alone-hang":
			g.reached.Done()
			<-ctx.Done()
			return tools.Result{}, ctx.Err()
		}
		if !g.free {
			defer g.reached.Done()
		}
		return tools.Result{Text: fmt.Sprint("real ", i)}, nil
	}
	tool := toolstest.Fake{Is: tools.Spec{Name: kind}, Do: do, Safe: func(json.RawMessage) bool {
		if kind == "panics-classifying" {
			panic("classifier")
		}
		return kind != "flips" && !strings.HasPrefix(kind, "alone") || kind == "flips" && g.flips.Add(1)%2 == 1
	}}
	return prepared(i, tool)
}
