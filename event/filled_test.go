package event_test

import (
	"encoding/json"
	"strings"
	"testing"

	"colony/event"
)

func TestListsAreNeverNull(t *testing.T) {
	body := event.RunFinished{Tasks: []event.TaskReport{{ID: "a"}}}
	data, err := json.Marshal(event.Event{Body: body})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"files":[]`, `"gates":[]`, `"kept":[]`, `"labels":{}`, `"usd":null`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("%s is not in %s", want, data)
		}
	}
	if body.Kept != nil || body.Tasks[0].Files != nil {
		t.Error("the body itself was changed")
	}
}
