package ledger

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"iter"
	"path"
	"slices"
	"strconv"

	"colony/event"
)

// NewRun is a run of which nothing is known yet. Blob reads what is kept beside its log; it may be nil.
func NewRun(id string, blob func(sha256 string) ([]byte, error)) *Run {
	r := newRun(id)
	r.blob = blob
	return r
}

// opening is the first line of a run in an export: what its events do not say.
type opening struct {
	Type  string                      `json:"type"`
	Run   string                      `json:"run"`
	Birth string                      `json:"birth"`
	Repo  string                      `json:"repo"`
	Sizes map[string]map[string]int64 `json:"sizes,omitempty"`
	Lines map[string]int64            `json:"lines,omitempty"` // by task
}

// closing is its last line.
type closing struct {
	Type   string `json:"type"`
	Run    string `json:"run"`
	Events int    `json:"events"`
	SHA256 string `json:"sha256"` // of all lines between
}

const (
	openingType = "ledger.run"
	closingType = "ledger.end"
)

// Export writes the events of a run that its bill and its receipts rest on, and nothing of what was said: no prompt, reply,
// argument, result or path. Run is their fold. Each line goes through clean before its digest is taken.
func Export(w io.Writer, run *Run, events iter.Seq2[event.Event, error], clean func(string) string) error {
	first := opening{Type: openingType, Run: run.ID, Birth: run.Birth, Repo: run.Repo, Sizes: run.Sizes, Lines: map[string]int64{}}
	for _, t := range run.Tasks {
		if t.Counted {
			first.Lines[t.ID] = t.Lines
		}
	}
	if err := writeLine(w, first, clean); err != nil {
		return err
	}
	last, sum := closing{Type: closingType, Run: run.ID}, sha256.New()
	for e, err := range events {
		if err != nil {
			return err
		}
		e, kept := stripped(e)
		if !kept {
			continue
		}
		if err := writeLine(io.MultiWriter(w, sum), e, clean); err != nil {
			return err
		}
		last.Events++
	}
	last.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return writeLine(w, last, clean)
}

func writeLine(w io.Writer, v any, clean func(string) string) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, clean(string(data))+"\n")
	return err
}

// stripped is an event without what was said; false where a bill does not rest on it.
func stripped(e event.Event) (event.Event, bool) {
	switch b := e.Body.(type) {
	case event.RunStarted:
		e.Body = billed(b)
	case event.RunResumed:
		e.Body = event.RunResumed(billed(event.RunStarted(b)))
	case event.PlanMade:
		e.Body = event.PlanMade{Tasks: titled(b.Tasks)}
	case event.PlanChanged:
		e.Body = event.PlanChanged{Tasks: titled(b.Tasks)}
	case event.AntHatched:
		b.Worktree = ""
		e.Body = b
	case event.AntTold:
		e.Body = event.AntTold{Kind: b.Kind, Size: int64(len(b.Text))}
	case event.AntCompacted:
		b.Summary = ""
		e.Body = b
	case event.ModelReplied:
		b.Content = nil
		e.Body = b
	case event.ToolDone:
		e.Body = outline(b)
	case event.RunFinished:
		b.Tasks = reported(b.Tasks)
		b.Denied, b.Unclear, b.Reason = nil, nil, ""
		e.Body = b
	case event.CommitMade:
		b.Files, b.Refused = nil, nil
		e.Body = b
	case event.TaskDone:
		b.Detail = ""
		e.Body = b
	case event.LandingDone:
		b.Files, b.GateInputsChanged = nil, nil
		e.Body = b
	case event.ModelRequested, event.AntEnded, event.GateDone:
	default:
		return e, false
	}
	return e, true
}

func billed(s event.RunStarted) event.RunStarted {
	shown := slices.Clone(s.Cards)
	for i := range shown {
		if source := &shown[i].Source; *source != "" {
			*source = path.Base(*source) // of a file on this machine, or a word
		}
	}
	return event.RunStarted{Base: s.Base, Branch: s.Branch, On: s.On, From: s.From, Version: s.Version, Mode: s.Mode, Caps: s.Caps, Cards: shown, Labels: s.Labels, User: s.User}
}

