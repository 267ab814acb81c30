package tools_test

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
)

// Loops as data: contract 46, cases LP01 and LP02. The last of what is wanted holds for all later calls.
func TestGivenLoops(t *testing.T) {
	var cases []struct {
		Name, Tool          string
		Args, Results, Want []string
		Times               int
	}
	data, err := os.ReadFile("testdata/loops.json")
	if err == nil {
		err = json.Unmarshal(data, &cases)
	}
	if err != nil || len(cases) == 0 {
		t.Fatal(len(cases), err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			g := guard(t)
			for i := range c.Times {
				result := said(strings.ReplaceAll(c.Results[i%len(c.Results)], "%d", strconv.Itoa(i)))
				want := c.Want[min(i, len(c.Want)-1)]
				if got := g.do(c.Tool, c.Args[i%len(c.Args)], result); got != want {
					t.Fatalf("call %d was %s, want %s", i, got, want)
				}
			}
		})
	}
}
