package main

import (
	"bufio"
	"encoding/json"
	"strings"
	"time"

	"colony/event"

	"github.com/rogpeppe/go-internal/testscript"
)

// cooled: `cooled WAIT` wants, in the events on the last standard output, that from a refusal for too many requests no
// request was made for WAIT, by whichever ant, but those that were on their way.
func cooled(ts *testscript.TestScript, neg bool, args []string) {
	wait, err := time.ParseDuration(args[0])
	ts.Check(err)
	var refused time.Time
	asked, cooling := 0, false
	scanner := bufio.NewScanner(strings.NewReader(ts.ReadFile("stdout")))
	scanner.Buffer(nil, 16<<20)
	for scanner.Scan() {
		var e event.Event
		ts.Check(json.Unmarshal(scanner.Bytes(), &e))
		switch b := e.Body.(type) {
		case event.ModelReplied:
			if b.Outcome == "rate_limited" {
				refused = e.Time
			}
		case event.Throttled:
			cooling = true
		case event.ModelRequested:
			if !cooling {
				continue // on its way before the refusal was known
			}
			asked++
			if early := refused.Add(wait).Sub(e.Time); early > 0 {
				ts.Fatalf("%s asked %s too early", e.Ant, early)
			}
		}
	}
	if refused.IsZero() || asked == 0 {
		ts.Fatalf("nobody was refused and asked again")
	}
}
