package builtin_test

import (
	"strings"
	"testing"

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
