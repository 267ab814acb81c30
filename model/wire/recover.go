package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"colony/model"
	"colony/tools"
)

// spelt is a call as models write it into a text.
type spelt struct {
	Name       string          `json:"name"`
	Arguments  json.RawMessage `json:"arguments"`
	Parameters json.RawMessage `json:"parameters"`
}

// Recover takes calls out of a reply that is text alone, where the whole of it is calls of tools that were offered. The
// message is marked.
func (t *Names) Recover(reply *model.Reply) {
	m := &reply.Message
	if len(m.Calls) > 0 || reply.Finish != model.FinishStop || m.Text == "" {
		return
	}
	found, ok := spelled(m.Text)
	if !ok {
		return
	}
	var calls []tools.Call
	for i, s := range found {
		args := s.Arguments
		if len(args) == 0 {
			args = s.Parameters
		}
		name, known := t.tools[s.Name]
		if !known || !IsObject(string(args)) {
			return
		}
		calls = append(calls, tools.Call{ID: fmt.Sprintf("call_%d", i), Name: name, Args: args})
	}
	m.Text, m.Calls, m.Recovered, m.Opaque, reply.Finish = "", calls, true, nil, model.FinishCalls
}

// spelled reads a text that is calls and nothing else: objects, one after another or in a list, bare, fenced or tagged.
func spelled(text string) ([]spelt, bool) {
	text = strings.TrimSpace(text)
	for _, marks := range [...][2]string{{"```json", "```"}, {"```", "```"}} {
		if inner, ok := strings.CutPrefix(text, marks[0]); ok {
			if inner, ok = strings.CutSuffix(inner, marks[1]); ok {
				text = strings.TrimSpace(inner)
				break
			}
		}
	}
	text = strings.NewReplacer("<tool_call>", "", "</tool_call>", "").Replace(text)
	var list []spelt
	if strings.HasPrefix(strings.TrimSpace(text), "[") {
		err := json.Unmarshal([]byte(text), &list)
		return list, err == nil && len(list) > 0
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	for {
		var one spelt
		err := decoder.Decode(&one)
		if err == io.EOF {
			return list, len(list) > 0
		}
		if err != nil {
			return nil, false
		}
		list = append(list, one)
	}
}
