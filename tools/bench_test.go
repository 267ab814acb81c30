package tools_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"colony/tools"
	"colony/tools/toolstest"
)

// BenchmarkSearch is one search among 5,000 deferred tools of an ant.
func BenchmarkSearch(b *testing.B) {
	r, err := tools.NewRegistry(b.Output()).Child([]string{"mcp__*"}, nil)
	if err != nil {
		b.Fatal(err)
	}
	kinds := []string{"issue", "branch", "deployment", "database", "bucket", "invoice", "ticket"}
	for i := range 5000 {
		s := tools.Spec{Name: fmt.Sprintf("mcp__many__tool_%04d", i), Description: fmt.Sprintf("Does the thing number %d to the %s of a %s.", i, kinds[i%7], kinds[i/7%7]),
			Params: json.RawMessage(`{"type":"object","properties":{"target":{"type":"string","description":"what to do it to"},"level":{"type":"integer","description":"how much of it"}}}`)}
		if err := r.RegisterDeferred("many", toolstest.Fake{Is: s}); err != nil {
			b.Fatal(err)
		}
	}
	r.Freeze()
	env := &tools.Env{Tools: r}
	args := json.RawMessage(`{"query":"do the thing number 370 to an invoice of a bucket"}`)
	for b.Loop() {
		if res, err := tools.SearchTool().Run(b.Context(), env, args); err != nil || res.Fault != "" {
			b.Fatal(err, res.Text)
		}
	}
}
