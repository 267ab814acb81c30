package cards

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// render writes the draft as a card that reads back as it was meant.
func (d *draft) render(file string) (string, error) {
	for _, prompt := range []string{"|\n  " + strings.ReplaceAll(d.prompt, "\n", "\n  "), quote(d.prompt + "\n")} {
		text := d.text(file, prompt)
		if c, faults := Parse(file, []byte(text)); len(faults) == 0 && c.Prompt == d.prompt+"\n" && c.Description == d.description {
			return text, nil
		}
	}
	return "", errors.New("its text cannot be written as a card")
}

func (d *draft) text(file, prompt string) string {
	var b strings.Builder
	line := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", key, value)
		}
	}
	fmt.Fprintf(&b, "# Imported from %s (%s). done was added, by which an ant ends; the caps are the worker's where the file has none.\n", comment(file), d.tool)
	for _, loss := range d.lost {
		fmt.Fprintf(&b, "# Not carried over: %s: %s (%s)\n", comment(loss.Key), comment(loss.Value), comment(loss.Why))
	}
	line("name", d.name)
	line("description", quote(d.description))
	if d.model != "" {
		line("model", quote(d.model))
	}
	line("effort", d.effort)
	line("prompt", prompt)
	line("tools", "["+strings.Join(d.tools, ", ")+"]")
	line("permissions", "{allow: "+list(d.allow)+", ask: [], deny: "+list(d.deny)+"}")
	line("caps", d.caps())
	line("gates", "[]")
	return b.String()
}

// caps are the built-in worker's, with what the file says.
func (d *draft) caps() string {
	data, _ := builtin.ReadFile("builtin/worker.yaml")
	worker, _ := Parse(BuiltinSource, data)
	texts := worker.texts()
	if d.turns > 0 {
		texts["caps.turns"] = fmt.Sprint(d.turns)
	}
	if d.wall > 0 {
		texts["caps.wall"] = d.wall.String()
	}
	var parts []string
	for _, name := range []string{"usd", "tokens", "output", "turns", "wall", "calls"} {
		parts = append(parts, name+": "+texts["caps."+name])
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// comment is a text that stays on its line.
func comment(text string) string {
	return strings.Join(strings.Fields(plain(text)), " ")
}

// quote is the text as YAML, whatever it holds.
func quote(text string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		return fmt.Sprintf("%q", text)
	}
	return strings.TrimSpace(b.String())
}
