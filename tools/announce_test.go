package tools_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"colony/tools"
	"colony/tools/toolstest"
)

// What waits is announced within its bound, however many sources there are, and none is forgotten.
func TestAnnounceKeepsItsBound(t *testing.T) {
	r := tools.NewRegistry(io.Discard)
	for i := range 40 {
		for j := range 1 + i%3 {
			must(t, r.RegisterDeferred(fmt.Sprintf("source %d", i), fake(fmt.Sprintf("mcp__s%d__t%d", i, j))))
		}
	}
	for most := 20; most < 4000; most++ {
		said := r.Announce(most)
		if len(said) > most || said == "" {
			t.Fatalf("%d bytes of %d: %s", len(said), most, said)
		}
		if most < 500 && !strings.Contains(said, "more") {
			t.Fatalf("some are forgotten: %s", said)
		}
	}
	if all := r.Announce(4000); strings.Contains(all, "more") || !strings.Contains(all, "mcp__s39__t0") {
		t.Error(all)
	}
}

// One query opens a bounded number of tools, also where it names them.
func TestSelectIsBounded(t *testing.T) {
	r := tools.NewRegistry(io.Discard)
	var names []string
	for i := range 30 {
		names = append(names, fmt.Sprintf("mcp__s__t%d", i))
		must(t, r.RegisterDeferred("s", fake(names[i])))
	}
	env := toolstest.NewEnv(t)
	env.Tools = r
	res := runTool(t, env, tools.SearchTool(), `{"query":"select:`+strings.Join(names, ",")+`"}`)
	if len(res.Loaded) != 20 || !strings.Contains(res.Text, "mcp__s__t29 was not loaded: at most 20 are at once") {
		t.Errorf("%d loaded: %s", len(res.Loaded), res.Text)
	}
}
