package report_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"colony/event"
	"colony/ledger/report"
	"colony/view"
)

// Whatever is drawn fits the terminal, and nothing of the log drives it.
func TestAllThatIsDrawnFits(t *testing.T) {
	var events []event.Event
	for i := range 30 {
		e := got("r", fmt.Sprintf("task-%d\x1b[31m", i%4), fmt.Sprintf("worker-%d%s", i, strings.Repeat("é", i)), "q", pico(int64(i)*1_000_000_000_000), event.Known)
		e.Time = e.Time.AddDate(2025, 0, i)
		asked := asked("r", e.Task, e.Ant, "q", fmt.Sprintf("provider-%d/model-with-a-long-name", i%3))
		asked.Time = e.Time
		events = append(events, asked, e)
		events = append(events, event.Event{Run: "r", Task: e.Task, Ant: e.Ant, Time: e.Time, Body: event.ToolDone{Tool: "read", Text: "x"}})
		again := got("r", e.Task, e.Ant, "r", pico(5), event.Known)
		again.Time = e.Time
		events = append(events, again)
	}
	b := billOf(append(events, done("r", "task-1\x1b[31m", "failed"))...)
	for _, width := range []int{30, 40, 60, 80, 100, 160} {
		for _, keys := range [][]string{{"ant"}, {"tool"}, {"ant", "model"}, {"task", "model"}, {"day"}} {
			table := by(t, b, keys...)
			for name, text := range map[string]string{
				"table": table.Text(width, view.Line), "chart": table.Chart(width, view.Line),
				"comparison": report.Compare("r", table, strings.Repeat("s", 20), table).Text(width, view.Line),
			} {
				for line := range strings.Lines(text) {
					if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > width || strings.Contains(line, "\x1b") {
						t.Errorf("%s by %v: %d columns of %d: %q", name, keys, n, width, line)
					}
				}
			}
		}
	}
}
