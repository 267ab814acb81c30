package builtin_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"colony/tools"
)

// contract 61, cases FS01 to FS03: nothing outside the worktree is read or written, by Run or by Preview, and Effects
// name the place where the path leads.
func TestNoPathLeavesTheWorktree(t *testing.T) {
	var cases []struct {
		Name, Tool, Path string
		Links            map[string]string
	}
	load(t, "testdata/paths.json", &cases)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			w := newWorld(t)
			base := w.env.Root
			w.env.Root = filepath.Join(base, "repo")
			w.cwd = w.env.Root
			for _, f := range []string{"../outside/secret", "../repo-evil/secret", "sub/dir/f"} {
				w.put(f, "canary")
			}
			fill := strings.NewReplacer("ROOT", w.env.Root).Replace
			for from, to := range c.Links {
				w.must(os.Symlink(fill(to), w.path(from)))
			}
			a := args{"path": fill(c.Path)}
			switch c.Tool {
			case "write":
				a["content"] = "x"
			case "edit":
				a["old"], a["new"] = "canary", "x"
			}
			res := w.fault(tools.PermissionDenied, "outside the worktree", c.Tool, a)
			if strings.Contains(res.Text, "canary") {
				t.Errorf("the text tells: %s", res.Text)
			}
			if p, ok := tool(c.Tool).(tools.Previewer); ok {
				res, err := p.Preview(t.Context(), w.env, raw(t, a))
				if err != nil || res.Fault != tools.PermissionDenied {
					t.Errorf("preview: %q %v", res.Fault, err)
				}
			}
			effects, err := tool(c.Tool).Effects(w.env, raw(t, a))
			w.must(err)
			for _, path := range slices.Concat(effects.Reads, effects.Writes) {
				if strings.HasPrefix(path, w.env.Root+"/") || !filepath.IsAbs(path) {
					t.Errorf("effects: %+v", effects)
				}
			}
			w.holds("../outside/secret", "canary")
			if left, err := os.ReadDir(w.path("../outside")); err != nil || len(left) != 1 {
				t.Errorf("outside holds %v, %v", left, err)
			}
		})
	}
}

// contract 37
func TestWhatWasNotReadIsNotChanged(t *testing.T) {
	w := newWorld(t)
	w.put("f", "one\ntwo\n")
	w.fault(tools.StaleRead, "not read yet", "edit", args{"path": "f", "old": "one", "new": "1"})
	w.fault(tools.StaleRead, "not read yet", "write", args{"path": "f", "content": ""})
	w.ok("read", args{"path": "f"})
	old, err := os.Stat(w.path("f"))
	w.must(err)
	w.put("f", "one\nTWO\n") // same size, and the same time:
	w.must(os.Chtimes(w.path("f"), old.ModTime(), old.ModTime()))
	w.fault(tools.StaleRead, "changed since", "edit", args{"path": "f", "old": "one", "new": "1"})
	w.fault(tools.StaleRead, "changed since", "write", args{"path": "f", "content": ""})
	w.holds("f", "one\nTWO\n")
	w.ok("read", args{"path": "f"})
	w.must(os.Chtimes(w.path("f"), time.Time{}, time.Unix(1, 0)))
	w.ok("edit", args{"path": "f", "old": "one", "new": "1"})
	w.ok("edit", args{"path": "f", "old": "TWO", "new": "2"}) // an own write refreshes
	w.ok("write", args{"path": "new/g", "content": "g"})      // creating needs no read
	w.ok("write", args{"path": "new/g", "content": "h"})
	w.holds("f", "1\n2\n")
	w.env.Files.Clear() // as a compaction does
	w.fault(tools.StaleRead, "not read yet", "edit", args{"path": "f", "old": "1", "new": "one"})
}

