package builtin_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"colony/tools"
)

// law 8, whatever the bytes: an edit replaces the one match or changes nothing.
func FuzzEdit(f *testing.F) {
	f.Add("a\r\nb\n", "b", "c", false)
	f.Add("x = 1\nx = 1\nx = 1\n", "x = 1\nx = 1", "y", false)
	f.Add("\xef\xbb\xbfcaf\xe9", "caf", "tea", true)
	f.Fuzz(func(t *testing.T, text, old, new string, all bool) {
		old, new = strings.ToValidUTF8(old, ""), strings.ToValidUTF8(new, "")
		w := newWorld(t)
		w.put("f", text)
		w.ok("read", args{"path": "f"})
		res := w.call("edit", args{"path": "f", "old": old, "new": new, "replace_all": all})
		switch {
		case res.Fault != "" && res.Fault != tools.Validation:
			t.Errorf("%q: %s", res.Fault, res.Text)
		case res.Fault != "":
			w.holds("f", text)
		case all:
			w.holds("f", strings.ReplaceAll(text, old, new))
		default:
			before, after, _ := strings.Cut(text, old)
			w.holds("f", before+new+after)
		}
	})
}

// A page holds exactly the lines that were asked for, whatever the bytes and the range.
func FuzzRead(f *testing.F) {
	f.Add("a\r\nb\n\xe9\x01\nlast", 2, 3)
	f.Add("\xef\xbb\xbfa\n\n\n", 1, 0)
	f.Add("", 5, 9)
	f.Fuzz(func(t *testing.T, text string, from, to int) {
		w := newWorld(t)
		w.put("f", text)
		a := args{"path": "f"}
		if from != 0 {
			a["from"] = from
		}
		if to != 0 {
			a["to"] = to
		}
		res := w.call("read", a)
		lines := strings.SplitAfter(text, "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		switch {
		case res.Fault != "" && res.Fault != tools.Validation:
			t.Fatalf("%q: %s", res.Fault, res.Text)
		case res.Fault != "" || len(res.Seen) != 1 || res.Seen[0].To == 0:
			return // refused, empty, or no text
		}
		first, last := res.Seen[0].From, res.Seen[0].To
		if first != max(from, 1) || last > len(lines) || to > 0 && last > to || last < min(len(lines), max(to, 1)) && len(text) < 1000 {
			t.Fatalf("%d to %d of %d lines shown, wanted %d to %d: %q", first, last, len(lines), from, to, res.Text)
		}
		rest := res.Text
		for n := first; n <= last; n++ {
			line := strings.TrimSuffix(strings.TrimSuffix(lines[n-1], "\n"), "\r")
			if !strings.HasSuffix(lines[n-1], "\n") {
				line = lines[n-1]
			}
			if n == 1 {
				line = strings.TrimPrefix(line, "\ufeff")
			}
			var ok bool
			if rest, ok = strings.CutPrefix(rest, fmt.Sprintf("%d\t", n)); !ok {
				t.Fatalf("line %d is not where it should be: %q", n, rest)
			}
			if utf8.ValidString(line) && !strings.Contains(line, "\x00") && len(line) <= 2000 {
				if rest, ok = strings.CutPrefix(rest, line+"\n"); !ok {
					t.Fatalf("line %d is not %q: %q", n, line, rest)
				}
				continue
			}
			_, rest, _ = strings.Cut(rest, "\n")
		}
		if rest != "" && !strings.HasPrefix(rest, "[") {
			t.Fatalf("%q follows the lines", rest)
		}
	})
}

// No .gitignore file and no pattern makes a search fail or leave the tree.
func FuzzFind(f *testing.F) {
	f.Add("*.o\n!a\n/b/**\n", "**/*.go", `^a\b`)
	f.Add("[\n\\\n", "{a,b}", "(")
	f.Fuzz(func(t *testing.T, ignore, pattern, content string) {
		w := newWorld(t)
		w.put(".gitignore", ignore)
		w.put("a/b/c.go", "a b\n\na")
		w.put("a/x.o", content)
		res := w.call("find", args{"pattern": pattern, "content": strings.ToValidUTF8(content, ""), "hidden": true, "context": 2})
		if res.Fault != "" && res.Fault != tools.Validation {
			t.Errorf("%q: %s", res.Fault, res.Text)
		}
	})
}

// No line makes sh's arguments or effects fail, and what a line prints never moves the working directory out of the tree.
func FuzzSh(f *testing.F) {
	f.Add("cd / > x; `y` | $z")
	f.Add("\x00 /tmp\x00")
	f.Fuzz(func(t *testing.T, text string) {
		w := newWorld(t)
		if _, err := tool("sh").Effects(w.env, raw(t, args{"command": "#" + text})); err != nil {
			if _, ok := err.(*tools.ArgError); !ok {
				t.Error(err)
			}
		}
		w.put("out", text)
		if w.ok("sh", args{"command": "cat out"}); w.cwd != w.env.Root {
			t.Errorf("moved to %s by %q", w.cwd, text)
		}
	})
}
