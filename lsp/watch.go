package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sourcegraph/conc/panics"

	"colony/tools"
	"colony/view"
)

// Show is what of diagnostics an ant is told.
type Show string

// What an ant may be told. The zero value is nothing.
const (
	ShowNothing  Show = "off"
	ShowErrors   Show = "errors"
	ShowWarnings Show = "warnings" // and errors
	ShowAll      Show = "all"
)

// severity is the least bad one that is told; 0 for none.
func (s Show) severity() int {
	return map[Show]int{ShowErrors: 1, ShowWarnings: 2, ShowAll: 4}[s]
}

// Watch tells one ant what its edits broke. Its layers and Foresee may be used concurrently.
type Watch struct {
	all    *Servers
	show   Show
	redact func(string) string

	mu     sync.Mutex // guards what follows
	order  []string   // the edits of the batch that is under way, by call
	round  *round
	untold map[*kind]bool // whose last round the ant was told nothing of
}

// round is the edits since an ant was last told of problems.
type round struct {
	spent time.Duration
	kinds map[*kind]*edited
	texts map[string]*string // of files before they were edited; nil where there was none
}

// edited is what one server knows of a round.
type edited struct {
	root   *root
	err    error
	before map[string]push
	paths  []string
	beyond []string // that are too many to be shown
}

// Watch is for an ant that is told so much. What it is told passes redact.
func (s *Servers) Watch(show Show, redact func(string) string) *Watch {
	return &Watch{all: s, show: show, redact: redact, round: newRound(), untold: map[*kind]bool{}}
}

func newRound() *round {
	return &round{kinds: map[*kind]*edited{}, texts: map[string]*string{}}
}

// edits reports whether a call is one that the ant is told of.
func edits(p tools.Prepared) bool {
	if p.Call.Name == "symbols" {
		var args struct{ Action string }
		return json.Unmarshal(p.Call.Args, &args) == nil && args.Action == "rename"
	}
	return p.Call.Name == "edit" || p.Call.Name == "write"
}

// Foresee learns which edits a batch holds: the ant is told of all of them with the last.
func (w *Watch) Foresee(calls []tools.Prepared) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.order = nil
	for _, p := range calls {
		if p.Refused == nil && edits(p) {
			w.order = append(w.order, p.Call.ID)
		}
	}
}

// Fold adds to the result of the last edit of a batch what all of them broke. It stands round the layers that may refuse a call.
func (w *Watch) Fold() tools.Layer {
	return func(next tools.Handler) tools.Handler {
		return func(ctx context.Context, env *tools.Env, p tools.Prepared) (tools.Result, error) {
			r, err := next(ctx, env, p)
			if err != nil || !edits(p) || w.show.severity() == 0 || !w.last(p.Call.ID) {
				return r, err
			}
			for _, report := range w.tell(ctx, env) {
				r.Text = strings.TrimRight(r.Text, "\n") + "\n\n" + w.redact(report.text())
				shown := report.view()
				for i := range shown.Items {
					shown.Items[i].Text = w.redact(shown.Items[i].Text)
				}
				r.Views = append(slices.Clip(r.Views), view.View(shown))
			}
			return r, nil
		}
	}
}

// last reports whether no further edit of the batch is to come after a call.
func (w *Watch) last(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := slices.Index(w.order, id)
	return at < 0 || at == len(w.order)-1
}

// Before lets servers know files as they are before an edit. It stands inside the layers that may refuse a call.
func (w *Watch) Before() tools.Layer {
	return func(next tools.Handler) tools.Handler {
		return func(ctx context.Context, env *tools.Env, p tools.Prepared) (tools.Result, error) {
			switch {
			case w.show.severity() == 0:
			case edits(p):
				w.mu.Lock()
				for _, path := range p.Effects.Writes {
					w.prepare(ctx, env, path)
				}
				w.mu.Unlock()
			case len(p.Effects.Writes) > 0:
				w.all.lookAt(ctx, env.Root, p.Effects.Writes)
			case p.Call.Name == "read":
				w.warm(env, p.Effects.Reads)
			}
			return next(ctx, env, p)
		}
	}
}

// warm starts the server of a file that an ant reads which can edit, where there is room: it has read the worktree by the time of
// the first edit.
func (w *Watch) warm(env *tools.Env, paths []string) {
	if _, edits := env.Tools.Lookup("edit"); !edits {
		return
	}
	for _, path := range paths {
		kinds := w.all.kindsOf(path)
		if _, in := within(env.Root, path); !in || len(kinds) == 0 {
			continue
		}
		if k := kinds[0]; k.reserve(env.Root) {
			w.all.tasks.Go(func() {
				ctx, cancel := context.WithTimeout(w.all.ctx, startLimit)
				defer cancel()
				if _, err := k.open(ctx, env.Root); err != nil {
					w.all.parts.Log("language server %s: %v", k.def.Name, err)
				}
			})
		}
	}
}

