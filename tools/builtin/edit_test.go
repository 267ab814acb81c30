package builtin_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"colony/tools"
	"colony/view"
)

// contract 39, cases ED01, ED02, ED04, ED05 and ED06
func TestEdits(t *testing.T) {
	var cases []struct {
		Name, Text, Hex, Want, Says string
		WantHex                     string `json:"want_hex"`
		Fault                       tools.Fault
		Edits                       []map[string]any
	}
	load(t, "testdata/edits.json", &cases)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			w := newWorld(t)
			before, want := c.Text+unhex(t, c.Hex), c.Want+unhex(t, c.WantHex)
			w.put("f", before)
			w.ok("read", args{"path": "f"})
			if c.Fault != "" {
				w.fault(c.Fault, c.Says, "edit", args{"path": "f", "edits": c.Edits})
				w.holds("f", before)
				return
			}
			w.ok("edit", args{"path": "f", "edits": c.Edits})
			w.holds("f", want)
		})
	}
}

func load(t *testing.T, file string, into any) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

func unhex(t *testing.T, s string) string {
	out, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// law 8, contract 39: bytes outside the match never change, and the diff says what changed.
func TestBytesOutsideAnEditStay(t *testing.T) {
	w := newWorld(t)
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		piece := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "\n", "\r\n", "\t", " ", "é", "\xe9", "\xef\xbb\xbf", "foo", "\\1", "$&"}), 0, 12)
		join := func(label string) string { return strings.Join(piece.Draw(r, label), "") }
		head, tail := join("head"), join("tail")
		was, now := "<"+strings.ToValidUTF8(join("old"), "?")+">", strings.ToValidUTF8(join("new"), "?")
		n++
		name := fmt.Sprintf("f%d", n)
		w.put(name, head+was+tail)
		w.ok("read", args{"path": name})
		res := w.ok("edit", args{"path": name, "old": was, "new": now})
		if got, want := w.get(name), head+now+tail; got != want {
			r.Fatalf("got %q, want %q", got, want)
		}
		diff := res.Views[0].(view.Diff)
		if back := patched(r, head+was+tail, diff.Unified); back != head+now+tail {
			r.Fatalf("diff %q gives %q", diff.Unified, back)
		}
		w.must(os.Remove(w.path(name)))
	})
}

// patched applies a unified diff, and fails where it does not fit.
func patched(t interface{ Fatalf(string, ...any) }, text, diff string) string {
	have := strings.SplitAfter(text, "\n")
	var out strings.Builder
	at := 0
	lines := strings.SplitAfter(diff, "\n")
	for i, line := range lines[:len(lines)-1] {
		body := line[1:]
		if strings.HasPrefix(lines[i+1], "\\") {
			body = strings.TrimSuffix(body, "\n")
		}
		switch {
		case line[0] == '\\':
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
		case strings.HasPrefix(line, "@@ "):
			from, count := 0, 1
			if n, _ := fmt.Sscanf(line, "@@ -%d,%d", &from, &count); n == 0 {
				t.Fatalf("hunk %q", line)
			}
			for ; at < from-min(count, 1); at++ {
				out.WriteString(have[at])
			}
		case line[0] == '+':
			out.WriteString(body)
		default:
			if at >= len(have) || have[at] != body {
				t.Fatalf("line %d is not %q in diff %q", at+1, body, diff)
			}
			at++
			if line[0] == ' ' {
				out.WriteString(body)
			}
		}
	}
	return out.String() + strings.Join(have[at:], "")
}

// Law 8 for several edits at once: the same as one replacement after another, and all of the diff applies.
func TestSeveralEditsAreOneAfterAnother(t *testing.T) {
	w := newWorld(t)
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "\n"}), 1, 40).Draw(r, "text"), "")
		want, edits := text, []map[string]any{}
		for range rapid.IntRange(1, 5).Draw(r, "edits") {
			from := rapid.IntRange(0, len(want)).Draw(r, "from")
			to := rapid.IntRange(from, len(want)).Draw(r, "to")
			put := rapid.SampledFrom([]string{"", "x", "b\n", "yy\n\n"}).Draw(r, "new")
			if from == to || put == want[from:to] {
				continue
			}
			edits = append(edits, map[string]any{"old": want[from:to], "new": put, "replace_all": true})
			want = strings.ReplaceAll(want, want[from:to], put)
		}
		if len(edits) == 0 {
			return
		}
		n++
		name := fmt.Sprintf("g%d", n)
		w.put(name, text)
		w.ok("read", args{"path": name})
		res := w.ok("edit", args{"path": name, "edits": edits})
		if got := w.get(name); got != want {
			r.Fatalf("%q with %v gives %q, want %q", text, edits, got, want)
		}
		if len(res.Views) > 0 {
			diff := res.Views[0].(view.Diff).Unified
			if back := patched(r, text, diff); back != want {
				r.Fatalf("diff %q gives %q", diff, back)
			}
		}
		w.must(os.Remove(w.path(name)))
	})
}

// contract 40: a reader sees the old content or the new one, and no other file is left.
func TestAReaderSeesOldOrNew(t *testing.T) {
	w := newWorld(t)
	old, new := strings.Repeat("a", 200_000), strings.Repeat("b", 300_000)
	w.put("f", old)
	w.ok("read", args{"path": "f"})
	done := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			if got, err := os.ReadFile(w.path("f")); err != nil || string(got) != old && string(got) != new {
				t.Errorf("read %d bytes, %v", len(got), err)
			}
		}
	})
	for range 30 {
		w.ok("write", args{"path": "f", "content": new})
		w.ok("write", args{"path": "f", "content": old})
	}
	close(done)
	group.Wait()
	left, err := filepath.Glob(w.path(".*"))
	if w.must(err); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// What is said to be nearest in a long file is the nearest of its beginning, and says so.
