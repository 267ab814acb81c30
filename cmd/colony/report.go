package main

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"
	"time"

	"colony/event"
	"colony/guard/secrets"
	"colony/hatch"
	"colony/view"
)

// report is a run as a page: headings, paragraphs and tables, written as Markdown or as HTML.
type report struct {
	b    strings.Builder
	html bool
}

// writeReport writes what came of a run to a file. Its ending, .md or .html, says how.
func writeReport(path string, known *secrets.Detector, f event.RunFinished, b hatch.Brief) error {
	r := &report{html: filepath.Ext(path) == ".html"}
	r.heading("Colony run " + b.Run)
	r.text(b.Goal)
	r.text(fmt.Sprintf("%s: branch %s, base %s, commit %s, %s, %d requests, %d tokens, %s of %s.",
		withReason(f.Status, f.Reason), f.Branch, short(f.Base), short(f.Commit), (time.Duration(f.WallMs) * time.Millisecond).Round(time.Millisecond),
		f.Usage.Requests, f.Usage.Input+f.Usage.Output, money(f.USD, f.Price), budget(b.Caps)))
	r.outcome(f)
	if err := os.WriteFile(path, []byte(known.Redact(r.page(b.Run))), 0o644); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// outcome is what came of each task.
func (r *report) outcome(f event.RunFinished) {
	tasks := [][]string{{"Task", "Title", "Status", "Ants", "Cost", "Commit", "Files"}}
	gates := [][]string{{"Task", "Gate", "Exit", "Time", "Output"}}
	for _, t := range f.Tasks {
		tasks = append(tasks, []string{t.ID, t.Title, withReason(t.Status, t.Reason), strings.Join(t.Ants, " "), money(t.USD, t.Price), short(t.Commit), strings.Join(t.Files, " ")})
		for _, g := range t.Receipt.Gates {
			gates = append(gates, []string{t.ID, g.Command, fmt.Sprint(g.Exit), (time.Duration(g.Ms) * time.Millisecond).String(), short(g.Output)})
		}
	}
	r.table("Tasks", tasks)
	r.table("Gates", gates)
	var kept, denied [][]string
	for _, k := range f.Kept {
		kept = append(kept, []string{k.Task, k.Ref})
	}
	for _, d := range f.Denied {
		denied = append(denied, []string{d.Ant, d.Tool, d.Rule})
	}
	r.table("Work that did not land", append([][]string{{"Task", "Ref"}}, kept...))
	r.table("Calls that were denied", append([][]string{{"Ant", "Tool", "Rule"}}, denied...))
}

func (r *report) heading(text string) {
	if r.html {
		fmt.Fprintf(&r.b, "<h1>%s</h1>\n", html.EscapeString(view.Line(text)))
		return
	}
	fmt.Fprintf(&r.b, "# %s\n\n", cell(text))
}

func (r *report) text(text string) {
	if r.html {
		fmt.Fprintf(&r.b, "<p>%s</p>\n", html.EscapeString(view.Line(text)))
		return
	}
	fmt.Fprintf(&r.b, "%s\n\n", cell(text))
}

// table writes rows below their first, the head; nothing where there are none.
func (r *report) table(title string, rows [][]string) {
	if len(rows) < 2 {
		return
	}
	if r.html {
		fmt.Fprintf(&r.b, "<h2>%s</h2>\n<table>\n", html.EscapeString(title))
		for i, row := range rows {
			tag := "td"
			if i == 0 {
				tag = "th"
			}
			r.b.WriteString("<tr>")
			for _, c := range row {
				fmt.Fprintf(&r.b, "<%s>%s</%s>", tag, html.EscapeString(view.Line(c)), tag)
			}
			r.b.WriteString("</tr>\n")
		}
		r.b.WriteString("</table>\n")
		return
	}
	fmt.Fprintf(&r.b, "## %s\n\n", title)
	for i, row := range rows {
		for _, c := range row {
			fmt.Fprintf(&r.b, "| %s ", cell(c))
		}
		r.b.WriteString("|\n")
		if i == 0 {
			r.b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	r.b.WriteString("\n")
}

// cell is a text from outside as Markdown that means nothing but itself.
func cell(text string) string {
	var b strings.Builder
	for _, c := range view.Line(text) {
		if strings.ContainsRune("\\`*_{}[]<>()#|!~&", c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
		if c == '@' {
			b.WriteString("<!-- -->") // which a forge does not take for a person's name
		}
	}
	return b.String()
}

const pageHead = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>%s</title><style>body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}
table{border-collapse:collapse}td,th{border:1px solid #8888;padding:.3rem .6rem;text-align:left;vertical-align:top}</style></head><body>
%s</body></html>
`

func (r *report) page(title string) string {
	if r.html {
		return fmt.Sprintf(pageHead, html.EscapeString(title), r.b.String())
	}
	return r.b.String()
}