// contract 38
func TestARangeArmsWhatItShowed(t *testing.T) {
	w := newWorld(t)
	w.put("f", "1\n2\n3\n4\n5\n6\n")
	w.ok("read", args{"path": "f", "from": 2, "to": 3})
	w.ok("read", args{"path": "f", "from": 4, "to": 5})
	w.fault(tools.StaleRead, "lines 6 to 6", "edit", args{"path": "f", "old": "6", "new": "x"})
	w.fault(tools.StaleRead, "lines 1 to 6", "write", args{"path": "f", "content": ""})
	first := w.ok("read", args{"path": "f", "from": 1, "to": 2})
	again := w.ok("read", args{"path": "f", "from": 1, "to": 2})
	if !strings.Contains(first.Text, "1\t1\n2\t2\n") || !strings.Contains(again.Text, "unchanged") {
		t.Errorf("first %q, again %q", first.Text, again.Text)
	}
	w.ok("edit", args{"path": "f", "old": "3\n4", "new": "x"})
	if after := w.ok("read", args{"path": "f", "from": 1, "to": 2}); strings.Contains(after.Text, "unchanged") {
		t.Errorf("after a change: %q", after.Text)
	}
	if rest := w.ok("read", args{"path": "f"}); !strings.Contains(rest.Text, "5\t6\n") {
		t.Errorf("what was never shown is a stub: %q", rest.Text)
	}
}

// contract 38: what an edit leaves is known as far as it was read or put there, and no further.
func TestAnEditArmsNoMoreThanWasRead(t *testing.T) {
	w := newWorld(t)
	w.put("f", "1\n2\n3\n4\n5\n6\n7\n8\n")
	w.ok("read", args{"path": "f", "from": 2, "to": 3})
	w.ok("read", args{"path": "f", "from": 6, "to": 7})
	w.ok("edit", args{"path": "f", "old": "2\n", "new": "2\na\nb\n"})
	w.holds("f", "1\n2\na\nb\n3\n4\n5\n6\n7\n8\n")
	w.fault(tools.StaleRead, "lines 1 to 10 were not read", "write", args{"path": "f", "content": ""})
	w.fault(tools.StaleRead, "lines 6 to 6 were not read", "edit", args{"path": "f", "old": "4", "new": "x"})
	w.ok("edit", args{"path": "f", "edits": []args{{"old": "7\n", "new": ""}, {"old": "b", "new": "B"}}})
	w.fault(tools.StaleRead, "lines 9 to 9 were not read", "edit", args{"path": "f", "old": "8", "new": "x"})
	w.ok("edit", args{"path": "f", "old": "6\n", "new": "six\n"})
	w.holds("f", "1\n2\na\nB\n3\n4\n5\nsix\n8\n")
	w.ok("read", args{"path": "f"})
	w.ok("edit", args{"path": "f", "old": "8\n", "new": "8\n9\n"})
	w.ok("write", args{"path": "f", "content": "all\n"})
}

// What is not UTF-8 is said when it is read, and a write never puts in its place what stands for it.
func TestWhatIsNotUTF8IsNotLost(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct{ before, reads, content, says string }{
		{"caf\xe9\n", "1\tcaf\\xe9\n[1 byte is not UTF-8, shown as \\xNN]", "caf\ufffd\n", "content holds U+FFFD"},
		{"caf\xe9\n", "", "caf\\xe9\n", "content holds \\xe9, which read shows"},
		{"\xff\xfea\x00\n\x00", "is UTF-16 text, which is not shown", "a\n", "UTF-16 text, and would become UTF-8"},
		{"\xfe\xff\x00a\x00\n", "is UTF-16 text, which is not shown", "a\n", "UTF-16 text, and would become UTF-8"},
		{"a\x00b", "is a binary file (3 bytes)", "ab", "it is a binary file"},
	} {
		w.put("f", c.before)
		if res := w.ok("read", args{"path": "f"}); c.reads != "" && !strings.Contains(res.Text, c.reads) {
			t.Errorf("%q reads as %q", c.before, res.Text)
		}
		w.fault(tools.Validation, c.says, "write", args{"path": "f", "content": c.content})
		w.holds("f", c.before)
	}
	w.put("g", "caf\xe9 \\xe9\n") // the spelling is the file's own
	w.ok("read", args{"path": "g"})
	w.ok("write", args{"path": "g", "content": "café \\xe9\n"})
	w.put("h", "\xef\xbb\xbfa\n")
	if res := w.ok("read", args{"path": "h"}); !strings.HasPrefix(res.Text, "1\ta\n[the file begins with a byte order mark") {
		t.Errorf("%q", res.Text)
	}
	w.ok("edit", args{"path": "h", "old": "a", "new": "b"})
	w.holds("h", "\xef\xbb\xbfb\n")
}