// bounded does something with a server within what is left of the round's time. It never fails the call.
func (w *Watch) bounded(ctx context.Context, k *kind, do func(context.Context) error) (err error) {
	now := w.all.parts.Now
	begun := now()
	left := k.patience() - w.round.spent
	if left <= 0 {
		return context.DeadlineExceeded
	}
	timed, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	if crash := panics.Try(func() { err = do(timed) }); crash != nil {
		err = fmt.Errorf("colony broke down: %v", crash.Value)
	}
	w.round.spent += now().Sub(begun)
	if ctx.Err() == nil {
		k.answered(!errors.Is(err, context.DeadlineExceeded))
	}
	return err
}

// prepare notes a file as it is before it is edited, and shows it to its server. mu is held.
func (w *Watch) prepare(ctx context.Context, env *tools.Env, path string) {
	if _, in := within(env.Root, path); !in {
		return
	}
	kinds := w.all.kindsOf(path)
	if _, again := w.round.texts[path]; again || len(kinds) == 0 {
		return
	}
	text, at, there := read(env.Root, path)
	w.round.texts[path] = nil
	if there {
		w.round.texts[path] = &text
	}
	for i, k := range kinds {
		if last := i == len(kinds)-1; k.over() && !last {
			continue
		}
		e := w.present(ctx, env, k, path, func(ctx context.Context, e *edited) error { return e.see(ctx, path, text, at, there) })
		if e.err == nil || !k.over() || i == len(kinds)-1 {
			return
		}
		delete(w.round.kinds, k) // it cannot be started: the next one is asked
	}
}

// present makes a server of a kind ready for a file of the round, and lets it see that. mu is held.
func (w *Watch) present(ctx context.Context, env *tools.Env, k *kind, path string, see func(context.Context, *edited) error) *edited {
	e := w.round.kinds[k]
	if e == nil {
		e = &edited{}
		w.round.kinds[k] = e
	}
	if len(e.paths) >= maxDocs/2 {
		e.beyond = append(e.beyond, path)
		return e
	}
	e.paths = append(e.paths, path)
	if e.err != nil {
		return e
	}
	e.err = w.bounded(ctx, k, func(ctx context.Context) error {
		r, err := k.open(ctx, env.Root)
		if err != nil {
			return err
		}
		e.hold(r)
		done, err := e.root.take(ctx)
		if err != nil {
			return err
		}
		defer done()
		return see(ctx, e)
	})
	return e
}

// hold keeps the worktree open for the round, where others can be closed for one.
func (e *edited) hold(r *root) {
	if e.root != r {
		e.release()
		e.root = r
		r.held.Add(1)
	}
}

func (e *edited) release() {
	if e.root != nil {
		e.root.held.Add(-1)
	}
}

// see lets the server know a file before it is edited, and hears what is wrong then.
func (e *edited) see(ctx context.Context, path, text string, at stamp, there bool) error {
	r := e.root
	since := r.server.mark()
	if _, err := r.notice(ctx, e.paths...); err != nil {
		return err
	}
	var shown []string
	if there {
		if err := r.show(ctx, path, text, at); err != nil {
			return err
		}
		shown = append(shown, path)
	}
	if r.opened {
		if err := r.hear(ctx, since, shown...); err != nil {
			return err
		}
	}
	state := r.state()
	if e.before == nil {
		e.before = state
	}
	e.before[path] = state[path]
	return nil
}

// tell ends the round and says what it came to.
func (w *Watch) tell(ctx context.Context, env *tools.Env) []*report {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []*report
	for _, k := range w.all.kinds {
		e := w.round.kinds[k]
		if e == nil {
			continue
		}
		defer e.release()
		if !w.wrote(env, e) {
			continue
		}
		var out *report
		if e.err == nil {
			e.err = w.bounded(ctx, k, func(ctx context.Context) (err error) {
				done, err := e.root.take(ctx)
				if err != nil {
					return err
				}
				defer done()
				out, err = w.judge(ctx, e)
				return err
			})
		}
		if e.err != nil {
			out = w.failed(k, e.err)
		} else if out != nil {
			out.untold = w.untold[k]
		}
		w.untold[k] = e.err != nil
		if out != nil {
			all = append(all, out)
		}
	}
	w.round = newRound()
	return all
}

// wrote reports whether a file of the round is another than it was.
func (w *Watch) wrote(env *tools.Env, e *edited) bool {
	return slices.ContainsFunc(slices.Concat(e.paths, e.beyond), func(path string) bool {
		now, _, there := read(env.Root, path)
		was := w.round.texts[path]
		return there != (was != nil) || there && now != *was
	})
}

// failed is the report of a server that gave none; nil where there is nothing to say.
func (w *Watch) failed(k *kind, err error) *report {
	late := k.def.Name + " ended"
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		late = k.def.Name + " did not answer in time"
	case errors.Is(err, context.Canceled):
		return nil
	case k.over():
		if !k.sayOnce() {
			return nil
		}
		late = k.def.Name + " ended too often and is not asked any more"
	}
	w.all.parts.Log("language server %s: %v", k.def.Name, err)
	return &report{server: k.def.Name, late: late}
}
