package main

import (
	"bufio"
	"encoding/json"
	"slices"
	"strings"

	"colony/event"

	"github.com/rogpeppe/go-internal/testscript"
)

// learned: `learned FILE...` wants, of files of events of which the last is a run with an estimate, that its expected cost
// lies between the quartiles of what the tasks in the others cost.
func learned(ts *testscript.TestScript, neg bool, args []string) {
	var took []event.PicoUSD
	var expected *event.PicoUSD
	for _, file := range args {
		scanner := bufio.NewScanner(strings.NewReader(ts.ReadFile(file)))
		scanner.Buffer(nil, 16<<20)
		for scanner.Scan() {
			var e event.Event
			ts.Check(json.Unmarshal(scanner.Bytes(), &e))
			switch b := e.Body.(type) {
			case event.TaskDone:
				if file != args[len(args)-1] {
					took = append(took, *b.USD)
				}
			case event.PlanMade:
				expected = b.Estimate.Expected
			}
		}
	}
	slices.Sort(took)
	low, high := took[(len(took)-1)/4], took[len(took)*3/4]
	if low == high || expected == nil || *expected < low || *expected > high {
		ts.Fatalf("expected %v, while the tasks took %v", expected, took)
	}
}