func TestRead(t *testing.T) {
	w := newWorld(t)
	w.put("text", "a\nb\nc")
	w.put("empty", "")
	w.put("crlf", "a\r\nb\r\n")
	w.put("bad", "caf\xe9\n")
	w.put("bin", "\x7fELF\x00\x01")
	w.put("wide", "\xff\xfea\x00")
	w.put("png", "\x89PNG\r\n\x1a\n\x00\x00")
	w.put("d/x", "")
	w.put("long", strings.Repeat("line\n", 5000))
	w.put("cut", strings.Repeat("é", 3000)+"\nshort\n")
	cases := []struct {
		args args
		want []string
	}{
		{args{"path": "text"}, []string{"1\ta\n2\tb\n3\tc\n"}},
		{args{"path": "text", "from": 2, "to": 2}, []string{"2\tb\n", "lines 2 to 2 of 3", "from: 3"}},
		{args{"path": "text", "from": 3, "to": 99}, []string{"3\tc\n"}},
		{args{"path": "empty"}, []string{"is empty"}},
		{args{"path": "crlf"}, []string{"1\ta\n2\tb\n", `end in \r\n`}},
		{args{"path": "bad"}, []string{`caf\xe9`, "1 byte is not UTF-8"}},
		{args{"path": "bin"}, []string{"binary file (6 bytes)"}},
		{args{"path": "wide"}, []string{"UTF-16"}},
		{args{"path": "png"}, []string{"image/png"}},
		{args{"path": "."}, []string{"directory with 10 entries", "\nd/\n"}},
		{args{"path": "long"}, []string{"lines 1 to 2000 of 5000", "from: 2001"}},
		{args{"path": "cut"}, []string{"é … [line cut: 6001 bytes]\n2\tshort", "cut lines: 1"}},
	}
	for _, c := range cases {
		res := w.ok("read", c.args)
		for _, want := range c.want {
			if !strings.Contains(res.Text, want) {
				t.Errorf("read %v: %q misses %q", c.args, res.Text, want)
			}
		}
		if len(res.Text) > tools.DefaultResultCap || strings.Contains(res.Text, "\ufffd") {
			t.Errorf("read %v: %d bytes of text", c.args, len(res.Text))
		}
	}
	w.fault(tools.Validation, "has 3 lines", "read", args{"path": "text", "from": 4})
	if res := w.ok("read", args{"path": "long"}); !strings.Contains(res.Text, "unchanged") {
		t.Errorf("again: %.80q", res.Text)
	}
}

// contract 45: what was spilled can be read, page by page, though it is not in the worktree.
func TestASpilledResultCanBeRead(t *testing.T) {
	w := newWorld(t)
	ref, err := w.env.Blobs.Put("text/plain", []byte("one\ntwo\n"))
	w.must(err)
	if res := w.ok("read", args{"path": w.env.Blobs.Path(ref), "from": 2}); !strings.Contains(res.Text, "2\ttwo") {
		t.Errorf("%q", res.Text)
	}
	w.fault(tools.PermissionDenied, "outside", "read", args{"path": filepath.Dir(w.env.Blobs.Path(ref))})
}

func TestACancelledChangeTouchesNothing(t *testing.T) {
	w := newWorld(t)
	w.put("f", "one\n")
	w.ok("read", args{"path": "f"})
	unlock, err := w.env.Locks.Lock(t.Context(), w.path("f"))
	w.must(err)
	ctx, stop := context.WithCancelCause(t.Context())
	stop(errors.New("stopped"))
	if res := w.callIn(ctx, "edit", args{"path": "f", "old": "one", "new": "1"}); res.Fault != tools.Cancelled {
		t.Errorf("%q: %s", res.Fault, res.Text)
	}
	unlock()
	w.holds("f", "one\n")
}
