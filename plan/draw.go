package plan

import (
	"fmt"
	"strings"
)

// Tree is the graph as text: a task a line, in the order in which tasks can start, each beneath the last of those it
// needs and with all of them named.
func (p Plan) Tree() string {
	byID := map[string]Task{}
	for _, t := range p.Tasks {
		byID[t.ID] = t
	}
	order := p.Order()
	place := map[string]int{}
	beneath := map[string][]string{} // "" holds the roots
	for i, id := range order {
		place[id] = i
		last := ""
		for _, need := range byID[id].Needs {
			if last == "" || place[need] > place[last] {
				last = need
			}
		}
		beneath[last] = append(beneath[last], id)
	}
	var b strings.Builder
	var draw func(ids []string, indent string)
	draw = func(ids []string, indent string) {
		for i, id := range ids {
			branch, deeper := "├─ ", "│  "
			if i == len(ids)-1 {
				branch, deeper = "└─ ", "   "
			}
			fmt.Fprintf(&b, "%s%s%s\n", indent, branch, byID[id].line())
			draw(beneath[id], indent+deeper)
		}
	}
	draw(beneath[""], "")
	return b.String()
}

// line says of a task what a person wants to know before it starts.
func (t Task) line() string {
	text := t.ID
	if t.Title != t.ID {
		text += ": " + t.Title
	}
	var more []string
	add := func(what string, list []string) {
		if len(list) > 0 {
			more = append(more, what+" "+strings.Join(list, ", "))
		}
	}
	if t.Card != "" {
		more = append(more, t.Card)
	}
	add("needs", t.Needs)
	add("files", t.Files)
	add("locks", t.Locks)
	if t.Review {
		more = append(more, "reviewed")
	}
	if len(more) > 0 {
		text += " (" + strings.Join(more, "; ") + ")"
	}
	return text
}

// Mermaid is the graph as a Mermaid flowchart: an arrow leads from a task to each that needs it.
func (p Plan) Mermaid() string {
	node := map[string]int{}
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	for i, t := range p.Tasks {
		node[t.ID] = i
		label := t.ID
		if t.Title != t.ID {
			label += ": " + t.Title
		}
		fmt.Fprintf(&b, "  t%d[\"%s\"]\n", i, strings.NewReplacer("#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "`", "#96;").Replace(label))
	}
	for i, t := range p.Tasks {
		for _, need := range t.Needs {
			if from, ok := node[need]; ok {
				fmt.Fprintf(&b, "  t%d --> t%d\n", from, i)
			}
		}
	}
	return b.String()
}
