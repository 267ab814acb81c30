package scripted

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"colony/model"
)

// logged is what is read of an event of a run, a line of `colony log --json`.
type logged struct {
	Type     string          `json:"type"`
	Task     string          `json:"task"`
	Ant      string          `json:"ant"`
	Card     string          `json:"card"`
	Worktree string          `json:"worktree"`
	Request  string          `json:"request"`
	Outcome  string          `json:"outcome"`
	Finish   string          `json:"finish"`
	Content  json.RawMessage `json:"content"`
	Usage    struct {
		Input      int64 `json:"input_tokens"`
		Cached     int64 `json:"cached_input_tokens"`
		CacheWrite int64 `json:"cache_write_tokens"`
		Output     int64 `json:"output_tokens"`
		Reasoning  int64 `json:"reasoning_tokens"`
	} `json:"usage"`
}

// recorded is an ant while its log is read.
type recorded struct {
	card, task, worktree string
	first                bool    // of its card at its task: a second one would say the same again
	faults               []Fault // of the turn that comes next
}

const longestEvent = 64 << 20

// Record makes a scenario of the events of a run, in which every ant says what it said there and its provider fails as it
// failed there. Paths of its worktree become relative. Of two ants of one card at one task the first is kept.
func Record(name string, log io.Reader) (Scenario, error) {
	s := Scenario{Name: name, Cards: map[string]map[string][]Turn{}}
	ants, taken := map[string]*recorded{}, map[[2]string]string{}
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, longestEvent)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var e logged
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return s, fmt.Errorf("record line %d: %w", n, err)
		}
		switch e.Type {
		case "ant.hatched":
			ants[e.Ant] = &recorded{card: e.Card, task: e.Task, worktree: e.Worktree}
			key := [2]string{e.Card, e.Task}
			if taken[key] == "" {
				taken[key] = e.Ant
			}
			ants[e.Ant].first = taken[key] == e.Ant
		case "model.replied":
			a := ants[e.Ant]
			if a == nil || !a.first || strings.HasSuffix(e.Request, ".summary") {
				continue
			}
			if err := s.take(a, e); err != nil {
				return s, fmt.Errorf("record line %d: %w", n, err)
			}
		}
	}
	if len(s.Cards) == 0 && lines.Err() == nil {
		return s, fmt.Errorf("record %s: no ant said anything", name)
	}
	return s, lines.Err()
}

// take appends a reply, or notes how the provider failed.
func (s *Scenario) take(a *recorded, e logged) error {
	if e.Outcome != "ok" {
		if f, ok := faultOf(e.Outcome); ok {
			a.faults = append(a.faults, f)
		}
		return nil
	}
	var m model.Message
	if len(e.Content) > 0 && string(e.Content) != "null" {
		if err := json.Unmarshal(e.Content, &m); err != nil {
			return err
		}
	}
	u := e.Usage
	turn := Turn{Text: m.Text, Faults: a.faults, Tokens: Tokens{Input: &u.Input, Cached: u.Cached, CacheWrite: u.CacheWrite, Output: &u.Output, Reasoning: u.Reasoning}}
	if e.Finish == string(model.FinishRefusal) {
		turn.Finish = "content_filter"
	}
	for _, c := range m.Calls {
		args := string(c.Args)
		if a.worktree != "" {
			args = strings.ReplaceAll(args, a.worktree+"/", "")
		}
		turn.Calls = append(turn.Calls, Call{Tool: c.Name, Raw: &args})
	}
	if s.Cards[a.card] == nil {
		s.Cards[a.card] = map[string][]Turn{}
	}
	task := a.task
	if task == "" {
		task = "*"
	}
	s.Cards[a.card][task] = append(s.Cards[a.card][task], turn)
	a.faults = nil
	return nil
}

// faultOf is the fault that an outcome stands for; false where the provider did not fail, or refused for good: what was
// said all the same was said to another key, or to another process.
func faultOf(outcome string) (Fault, bool) {
	switch outcome {
	case "rate_limited":
		return Fault{Status: 429, Code: "rate_limit_exceeded", Text: "as recorded", RetryAfter: "1"}, true
	case "overloaded":
		return Fault{Status: 529, Code: "overloaded_error", Text: "as recorded"}, true
	case "refused":
		return Fault{Status: 400, Text: "as recorded"}, true
	case "cut":
		return Fault{Kind: kindCut}, true
	case "transport":
		return Fault{Kind: kindReset}, true
	}
	return Fault{}, false
}
