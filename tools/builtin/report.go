package builtin

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"colony/tools"
)

// report is what a command came to, in words.
type report struct {
	dir      string // where it started
	cwd      string // where the next call starts, if that changed
	out, err string
	notes    string
}

func (r *report) note(format string, args ...any) {
	if r.notes != "" {
		r.notes += "; "
	}
	r.notes += fmt.Sprintf(format, args...)
}

// streams takes over what was captured.
func (r *report) streams(env *tools.Env, out, errs *capture, nonce string) {
	head, tail, gone := out.kept()
	cwd := ""
	switch {
	case nonce == "": // the command tells no directory
	case gone == 0:
		head, cwd = endDir(head, nonce)
	default:
		tail, cwd = endDir(tail, nonce)
	}
	var bad, more int
	r.out, bad = shown(head, tail, gone)
	r.err, more = shown(errs.kept())
	if bad += more; bad > 0 {
		r.note("%s not UTF-8 text, shown as \\xNN", plural(bad, "byte is", "bytes are"))
	}
	r.carry(env, cwd)
}

// carry settles where the next call starts: where the line ended, unless that is outside the worktree.
func (r *report) carry(env *tools.Env, cwd string) {
	if r.dir != env.Cwd() {
		r.cwd = r.dir
	}
	if cwd == "" || cwd == r.dir {
		return
	}
	p, err := locate(env, cwd)
	if err != nil || !p.inside {
		r.note("the line ended in %s, outside the worktree: the next one starts in %s again", cwd, r.dir)
		return
	}
	if info, err := os.Lstat(p.abs); err != nil || !info.IsDir() || p.abs == r.dir {
		return
	}
	r.cwd = p.abs
	r.note("working directory: %s", p.abs)
}

// ended notes how a command ended, within its limit or not.
func (r *report) ended(ctx, limited context.Context, err error, exit tools.Exit, limit time.Duration) tools.Fault {
	switch killed := err != nil || exit.Signal != ""; {
	case killed && ctx.Err() != nil:
		r.note("cancelled; this is the output so far")
		return tools.Cancelled
	case killed && limited.Err() != nil:
		r.note("timed out after %s and was ended with all it started; this is the output so far", limit)
		return tools.Timeout
	case exit.Signal != "":
		r.note("ended by %s, exit code %d, after %s", exit.Signal, exit.Code, exit.Duration.Round(time.Millisecond))
	case exit.Code != 0:
		r.note("exit code %d after %s", exit.Code, exit.Duration.Round(time.Millisecond))
	}
	return ""
}

func (r *report) text() string {
	var out strings.Builder
	part := func(s string) {
		if s == "" {
			return
		}
		if out.Len() > 0 && !strings.HasSuffix(out.String(), "\n") {
			out.WriteByte('\n')
		}
		out.WriteString(s)
	}
	part(r.out)
	if r.err != "" {
		part("[stderr]\n" + r.err)
	}
	if out.Len() == 0 {
		part("[no output]")
	}
	if r.notes != "" {
		part("[" + r.notes + "]")
	}
	return out.String()
}

const progressEvery = 200 * time.Millisecond

// newCapture shows the last line of what comes in as progress, now and then, up to the mark that holds a call's secret.
func newCapture(env *tools.Env, nonce string) *capture {
	var last time.Time
	var held []byte // what came last, where it may be how the mark begins
	over := false
	return &capture{tell: func(p []byte) {
		if env.Progress == nil || over {
			return
		}
		if len(held) > 0 {
			p = append(held, p...)
		}
		p, held, over = unmarked(p, nonce)
		now := env.Now()
		if now.Sub(last) < progressEvery {
			return
		}
		p = bytes.TrimRight(p, "\r\n")
		line, _ := mark(p[bytes.LastIndexAny(p, "\r\n")+1:])
		if line = clip(line, maxMatchLine); line != "" {
			last = now
			env.Progress(line)
		}
	}}
}

// unmarked is what comes before the mark that tells where a line ended; what may be the beginning of one, at the end; and whether
// it has begun.
func unmarked(p []byte, nonce string) (before, held []byte, begun bool) {
	if nonce == "" {
		return p, nil, false
	}
	mark := []byte("\x00" + nonce)
	if i := bytes.Index(p, mark); i >= 0 {
		return p[:i], nil, true
	}
	for n := min(len(mark)-1, len(p)); n > 0; n-- {
		if at := len(p) - n; bytes.HasSuffix(p, mark[:n]) {
			return p[:at], bytes.Clone(p[at:]), false
		}
	}
	return p, nil, false
}
