package builtin

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"golang.org/x/sys/unix"

	"colony/tools"
)

const maxEdit = 16 << 20 // bytes of a file that write and edit take

// change is one file before and after a call.
type change struct {
	place         place
	exists        bool
	mode          os.FileMode
	before, after []byte
	was, is       string       // hashes of before and after
	edits         []udiff.Edit // from before to after, in order
	seen          []tools.Seen // the lines of after that the ant knows
}

// begin finds the file a call would change. A refusal is a result.
func begin(env *tools.Env, op, path string) (change, *tools.Result, error) {
	p, err := locate(env, path)
	if err != nil {
		res, err := invalid(err)
		return change{}, &res, err
	}
	if !p.inside {
		return refused(outside(env, path, p))
	}
	f, info, err := openPlace(env, p)
	if errors.Is(err, unix.ENOENT) {
		return change{place: p}, nil, nil
	}
	if err != nil {
		return refused(broken(op, path, err))
	}
	defer f.Close()
	if info.IsDir() {
		return refused(broken(op, path, unix.EISDIR))
	}
	data, err := load(f, info, maxEdit)
	if err != nil {
		return refused(broken(op, path, err))
	}
	if info.Mode().Perm()&0o222 == 0 {
		return refused(tools.Refuse(tools.PermissionDenied, op+" "+path+": the file is read-only (mode "+info.Mode().Perm().String()+")"))
	}
	return change{place: p, exists: true, mode: info.Mode() & (os.ModePerm | os.ModeSetuid | os.ModeSetgid | os.ModeSticky),
		before: data, was: hashOf(data)}, nil, nil
}

func refused(r tools.Result) (change, *tools.Result, error) { return change{}, &r, nil }

// become sets the content after the call, of which the ant knows all.
func (c *change) become(after []byte, edits []udiff.Edit) {
	c.after, c.is, c.edits = after, hashOf(after), edits
	c.seen = []tools.Seen{{Path: c.place.abs, Hash: c.is, From: 1, Wrote: true}}
}

// keepKnown says of the lines after the edits that the ant knows those which it knew before, or put there itself.
func (c *change) keepKnown(parts []tools.Seen) {
	touched, last := touched(c.before, c.edits), countLines(c.before)
	grown := func(i int) int {
		return strings.Count(c.edits[i].New, "\n") - bytes.Count(c.before[c.edits[i].Start:c.edits[i].End], []byte("\n"))
	}
	var seen []tools.Seen
	for _, p := range parts {
		before, inside := 0, 0
		for i, t := range touched {
			switch {
			case t.from < p.From:
				before += grown(i)
			case p.To == 0 || t.from <= p.To:
				inside += grown(i)
			}
		}
		p.Hash, p.Wrote = c.is, true
		p.From += before
		if p.To >= last { // what the file ends with is known
			p.To = 0
		} else if p.To > 0 {
			p.To += before + inside
		}
		if p.To == 0 || p.To >= p.From {
			seen = append(seen, p)
		}
	}
	if len(seen) > 0 {
		c.seen = seen
	}
}

// stale says whether the ant has not seen what it is about to change: the file as it is now, and every
// line of it from one of the spans.
func (c change) stale(env *tools.Env, path string, spans []span) *tools.Result {
	if !c.exists {
		return nil
	}
	known, ok := env.Files.Known(c.place.abs)
	why := ""
	switch {
	case !ok:
		why = "it was not read yet"
	case known != c.was:
		why = "it changed since it was read"
	default:
		for _, s := range spans {
			if !env.Files.Covers(c.place.abs, c.was, s.from, s.to) {
				why = fmt.Sprintf("lines %d to %d were not read", s.from, s.to)
				break
			}
		}
	}
	if why == "" {
		return nil
	}
	res := tools.Refuse(tools.StaleRead, fmt.Sprintf("%s: %s; read it first, then repeat the call", path, why))
	return &res
}

// apply writes the file and tells the ant's file state at once, for the next call of the batch.
func (c change) apply(env *tools.Env) error {
	if c.exists && bytes.Equal(c.before, c.after) {
		return nil
	}
	if err := replace(env.Root, c.place.rel, c.after, c.mode); err != nil {
		return err
	}
	env.Files.Apply(c.seen...)
	return nil
}

// preview is the result of a call that was not run: the planned hash, then the one before if there is one.
func (c change) preview(text string) tools.Result {
	res := tools.Result{Text: text, Views: c.views(), Seen: []tools.Seen{{Path: c.place.abs, Hash: c.is, From: 1, Wrote: true}}}
	if c.exists {
		res.Seen = append(res.Seen, tools.Seen{Path: c.place.abs, Hash: c.was, From: 1})
	}
	return res
}

// done is the result of a call that ran.
func (c change) done(text string) tools.Result {
	return tools.Result{Text: text, Views: c.views(), Seen: c.seen}
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