func titled(tasks []event.PlanTask) []event.PlanTask {
	out := make([]event.PlanTask, len(tasks))
	for i, t := range tasks {
		out[i] = event.PlanTask{ID: t.ID, Card: t.Card}
	}
	return out
}

func reported(tasks []event.TaskReport) []event.TaskReport {
	out := make([]event.TaskReport, len(tasks))
	for i, t := range tasks {
		t.Title, t.Detail, t.Files = "", "", nil
		out[i] = t
	}
	return out
}

// outline is a result without its text and its paths: how much a model read of it, and what was the same.
func outline(d event.ToolDone) event.ToolDone {
	out := event.ToolDone{Call: d.Call, Tool: d.Tool, Fault: d.Fault, Ends: d.Ends, Ms: d.Ms, Bytes: int64(len(d.Text)), Loaded: d.Loaded}
	if out.Bytes == 0 {
		out.Bytes = d.Bytes
	}
	for _, s := range d.Seen {
		sum := fnv.New64a()
		sum.Write([]byte(s.Path))
		out.Seen = append(out.Seen, event.Seen{Path: strconv.FormatUint(sum.Sum64(), 36), Hash: s.Hash, From: s.From, To: s.To, Wrote: s.Wrote})
	}
	return out
}

// longestLine is the most that one line of an export may have.
const longestLine = 16 << 20

// Exported is one run of an export, with the lines that it consists of.
type Exported struct {
	Run   *Run
	lines []eventLine
	head  opening
}

// eventLine is an event as it was written.
type eventLine struct {
	id     string
	charge bool // a request or its reply
	text   []byte
}

// ReadExport is the runs of an export. A line that is missing or was changed is an error.
func ReadExport(r io.Reader) ([]*Run, error) {
	parts, err := ParseExport(r)
	var runs []*Run
	for _, p := range parts {
		runs = append(runs, p.Run)
	}
	return runs, err
}

// ParseExport is ReadExport that keeps the lines.
func ParseExport(r io.Reader) ([]Exported, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), longestLine)
	var out []Exported
	var now *Exported
	sum := sha256.New()
	for n := 1; lines.Scan(); n++ {
		line := bytes.Clone(lines.Bytes())
		var kind struct{ Type string }
		if err := json.Unmarshal(line, &kind); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		switch {
		case kind.Type == openingType && now == nil:
			now = &Exported{}
			if err := json.Unmarshal(line, &now.head); err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			now.open()
			sum.Reset()
		case kind.Type == closingType && now != nil:
			var end closing
			if err := json.Unmarshal(line, &end); err != nil || end.Events != len(now.lines) || end.SHA256 != hex.EncodeToString(sum.Sum(nil)) {
				return nil, fmt.Errorf("line %d: the run %s is not what was exported", n, now.head.Run)
			}
			now.close()
			out, now = append(out, *now), nil
		case now != nil:
			if err := now.add(line); err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			sum.Write(append(line, '\n'))
		default:
			return nil, fmt.Errorf("line %d: it is no part of a run", n)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if now != nil {
		return nil, fmt.Errorf("the run %s has no end: the export was cut", now.head.Run)
	}
	return out, nil
}

func (x *Exported) open() {
	x.Run = newRun(x.head.Run)
	x.Run.Repo, x.Run.Birth = x.head.Repo, x.head.Birth
	if x.head.Sizes != nil {
		x.Run.Sizes = x.head.Sizes
	}
}

func (x *Exported) add(line []byte) error {
	var e event.Event
	if err := json.Unmarshal(line, &e); err != nil {
		return err
	}
	if e.Run != x.head.Run || e.ID == "" {
		return errors.New("an event of another run")
	}
	charge, err := sane(e)
	if err != nil {
		return err
	}
	x.Run.Add(e)
	x.lines = append(x.lines, eventLine{e.ID, charge, line})
	return nil
}

func (x *Exported) close() {
	for _, t := range x.Run.Tasks {
		if n, ok := x.head.Lines[t.ID]; ok {
			t.Lines, t.Counted = n, true
		}
	}
}
