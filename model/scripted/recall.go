package scripted

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// exchange is one reply of the model with the results of its calls, by call.
type exchange struct {
	calls   []wireCall
	results map[string]string
}

// turnLine is where a summary says how many replies it stands for.
var turnLine = regexp.MustCompile(`\[turn (\d{1,4})\]`)

func exchanges(messages []message) []exchange {
	var all []exchange
	for _, m := range messages {
		switch at := turnLine.FindStringSubmatch(string(m.Content)); {
		case m.Role == "user" && at != nil:
			n, _ := strconv.Atoi(at[1]) // the pattern takes nothing but digits
			all = make([]exchange, n)
		case m.Role == "assistant":
			all = append(all, exchange{m.ToolCalls, map[string]string{}})
		case m.Role == "tool" && len(all) > 0:
			all[len(all)-1].results[m.ToolCallID] = string(m.Content)
		}
	}
	return all
}

// place is where a conversation stands in a script. A result that says `interrupted` leaves the script for a
// look at what is there, and for a repetition of what is missing.
type place struct {
	turn int
	look []wireCall // what was interrupted and has to be looked at first
	redo []wireCall // what is missing
}

// script is what a model says, and how it takes an interruption.
type script struct {
	turns    []Turn
	heedless bool
}

// placeOf follows the conversation from its start.
func (s script) placeOf(messages []message) place {
	var p place
	for _, e := range exchanges(messages) {
		p = s.after(p, e)
	}
	return p
}

func (s script) after(p place, e exchange) place {
	if s.heedless {
		return place{turn: p.turn + 1}
	}
	broken := interrupted(e)
	switch {
	case len(p.look) > 0 && len(broken) > 0:
		return p
	case len(p.look) > 0:
		return place{turn: p.turn, redo: s.missing(p, e)}
	case len(p.redo) == 0:
		p.turn++
	}
	next := place{turn: p.turn}
	for _, c := range broken {
		if _, ok := s.lookAt(c); ok && !harmless(e.results[c.ID]) {
			next.look = append(next.look, c)
		} else {
			next.redo = append(next.redo, c)
		}
	}
	return next
}

// harmless reports whether a result says that the call can be repeated without a look.
func harmless(result string) bool {
	result = strings.ToLower(result)
	return strings.Contains(result, "did not happen") || strings.Contains(result, "changes nothing")
}

// interrupted is the calls of which it is not known that they happened.
func interrupted(e exchange) []wireCall {
	var calls []wireCall
	for _, c := range e.calls {
		result := strings.ToLower(strings.TrimPrefix(e.results[c.ID], "error: "))
		happened := strings.Contains(result, "happened") && !strings.Contains(result, "not happen") && !strings.Contains(result, "unknown")
		if strings.HasPrefix(result, "interrupted") && !happened {
			calls = append(calls, c)
		}
	}
	return calls
}

const isThere = "it is there"

// lookAt is the call that shows whether another one happened; false where repeating it does no harm.
func (s script) lookAt(c wireCall) (Call, bool) {
	if there := s.there(c); there != "" {
		return Call{Tool: "sh", Args: map[string]any{"command": there + " && echo " + isThere}}, true
	}
	args := argsOf(c)
	switch c.Function.Name {
	case "edit", "write":
		return Call{Tool: "read", Args: map[string]any{"path": args["path"]}}, true
	case "sh":
		return Call{Tool: "sh", Args: map[string]any{"command": "git status --short"}}, true
	}
	return Call{}, false
}

// there is the command that the script has for a look at what a call did; empty where it has none.
func (s script) there(c wireCall) string {
	for _, t := range s.turns {
		for _, own := range t.Calls {
			if args, err := own.arguments(); err == nil && own.There != "" && own.Tool == c.Function.Name && args == c.Function.Arguments {
				return own.There
			}
		}
	}
	return ""
}

// missing is the calls that a look did not show to have happened, and those that had to be repeated anyway.
func (s script) missing(p place, seen exchange) []wireCall {
	var left []wireCall
	for i, c := range p.look {
		shown := ""
		if i < len(seen.calls) {
			shown = seen.results[seen.calls[i].ID]
		}
		if there := s.there(c) != ""; there && strings.Contains(shown, isThere) || !there && shows(shown, c) {
			continue
		}
		left = append(left, c)
	}
	return append(left, p.redo...)
}

// shows reports whether a text holds every line that a write or an edit puts in.
func shows(text string, c wireCall) bool {
	args := argsOf(c)
	put := ""
	switch c.Function.Name {
	case "write":
		put, _ = args["content"].(string)
	case "edit":
		put, _ = args["new"].(string)
	}
	for _, line := range strings.Split(put, "\n") {
		if !strings.Contains(text, strings.TrimSpace(line)) {
			return false
		}
	}
	return strings.TrimSpace(put) != ""
}

func argsOf(c wireCall) map[string]any {
	var args map[string]any
	_ = json.Unmarshal([]byte(c.Function.Arguments), &args) // a half call has no arguments
	return args
}

// said is what the model says at this place.
func (s script) said(p place) Turn {
	switch {
	case len(p.look) > 0:
		t := Turn{Text: "I was interrupted: I look at what is there."}
		for _, c := range p.look {
			look, _ := s.lookAt(c)
			t.Calls = append(t.Calls, look)
		}
		return t
	case len(p.redo) > 0:
		t := Turn{Text: "I repeat what is missing."}
		for _, c := range p.redo {
			t.Calls = append(t.Calls, Call{Tool: c.Function.Name, Raw: &c.Function.Arguments})
		}
		return t
	case p.turn < len(s.turns):
		return s.turns[p.turn]
	}
	return Turn{Text: "I have nothing more to say."}
}
