package lsp

import (
	"context"
	"maps"
	"slices"
	"time"

	"go.lsp.dev/protocol"
)

// judge shows the server what was edited and says what became of the problems.
func (w *Watch) judge(ctx context.Context, e *edited) (*report, error) {
	r := e.root
	users, err := w.dependents(ctx, e)
	if err != nil {
		return nil, err
	}
	since := r.server.mark()
	shown, texts, err := w.showAll(ctx, e)
	if err != nil {
		return nil, err
	}
	if _, err := r.notice(ctx, e.paths...); err != nil {
		return nil, err
	}
	if err := r.hear(ctx, since, shown...); err != nil {
		return nil, err
	}
	partly := len(users) > 0 && r.hearUsers(ctx, since, users) != nil
	if partly && !r.server.alive() {
		return nil, errGone
	}
	out := w.report(e, texts)
	out.partly = partly
	return out, nil
}

// showAll shows the server the edited files as they are now, and says which are there.
func (w *Watch) showAll(ctx context.Context, e *edited) (shown []string, texts map[string]string, err error) {
	r := e.root
	texts = map[string]string{}
	var events []protocol.FileEvent
	for _, path := range e.paths {
		text, _, there := read(r.dir, path)
		was := w.round.texts[path]
		switch {
		case there && was == nil:
			events = append(events, protocol.FileEvent{URI: uriOf(path), Type: protocol.FileChangeTypeCreated})
		case !there && was != nil:
			events = append(events, protocol.FileEvent{URI: uriOf(path), Type: protocol.FileChangeTypeDeleted})
		}
		if !there {
			if err := r.gone(ctx, path); err != nil {
				return nil, nil, err
			}
			continue
		}
		texts[path] = text
		shown = append(shown, path)
	}
	for _, path := range e.beyond {
		events = append(events, protocol.FileEvent{URI: uriOf(path), Type: protocol.FileChangeTypeChanged})
	}
	if len(events) > 0 {
		if err := r.tell(ctx, events); err != nil {
			return nil, nil, err
		}
	}
	for _, path := range shown {
		if err := r.show(ctx, path, texts[path], stampAt(path)); err != nil {
			return nil, nil, err
		}
	}
	return shown, texts, nil
}

// others is how long is waited for what a server says unasked of other files than the edited one.
const others = 500 * time.Millisecond

// hearUsers hears what the server says of other files. One that is not asked says it when it wants to.
func (r *root) hearUsers(ctx context.Context, since int, users []string) error {
	if _, pulls := r.server.pullsAs(); !pulls {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, others)
		defer cancel()
	}
	return r.hear(ctx, since, users...)
}

// dependents are files that the edits may have broken, of a server that speaks only of files that are open: users of what was
// edited, and where it can be asked, those that had problems. They are open when it returns, and what was wrong with them before
// is known.
func (w *Watch) dependents(ctx context.Context, e *edited) ([]string, error) {
	r := e.root
	_, pulls := r.server.pullsAs()
	if r.server.kind.def.Tells || !pulls && !r.server.can.can["referencesProvider"] {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, w.all.parts.Wait/3) // the answer about the edited file itself comes after it
	defer cancel()
	found := map[string]bool{}
	for _, path := range e.paths {
		was := w.round.texts[path]
		if was == nil {
			continue
		}
		now, _, _ := read(r.dir, path)
		from, to, _ := changed(*was, now)
		for _, user := range r.users(ctx, path, from, to) {
			found[user] = true
		}
	}
	for path, p := range r.state() {
		if pulls && len(p.problems) > 0 {
			found[path] = true
		}
	}
	for _, path := range e.paths {
		delete(found, path)
	}
	all := slices.Sorted(maps.Keys(found))
	all = all[:min(len(all), maxUsers)]
	var open []string
	since := r.server.mark()
	for _, path := range all {
		text, at, there := read(r.dir, path)
		if !there {
			continue
		}
		if _, mine := r.server.kind.def.language(path); !mine {
			continue
		}
		if err := r.show(ctx, path, text, at); err != nil {
			return nil, err
		}
		open = append(open, path)
	}
	for _, path := range open {
		if _, known := e.before[path]; known {
			continue
		}
		if err := r.saidOf(ctx, since, path); err != nil {
			return slices.DeleteFunc(open, func(path string) bool { _, known := e.before[path]; return !known }), nil
		}
		e.before[path] = r.state()[path]
	}
	return open, nil
}

// report compares what is known now with what was known before.
func (w *Watch) report(e *edited, texts map[string]string) *report {
	r := e.root
	out := &report{server: r.server.kind.def.Name, dir: r.dir, enc: r.server.can.enc, lines: func(path string) []string {
		if d := r.docs[path]; d != nil {
			return lines(d.text)
		}
		text, _, _ := read(r.dir, path)
		return lines(text)
	}}
	after, least := r.state(), w.show.severity()
	paths := map[string]bool{}
	for path := range after {
		paths[path] = true
	}
	for path := range e.before {
		paths[path] = true
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		own := slices.Contains(e.paths, path)
		moved := func(line int) int { return line }
		if was := w.round.texts[path]; own && was != nil {
			moved = mover(*was, texts[path])
		}
		f := found{path: path, more: after[path].more}
		f.brought, f.had, f.gone = compare(atMost(e.before[path].problems, least), atMost(after[path].problems, least), moved)
		switch {
		case own:
			out.own = append(out.own, f)
		case len(f.brought)+len(f.had)+f.gone > 0:
			out.others = append(out.others, f)
		}
	}
	slices.SortStableFunc(out.others, func(a, b found) int { return len(b.brought) - len(a.brought) })
	return out
}
