package report_test

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"colony/event"
	"colony/ledger/report"
	"colony/view"
)

// A page fetches nothing and runs nothing, whatever the log holds, and its figures are those of the table.
func TestPageIsHarmlessAndRight(t *testing.T) {
	const evil = `"><script>alert(1)</script><img src=x onerror=y>` + "\x1b[31m"
	events := aRun(evil)
	for i := range events {
		events[i].Ant = strings.ReplaceAll(events[i].Ant, "worker-2", evil)
		events[i].Task = strings.ReplaceAll(events[i].Task, "t2", "javascript:"+evil)
	}
	events = append(events, event.Event{Run: evil, Ant: evil, Body: event.AntEnded{Reason: evil}})
	b := billOf(events...)
	for _, keys := range [][]string{{"ant"}, {"card", "model"}, {"tool"}} {
		page, err := report.Page(b, report.Options{By: keys}, view.Line)
		if err != nil {
			t.Fatal(err)
		}
		harmless(t, page)
		table := by(t, b, "ant")
		for _, r := range append(table.Rows, report.Row{Key: "total", Sum: table.Total}) {
			if want := `<tr data-usd="` + r.USD.String() + `"><th>` + html.EscapeString(view.Line(r.Key)) + `</th>`; !strings.Contains(page, want) {
				t.Errorf("%q is not on the page", want)
			}
		}
	}
	harmless(t, report.Heat(evil, []report.HeatLine{{Text: evil, Who: evil, Ant: evil, USD: pico(5)}, {Text: "x"}}, view.Line))
}

var tag = regexp.MustCompile(`<([a-z0-9]+)[^>]*>`)

func harmless(t *testing.T, page string) {
	t.Helper()
	if !strings.Contains(page, `content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"`) || strings.Contains(page, "\x1b") {
		t.Error("the page has no policy, or a control character")
	}
	for _, m := range tag.FindAllStringSubmatch(page, -1) {
		switch m[1] {
		case "script", "img", "link", "iframe", "object", "a", "form":
			t.Errorf("the page has %s", m[0])
		}
	}
	for _, bad := range []string{"http://", "https://", "url(", "@import", " src=", " href="} {
		if strings.Contains(strings.ReplaceAll(page, html.EscapeString(` src=x`), ""), bad) {
			t.Errorf("the page has %q", bad)
		}
	}
}

// A row that was not billed, of a model without a price, beside one that was: nothing is drawn for it.
func TestRowsWithoutAnAmount(t *testing.T) {
	refused := event.Event{Run: "r", Task: "t", Ant: "b", Body: event.ModelReplied{Request: "q0", Outcome: "rate_limited", Price: event.Unknown}}
	b := billOf(got("r", "t", "a", "q", pico(5), event.Known), refused)
	table := by(t, b, "ant")
	if table.Rows[1].USD != nil || table.Total.USD == nil {
		t.Fatalf("%+v", table)
	}
	text, err := table.CSV(view.Line)
	if err != nil {
		t.Fatal(err)
	}
	page, err := report.Page(b, report.Options{By: []string{"ant", "tool"}}, view.Line)
	if err != nil || !strings.Contains(table.Text(80, view.Line)+table.Chart(80, view.Line)+text+page, "unknown") {
		t.Errorf("%v", err)
	}
}

// A spreadsheet takes nothing for a formula, and a terminal nothing for a command.
func TestCSVIsHarmless(t *testing.T) {
	text, err := by(t, billOf(got("r", "=cmd|' /C calc'!A0", "@a\x1b[31m", "q", pico(5), event.Known)), "task", "ant").CSV(view.Line)
	if err != nil || !strings.Contains(text, "\n'=cmd|' /C calc'!A0,'@a") || strings.Contains(text, "\x1b") {
		t.Errorf("%q, %v", text, err)
	}
}

// Helpers stand below the ant that hatched them; with them it comes to more, and the total has each once.
func TestHelpersRollUpOnce(t *testing.T) {
	child := func(ant, parent string) event.Event {
		return event.Event{Run: "r", Task: "t", Ant: ant, Body: event.AntHatched{Card: "scout", Parent: parent}}
	}
	b := billOf(child("lead", ""), child("lead.a", "lead"), child("lead.a.b", "lead.a"),
		got("r", "t", "lead", "1", pico(1), event.Known), got("r", "t", "other", "1", pico(10), event.Known),
		got("r", "t", "lead.a", "1", pico(100), event.Known), got("r", "t", "lead.a.b", "1", pico(1000), event.Known))
	table := by(t, b, "ant")
	var keys []string
	for _, r := range table.Rows {
		keys = append(keys, r.Key)
	}
	if strings.Join(keys, " ") != "lead lead.a lead.a.b other" || *table.Rows[0].Helpers.USD != 1101 || *table.Rows[1].Helpers.USD != 1100 ||
		table.Rows[2].Helpers != nil || *table.Rows[0].USD != 1 || *table.Total.USD != 1111 {
		t.Errorf("%q: %+v", keys, table)
	}
}