func TestNearestInALongFile(t *testing.T) {
	w := newWorld(t)
	w.put("f", strings.Repeat("one two three\n", 20_001))
	w.ok("read", args{"path": "f"})
	w.fault(tools.Validation, "\n  only the first 20000 lines were compared", "edit", args{"path": "f", "old": "one two tree", "new": "x"})
	w.put("g", strings.Repeat("one two three\n", 20_000))
	w.ok("read", args{"path": "g"})
	if res := w.call("edit", args{"path": "g", "old": "one two tree", "new": "x"}); strings.Contains(res.Text, "only the first") {
		t.Error(res.Text)
	}
}

// contract 34: a preview says the planned hash and touches nothing; the run leaves what was planned.
func TestAPreviewIsWhatTheRunDoes(t *testing.T) {
	w := newWorld(t)
	w.put("f", "one\n")
	w.ok("read", args{"path": "f"})
	for name, a := range map[string]args{
		"edit":  {"path": "f", "old": "one", "new": "two"},
		"write": {"path": "new/g", "content": "g\n"},
	} {
		pre, err := tool(name).(tools.Previewer).Preview(t.Context(), w.env, raw(t, a))
		w.must(err)
		w.holds("f", "one\n")
		if _, err := os.Stat(w.path("new")); !os.IsNotExist(err) {
			t.Fatal("the preview made a directory")
		}
		res := w.ok(name, a)
		if !bytes.Equal([]byte(pre.Seen[0].Hash), []byte(res.Seen[0].Hash)) || !pre.Seen[0].Wrote {
			t.Errorf("%s: planned %+v, did %+v", name, pre.Seen, res.Seen)
		}
		if fmt.Sprint(pre.Views) != fmt.Sprint(res.Views) || len(res.Views) != 1 {
			t.Errorf("%s: preview shows %v, run %v", name, pre.Views, res.Views)
		}
		w.must(os.RemoveAll(w.path("new")))
		w.put("f", "one\n")
	}
}

// The diff of edits far apart has a hunk for each, with the lines of the file before and after; of many edits close
// together it takes no time that grows with their number times the file.
func TestDiffsOfEditsFarApartAndDense(t *testing.T) {
	w := newWorld(t)
	var text strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&text, "line %d\n", i+1)
	}
	w.put("f", text.String())
	w.ok("read", args{"path": "f"})
	w.ok("read", args{"path": "f", "from": 2001})
	res := w.ok("edit", args{"path": "f", "edits": []args{
		{"old": "line 10\n", "new": "ten\nand more\n"}, {"old": "line 13\n", "new": "thirteen\n"}, {"old": "line 2500\n", "new": ""}}})
	diff := res.Views[0].(view.Diff)
	for _, says := range []string{"@@ -7,10 +7,11 @@\n line 7\n", "-line 10\n+ten\n+and more\n line 11\n line 12\n-line 13\n+thirteen\n line 14\n",
		"@@ -2497,7 +2498,6 @@\n line 2497\n", "-line 2500\n line 2501\n"} {
		if !strings.Contains(diff.Unified, says) {
			t.Errorf("%q is not in\n%s", says, diff.Unified)
		}
	}
	if diff.Added != 3 || diff.Removed != 3 {
		t.Errorf("+%d -%d", diff.Added, diff.Removed)
	}
	w.ok("write", args{"path": "dense2", "content": strings.Repeat("a\n", 60_000)})
	res = w.ok("edit", args{"path": "dense2", "old": "a", "new": "b", "replace_all": true})
	if d := res.Views[0].(view.Diff); d.Added != 60_000 || d.Removed != 60_000 {
		t.Errorf("+%d -%d", d.Added, d.Removed)
	}
}

// Contents too big to compare are written all the same: the view holds the diff where little changed, and
// else how many lines went and came.
func TestABigWriteIsSummed(t *testing.T) {
	w := newWorld(t)
	big := strings.Repeat("a\n", 1<<19)
	w.ok("write", args{"path": "f", "content": big})
	little := big[:1<<19] + "b\n" + big[1<<19:]
	res := w.ok("write", args{"path": "f", "content": little})
	if d := res.Views[0].(view.Diff); d.Added != 1 || d.Removed != 0 || !strings.Contains(d.Unified, "\n+b\n") {
		t.Errorf("added %d, removed %d: %.200s", d.Added, d.Removed, d.Unified)
	}
	w.holds("f", little)
	res = w.ok("write", args{"path": "f", "content": strings.Repeat("b\n", 1<<19)})
	if d := res.Views[0].(view.Diff); d.Added != 1<<19 || d.Removed < 1<<19 || len(d.Unified) > 100 {
		t.Errorf("added %d, removed %d, %d bytes of diff", d.Added, d.Removed, len(d.Unified))
	}
	if res := w.ok("write", args{"path": "f", "content": strings.Repeat("b\n", 1<<19)}); len(res.Views) > 0 || !strings.HasPrefix(res.Text, "unchanged") {
		t.Errorf("the same again: %s", res.Text)
	}
	w.fault(tools.Validation, "too big", "write", args{"path": "g", "content": strings.Repeat("x", 17<<20)})
}
