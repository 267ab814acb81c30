package ant

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"colony/event"
	"colony/scheduler"
	"colony/tools"
)

// What is known of a call that was cut off. It stands in the rule of its tool.done.
const (
	happened    = "happened"
	notHappened = "not_happened"
	Unclear     = "unclear"
)

// Resume answers the calls that a crash left open: each is known to have happened or not, or is said to be unclear; one
// that waited for a person is asked again. Then the ant is told that it goes on, with what else was lost. It is called
// once, before Work, of an ant with an earlier life. An ant that had ended is told nothing.
func (a *Ant) Resume(ctx context.Context, lost string) error {
	var waiting []tools.Call
	for _, c := range a.memory.Open() {
		if a.memory.waits(c) {
			waiting = append(waiting, c)
			continue
		}
		done := a.memory.recovered(c)
		if err := a.append(ctx, done); err != nil {
			return err
		}
		a.memory.done(done)
		for _, s := range done.Seen {
			a.parts.Env.Files.Apply(tools.Seen(s))
		}
	}
	if err := a.askAgain(ctx, waiting); err != nil {
		return err
	}
	if _, ended := a.memory.Ended(); ended {
		return nil
	}
	return a.nudge(ctx, a.memory.wentOn(lost))
}

// wentOn is what an ant is told that goes on.
func (m *Memory) wentOn(lost string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	text := "Colony was cut off here and goes on. "
	if lost == "" {
		lost = "Your worktree is as it was."
	}
	text += lost
	if len(m.jobs) > 0 {
		text += " These background commands do not run any more: " + strings.Join(m.jobs, "; ") + "."
	}
	m.jobs = nil
	return text
}

// askAgain carries out calls that waited for a person.
func (a *Ant) askAgain(ctx context.Context, calls []tools.Call) error {
	if len(calls) == 0 {
		return nil
	}
	prepared := make([]tools.Prepared, len(calls))
	for i, c := range calls {
		prepared[i] = a.parts.Env.Tools.Prepare(c)
	}
	if err := a.parts.Foresee(ctx, a.parts.Env, prepared); err != nil {
		return err
	}
	results, err := scheduler.Run(ctx, a.parts.Env, prepared, a.parts.Width, a.handler)
	if err != nil {
		return err
	}
	for _, r := range results {
		a.parts.Env.Tools.Load(r.Loaded...)
	}
	return a.recordRest(ctx, prepared, results)
}

// recovered is the result of a call that was cut off.
func (m *Memory) recovered(c tools.Call) event.ToolDone {
	done := event.ToolDone{Call: c.ID, Tool: c.Name, Fault: string(tools.Cancelled), Recovered: true}
	begun, ok := m.begunAs(c.ID)
	switch {
	case !ok:
		done.Rule = notHappened
		done.Text = "interrupted: colony was cut off before this call began, and it did not happen. Call it again if you still want it."
	case begun.Effects.Known && begun.Effects.ReadOnly:
		done.Rule = notHappened
		done.Text = "interrupted: colony was cut off before the result of this call was kept. It changes nothing: call it again if you still want it."
	case len(begun.Planned) == 0:
		done.Rule = Unclear
	default:
		done.Rule = compared(begun)
	}
	switch {
	case done.Rule == Unclear:
		done.Text = "interrupted: colony was cut off while this call ran. Whether it had an effect, or a part of it, is unknown. Look at what is there before you repeat it."
	case done.Rule == happened:
		done.Fault = ""
		done.Text = fmt.Sprintf("interrupted: colony was cut off during this call, and it happened: %s has the content that was planned.", begun.Planned[0].Path)
		for _, p := range begun.Planned {
			done.Seen = append(done.Seen, event.Seen{Path: p.Path, Hash: p.SHA256, From: 1, Wrote: true})
		}
	case done.Text == "":
		done.Text = fmt.Sprintf("interrupted: colony was cut off during this call, and it did not happen: %s is as it was before. Call it again if you still want it.", begun.Planned[0].Path)
	}
	return done
}

// compared says by the content of files whether a write happened: all as planned, or all as before. A file that is not
// among those before was not there.
func compared(begun event.ToolStarted) string {
	planned, before := 0, 0
	for _, p := range begun.Planned {
		was := event.FileHash{Path: p.Path}
		if i := slices.IndexFunc(begun.Before, func(f event.FileHash) bool { return f.Path == p.Path }); i >= 0 {
			was = begun.Before[i]
		}
		now, err := contentOf(p.Path)
		switch {
		case err != nil:
		case now == p.SHA256:
			planned++
		case now == was.SHA256:
			before++
		}
	}
	switch len(begun.Planned) {
	case planned:
		return happened
	case before:
		return notHappened
	}
	return Unclear
}

const longestFile = 64 << 20 // bytes of a file whose content is compared

// contentOf is the hash of a file; empty where there is none.
func contentOf(path string) (string, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > longestFile {
		return "", fmt.Errorf("%s is no file that can be compared", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, longestFile)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func (m *Memory) begunAs(call string) (event.ToolStarted, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.begun[call]
	return s, ok
}
