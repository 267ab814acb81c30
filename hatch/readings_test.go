package hatch

import (
	"slices"
	"strings"
	"testing"
)

const twoDiffs = `diff --git a/a.go b/a.go
index 1..2 100644
--- a/a.go
+++ b/a.go
@@ -1 +1 @@
-a
+b
diff --git a/a b/c.go b/a b/c.go
deleted file mode 100644
index 1..0
--- a/a b/c.go
+++ /dev/null
@@ -1 +0,0 @@
-a
diff --git a/old.go b/new.go
similarity index 100%
rename from old.go
rename to new.go
diff --git a/pic b/pic
index 1..2 100644
Binary files a/pic and b/pic differ
diff --git a/empty b/empty
new file mode 100644
index 0000000..e69de29
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
`

// contract 80: a diff counts for the files whose change it shows.
func TestDiffed(t *testing.T) {
	heads := "diff --git a/a.go b/a.go\ndiff --git a/b.go b/b.go\n"
	for _, c := range []struct {
		command, text string
		cut           bool
		want          []string
	}{
		{"git diff X Y", twoDiffs, false, []string{"a.go", "a b/c.go", "new.go", "pic", "empty", "run.sh"}},
		{"git --no-pager show HEAD", twoDiffs, false, []string{"a.go", "a b/c.go", "new.go", "pic", "empty", "run.sh"}},
		{"git diff X Y -- a.go", twoDiffs, true, []string{"a.go"}},
		{"git diff X Y", twoDiffs, true, nil},
		{"git diff X Y | grep ^diff", heads, false, nil},
		{"echo diff; cat x", twoDiffs, false, nil},
		{"git status; echo show", twoDiffs, false, nil},
		{"git diff --stat X Y", " a.go | 2 +-\n", false, nil},
		{"git diff X Y | head -3", strings.Join(strings.SplitAfter(twoDiffs, "\n")[:3], ""), false, nil},
	} {
		if got := diffed(c.command, c.text, c.cut); !slices.Equal(got, c.want) {
			t.Errorf("%s, cut %v: %q", c.command, c.cut, got)
		}
	}
}

// Whatever an output holds, only files count whose name stands in it.
func FuzzDiffed(f *testing.F) {
	f.Add(twoDiffs, false)
	f.Add("diff --git a/ b/\n@@ ", true)
	f.Add("diff --git a/0", false)
	f.Fuzz(func(t *testing.T, text string, cut bool) {
		for _, file := range diffed("git diff", text, cut) {
			if file == "" || !strings.Contains(text, file) {
				t.Errorf("%q is not in %q", file, text)
			}
		}
	})
}
