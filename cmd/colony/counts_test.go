package main

import (
	"encoding/json"
	"net/http"

	"colony/model/scripted"

	"github.com/rogpeppe/go-internal/testscript"
)

func fetchCounts(ts *testscript.TestScript, url string) scripted.Counts {
	reply, err := http.Get(url)
	ts.Check(err)
	defer reply.Body.Close()
	var counts scripted.Counts
	ts.Check(json.NewDecoder(reply.Body).Decode(&counts))
	return counts
}
