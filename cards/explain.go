package cards

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Value is one value of a card, as YAML would write it, and where it comes from: the line of a file, a built-in card, or
// "not set", where nothing gives it.
type Value struct {
	Key  string `json:"key"`
	Text string `json:"value"`
	From string `json:"from"`
}

const notSet = "not set"

// Values are all values of the card, in the order of the format.
func (c Card) Values() []Value {
	values := []Value{{"name", c.Name, c.place("name", origin{c.Name, c.Source, c.doc})}}
	if c.Extends != "" {
		values = append(values, Value{"extends", c.Extends, c.place("extends", origin{c.Name, c.Source, c.doc})})
	}
	texts := c.texts()
	for _, k := range keys {
		v := Value{k.name, texts[k.name], notSet}
		if at, ok := c.from[k.name]; ok {
			v.From = c.place(k.name, at)
		}
		values = append(values, v)
	}
	return values
}

// place is where a person finds the key.
func (c Card) place(key string, at origin) string {
	where := at.source
	if at.source == BuiltinSource {
		where = "built-in card " + at.card
	}
	if at.doc == nil {
		return where
	}
	line := at.doc.KeyFault(key, "").Line
	if at.source == BuiltinSource {
		return fmt.Sprintf("%s, line %d", where, line)
	}
	return fmt.Sprintf("%s:%d", where, line)
}

func (c Card) texts() map[string]string {
	output := ""
	if c.Caps.Output > 0 {
		output = strconv.Itoa(c.Caps.Output)
	}
	parallel := ""
	if c.Parallel > 0 {
		parallel = strconv.Itoa(c.Parallel)
	}
	return map[string]string{
		"description": c.Description, "model": c.Model, "escalate": c.Escalate, "effort": c.Effort, "diagnostics": c.Diagnostics, "prompt": c.Prompt, "tools": list(c.Tools),
		"permissions.allow": list(c.Permissions.Allow), "permissions.ask": list(c.Permissions.Ask), "permissions.deny": list(c.Permissions.Deny),
		"sandbox.level": c.Sandbox.Level, "sandbox.net": list(c.Sandbox.Net),
		"caps.usd": dollars(c.Caps.PicoUSD), "caps.tokens": number(c.Caps.Tokens), "caps.output": output, "caps.turns": number(c.Caps.Turns),
		"caps.wall": span(c.Caps.Wall), "caps.calls": number(c.Caps.Calls), "skills": list(c.Skills), "mcp.servers": list(c.MCP.Servers), "mcp.always": list(c.MCP.Always), "gates": list(c.Gates), "hatch": list(c.Hatch), "parallel": parallel,
	}
}

func list(entries []string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if len(entries) == 0 || enc.Encode(entries) != nil {
		return "[]"
	}
	return strings.TrimSpace(b.String())
}

func number(n *int64) string {
	if n == nil {
		return "none"
	}
	return strconv.FormatInt(*n, 10)
}

func span(d *time.Duration) string {
	if d == nil {
		return "none"
	}
	text := d.String()
	for _, zero := range [][2]string{{"m0s", "m"}, {"h0m", "h"}} {
		if rest, ok := strings.CutSuffix(text, zero[0]); ok {
			text = rest + zero[1]
		}
	}
	return text
}

// dollars is an amount in picodollars with at least two decimals.
func dollars(pico *int64) string {
	if pico == nil {
		return "none"
	}
	text := fmt.Sprintf("%d.%012d", *pico/1e12, *pico%1e12)
	for strings.HasSuffix(text, "0") && len(text)-strings.Index(text, ".") > 3 {
		text = strings.TrimSuffix(text, "0")
	}
	return text
}
