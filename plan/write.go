package plan

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Write is the plan as YAML that reads back to the same plan. Comments of a file it was read from are not kept: Update does.
func Write(p Plan) []byte {
	w := &writer{}
	w.text("", "goal", p.Goal)
	w.text("", "why", p.Why)
	if len(p.Tasks) > 0 {
		w.line("", "tasks:")
	}
	for _, t := range p.Tasks {
		w.WriteString(written(t, 2))
	}
	return []byte(w.String())
}

type writer struct{ strings.Builder }

func (w *writer) line(indent, text string) { fmt.Fprintf(w, "%s%s\n", indent, text) }

// keys are those of a task, in the order in which they are written.
var keys = []string{"id", "title", "prompt", "card", "files", "needs", "locks", "gates", "caps", "review"}

// written is a task as an entry of a list whose dashes stand behind so many blanks.
func written(t Task, indent int) string {
	var b strings.Builder
	for _, key := range keys {
		b.WriteString(field(t, key, strings.Repeat(" ", indent+2)))
	}
	return strings.Repeat(" ", indent) + "- " + strings.TrimLeft(b.String(), " ")
}

// field is one key of a task, and nothing where it need not be written.
func field(t Task, key, in string) string {
	w := &writer{}
	switch key {
	case "id":
		w.line(in, "id: "+scalar(t.ID))
	case "title":
		if t.Title != t.ID {
			w.text(in, key, t.Title)
		}
	case "prompt":
		w.text(in, key, t.Prompt)
	case "card":
		w.text(in, key, t.Card)
	case "files":
		w.list(in, key, t.Files)
	case "needs":
		w.list(in, key, t.Needs)
	case "locks":
		w.list(in, key, t.Locks)
	case "gates":
		if len(t.Gates) > 0 {
			w.line(in, "gates:")
		}
		for _, g := range t.Gates {
			w.line(in+"  ", "- "+g.flow())
		}
	case "caps":
		if caps := t.Caps.flow(); caps != "" {
			w.line(in, "caps: {"+caps+"}")
		}
	case "review":
		if t.Review {
			w.line(in, "review: true")
		}
	}
	return w.String()
}

// text writes a key with its text: as a block where it has lines, and not at all where it is empty.
func (w *writer) text(indent, key, text string) {
	switch {
	case text == "":
	case !literal(text):
		w.line(indent, key+": "+scalar(text))
	default:
		lines := strings.TrimRight(text, "\n")
		w.line(indent, key+": |"+chomping(len(text)-len(lines)))
		for _, l := range strings.Split(lines, "\n") {
			if l != "" {
				l = indent + "  " + l
			}
			w.line("", l)
		}
	}
}

func (w *writer) list(indent, key string, items []string) {
	if len(items) > 0 {
		w.line(indent, key+": "+flow(items))
	}
}

func flow(items []string) string {
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = scalar(item)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// literal reports whether a text is best shown, and comes back unchanged, as a literal block.
func literal(text string) bool {
	body := strings.TrimSuffix(text, "\n")
	return strings.Contains(body, "\n") && !strings.HasSuffix(body, "\n") && !strings.ContainsAny(text, "\t\r") &&
		!strings.HasPrefix(text, " ") && !strings.HasPrefix(text, "\n") && !regexp.MustCompile(`(?m) +$`).MatchString(text)
}

func chomping(newlines int) string {
	if newlines == 0 {
		return "-"
	}
	return ""
}

// scalar is a text as YAML: bare where nothing else could be read, else in double quotes as JSON has it.
func scalar(text string) string {
	if regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./ -]*$`).MatchString(text) && !strings.HasSuffix(text, " ") && !reserved(text) {
		return text
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil { // no string is an error
		return strconv.Quote(text)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// reserved reports whether YAML reads the word as something else than text.
func reserved(word string) bool {
	switch strings.ToLower(word) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n", "none":
		return true
	}
	return false
}

// flow is the gate as YAML: its bare command where that is all there is.
func (g Gate) flow() string {
	parts := []string{"run: " + scalar(g.Run)}
	add := func(key, value string) {
		if value != "" {
			parts = append(parts, key+": "+value)
		}
	}
	quoted := func(text string) string {
		if text == "" {
			return ""
		}
		return scalar(text)
	}
	add("name", quoted(g.Name))
	add("dir", quoted(g.Dir))
	if len(g.When) > 0 {
		add("when", flow(g.When))
	}
	if g.Timeout != 0 {
		add("timeout", span(g.Timeout))
	}
	if len(g.Env) > 0 {
		add("env", flow(g.Env))
	}
	add("net", quoted(g.Net))
	if g.Retry != 0 {
		add("retry", strconv.Itoa(g.Retry))
	}
	if len(parts) == 1 {
		return scalar(g.Run)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (c Caps) flow() string {
	var parts []string
	if c.PicoUSD != nil {
		frac := strings.TrimRight(fmt.Sprintf("%012d", *c.PicoUSD%1e12), "0")
		parts = append(parts, strings.TrimSuffix(fmt.Sprintf("usd: %d.%s", *c.PicoUSD/1e12, frac), "."))
	}
	for _, n := range []struct {
		key   string
		value *int64
	}{{"tokens", c.Tokens}, {"turns", c.Turns}, {"calls", c.Calls}} {
		if n.value != nil {
			parts = append(parts, fmt.Sprintf("%s: %d", n.key, *n.value))
		}
	}
	if c.Wall != nil {
		parts = append(parts, "wall: "+span(*c.Wall))
	}
	return strings.Join(parts, ", ")
}

// span is a time span without the parts that are nothing: 10m, not 10m0s.
func span(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
