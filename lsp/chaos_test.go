package lsp_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"colony/lsp"
	"colony/lsp/lsptest"
	"colony/view"
)

// Whatever a server does, no edit is later than its bound, every edit happens, and what is told as fresh is true of the text as
// it is. COLONY_CHAOS_EDITS says how many edits.
func TestChaos(t *testing.T) {
	edits := 75
	if n, err := strconv.Atoi(os.Getenv("COLONY_CHAOS_EDITS")); err == nil {
		edits = n
	}
	const bound, each = 400 * time.Millisecond, 25
	fresh, late := 0, 0
	for seed := 0; seed*each < edits; seed++ {
		known := fake(t, lsptest.Chaos+fmt.Sprint(seed))
		servers := newServers(t, lsp.Parts{Known: []lsp.Server{known}, Wait: bound})
		w := newWorld(t, servers, map[string]string{"a.x": "0\n"})
		text := "0\n"
		for i := range each {
			next := strings.Repeat("bad\n", (i*7+seed)%4) + fmt.Sprintf("%d\n", i+1)
			begun := time.Now()
			r := w.write("a.x", next)
			if took := time.Since(begun); took > bound+2*time.Second {
				t.Errorf("seed %d, edit %d took %s", seed, i, took)
			}
			if !strings.HasPrefix(r.Text, "replaced a.x") || w.text("a.x") != next {
				t.Fatalf("seed %d, edit %d: %q", seed, i, r.Text)
			}
			for _, v := range r.Views {
				if p, ok := v.(view.Problems); ok && p.Fresh {
					if want := strings.Count(next, "bad"); len(p.Items) != want {
						t.Errorf("seed %d, edit %d from %q to %q: %d problems are told as fresh: %s", seed, i, text, next, len(p.Items), r.Text)
					}
					fresh++
				} else if ok {
					late++
				}
			}
			text = next
		}
		servers.Close()
	}
	t.Logf("%d edits: %d told fresh, %d told not fresh", edits, fresh, late)
	if fresh == 0 {
		t.Errorf("none of %d was told fresh", edits)
	}
}
