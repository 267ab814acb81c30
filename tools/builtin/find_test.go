package builtin_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"colony/tools"
	"colony/view"
)

func (w *world) found(a args) []string {
	w.Helper()
	var out []string
	for _, m := range w.ok("find", a).Views[0].(view.Matches).Items {
		if m.Line > 0 {
			out = append(out, fmt.Sprintf("%s:%d", m.Path, m.Line))
		} else {
			out = append(out, m.Path)
		}
	}
	return out
}

func TestFind(t *testing.T) {
	w := newWorld(t)
	for name, content := range map[string]string{
		"a.go": "package a\nfunc Alpha() {}\n", "b/b.go": "package b\n// alpha\n", "b/c/deep.go": "alpha\n\n\nalpha\n",
		"b/x.txt": "a.c\nabc\n", ".env": "alpha\n", "out/gen.go": "alpha\n", "b/skip.log": "alpha\n", "b/keep.log": "alpha\n",
		".gitignore": "/out/\n*.log\n", "b/.gitignore": "!keep.log\n", ".git/config": "alpha\n", "bin": "alpha\x00\n",
		".colonyignore": "own/\n!seen.log\n", "b/.colonyignore": "!own/\n/own/not\n", "b/own/seen.log": "", "b/own/not": "", "own/not": "",
	} {
		w.put(name, content)
	}
	w.must(os.Symlink(t.TempDir(), w.path("b/link")))
	cases := []struct {
		args args
		want string
	}{
		{args{}, "b/link a.go b/b.go b/c/deep.go b/keep.log b/own/seen.log b/x.txt bin"},
		{args{"pattern": "*.go"}, "a.go b/b.go b/c/deep.go"},
		{args{"pattern": "b/*.go"}, "b/b.go"},
		{args{"pattern": "**/c/**"}, "b/c/deep.go"},
		{args{"pattern": "c/*.go", "path": "b"}, "b/c/deep.go"},
		{args{"pattern": "*.{go,txt}", "path": "b"}, "b/b.go b/c/deep.go b/x.txt"},
		{args{"pattern": "A.GO", "ignore_case": true}, "a.go"},
		{args{"pattern": ".*", "hidden": true}, ".colonyignore .env .gitignore b/.colonyignore b/.gitignore"},
		{args{"content": "alpha"}, "b/b.go:2 b/c/deep.go:1 b/c/deep.go:4 b/keep.log:1"},
		{args{"content": "alpha", "ignore_case": true, "pattern": "*.go"}, "a.go:2 b/b.go:2 b/c/deep.go:1 b/c/deep.go:4"},
		{args{"content": "a.c", "path": "b/x.txt"}, "b/x.txt:1 b/x.txt:2"},
		{args{"content": "a.c", "literal": true}, "b/x.txt:1"},
		{args{"content": "^alpha$", "mode": "files"}, "b/c/deep.go b/keep.log"},
		{args{"content": `\Aalpha\z`, "path": "b/c"}, "b/c/deep.go:1 b/c/deep.go:4"},
		{args{"content": `alpha\s+alpha`}, ""},
		{args{"content": "^$"}, "b/c/deep.go:2 b/c/deep.go:3"},
		{args{"content": "alpha", "path": "out"}, "out/gen.go:1"},
		{args{"pattern": ".env"}, ".env"},
		{args{"pattern": "b/.git*"}, "b/.gitignore"},
		{args{"pattern": "**/own/*"}, "b/own/seen.log"},
	}
	for _, c := range cases {
		if got := strings.Join(w.found(c.args), " "); got != c.want {
			t.Errorf("find %v: %s, want %s", c.args, got, c.want)
		}
	}
}

func TestFindSaysTrueTotals(t *testing.T) {
	w := newWorld(t)
	for i := range 30 {
		w.put(fmt.Sprintf("f%02d", i), strings.Repeat("hit\nmiss\n", 10))
	}
	res := w.ok("find", args{"content": "hit", "limit": 25})
	m := res.Views[0].(view.Matches)
	if m.Total != 300 || len(m.Items) != 25 || !strings.HasPrefix(res.Text, "300 matching lines in 30 files of 30 searched (the first 25 shown") {
		t.Errorf("%d of %d: %.120s", len(m.Items), m.Total, res.Text)
	}
	if m.Items[24].Path != "f02" || m.Items[24].Line != 9 {
		t.Errorf("the last one is %+v", m.Items[24])
	}
	if res := w.ok("find", args{"content": "hit", "mode": "count", "limit": 1}); !strings.Contains(res.Text, "f00: 10") {
		t.Errorf("%s", res.Text)
	}
	if res := w.ok("find", args{"limit": 3}); !strings.HasPrefix(res.Text, "30 files (the first 3 shown") {
		t.Errorf("%s", res.Text)
	}
	if res := w.ok("find", args{"content": "nowhere"}); !strings.HasPrefix(res.Text, "0 matching lines") {
		t.Errorf("%s", res.Text)
	}
}

func TestFindShowsLinesAround(t *testing.T) {
	w := newWorld(t)
	w.put("f", "1\n2\nx\n4\nx\n6\n7\n8\n9\nx\n")
	want := "f\n2-\t2\n3:\tx\n4-\t4\n5:\tx\n6-\t6\n--\n9-\t9\n10:\tx"
	if res := w.ok("find", args{"content": "x", "context": 1}); !strings.HasSuffix(res.Text, want) {
		t.Errorf("%s", res.Text)
	}
	w.put("long", strings.Repeat("é", 1000)+"needle"+strings.Repeat("é", 1000)+"\n")
	res := w.ok("find", args{"content": "needle"})
	if !strings.Contains(res.Text, "needle") || len(res.Text) > 500 {
		t.Errorf("%s", res.Text)
	}
}

// The text of a search names the lines that a loop over the lines would, whatever the pattern.
func TestFindMatchesLineByLine(t *testing.T) {
	w := newWorld(t)
	pieces := []string{"a", "b", "\n", " ", "ab", "\r\n", "K", "\u212a", "Ask", "a\u017fk", "\xff", "foo", "Foo"}
	patterns := []string{"a", "^a", "a$", "^$", "[^b]a", `a\s*b`, `\ba`, "b|^ ", "a.b", "(?s)a.*b", `\Aa`, "b*", "ab|foo", "(?i)ask", "(?i)foo", "(ab)+ ",
		"(?i:a)sk", "foo|Foo", `fo+\b`, "(?i)k", "(?-m)^a", "\ufffd", "x?ab", "(?:foo|a)k", "a{2}", "(?i)sk|ab"}
	rapid.Check(t, func(r *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 30).Draw(r, "text"), "")
		pattern, flags := rapid.SampledFrom(patterns).Draw(r, "pattern"), "(?m)"
		fold := rapid.Bool().Draw(r, "fold")
		if fold {
			flags = "(?mi)"
		}
		w.put("f", text)
		re := regexp.MustCompile(flags + "(?:" + pattern + ")")
		var want []string
		for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
			if text != "" && (re.MatchString(line) || re.MatchString(strings.TrimSuffix(line, "\r"))) {
				want = append(want, fmt.Sprintf("f:%d", i+1))
			}
		}
		if got := w.found(args{"content": pattern, "path": "f", "limit": 1000, "ignore_case": fold}); !slices.Equal(got, want) {
			r.Fatalf("%q in %q: %v, want %v", pattern, text, got, want)
		}
	})
}

// The newest file comes first, in every mode, and the limit keeps the newest.
func TestFindBringsTheNewestFirst(t *testing.T) {
	w := newWorld(t)
	for i, name := range []string{"old", "b/new", "a/mid"} {
		w.put(name, "x\nx\n")
		when := time.Unix(int64(1e9+[]int{1, 3, 2}[i]), 0)
		w.must(os.Chtimes(w.path(name), when, when))
	}
	for _, c := range []struct {
		args args
		want string
	}{
		{args{}, "b/new a/mid old"},
		{args{"limit": 2}, "b/new a/mid"},
		{args{"content": "x", "limit": 3}, "b/new:1 b/new:2 a/mid:1"},
		{args{"content": "x", "mode": "files"}, "b/new a/mid old"},
		{args{"content": "x", "mode": "count", "limit": 1}, "b/new"},
	} {
		if got := strings.Join(w.found(c.args), " "); got != c.want {
			t.Errorf("find %v: %s, want %s", c.args, got, c.want)
		}
	}
}

// Many files in one directory, and many directories, are all seen, once each.
func TestFindSeesEveryFileOnce(t *testing.T) {
	w := newWorld(t)
	var want []string
	for i := range 700 {
		for _, name := range []string{fmt.Sprintf("wide/f%03d", i), fmt.Sprintf("d%d/e%d/f", i%30, i%7)} {
			if _, err := os.Stat(w.path(name)); os.IsNotExist(err) {
				want = append(want, name)
				w.put(name, "a needle\n")
			}
		}
	}
	slices.Sort(want)
	if got := w.found(args{"limit": 1000}); !slices.Equal(got, want) {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
	if got := w.found(args{"content": "needle", "mode": "files", "limit": 1000}); !slices.Equal(got, want) {
		t.Errorf("%d files with a match, want %d", len(got), len(want))
	}
}

func TestFindSaysWhatItDidNotSearch(t *testing.T) {
	w := newWorld(t)
	w.put("bin", "needle\x00")
	w.put("wide", "\xff\xfen\x00")
	w.put("latin", "caf\xe9 needle\n")
	w.put("big", "")
	w.must(os.Truncate(w.path("big"), 17<<20))
	res := w.ok("find", args{"content": "needle"})
	for _, says := range []string{"1 matching line in 1 file of 4", `1:` + "\tcaf\\xe9 needle", "1 file over 16 MiB not searched", "2 binary files not searched"} {
		if !strings.Contains(res.Text, says) {
			t.Errorf("%q is not in %q", says, res.Text)
		}
	}
	w.put(".hid/f", "")
	if res := w.ok("find", args{"pattern": "f"}); !strings.Contains(res.Text, "0 files\n[1 name was left out") {
		t.Errorf("%s", res.Text)
	}
	w.fault(tools.Validation, "lines are matched one by one", "find", args{"content": "a\nb", "literal": true})
}

func TestFindIsCancelled(t *testing.T) {
	w := newWorld(t)
	w.put("f", "x")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if res := w.callIn(ctx, "find", args{"content": "x"}); res.Fault != tools.Cancelled {
		t.Errorf("%q: %s", res.Fault, res.Text)
	}
}

// What is left out is what git leaves out.
func TestFindIgnoresAsGitDoes(t *testing.T) {
	patterns := []string{"*.o", "/a", "a/", "a/b", "**/b", "a/**", "!b", "!a/b/", "b*", `\!c`, "#c", "c ", `c\ `, "a/**/c", "[ab]", "?", "!*.o", "*", "!*/", "{a,b}", "a**"}
	names := []string{"a", "b", "c", "x.o", "!c", "c ", "{a,b}", "ab"}
	rapid.Check(t, func(r *rapid.T) {
		w := newWorld(t)
		git(w, "init", "-q", "--template=")
		draw := func(label string) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(patterns), 0, 4).Draw(r, label), "\n") + "\n"
		}
		for range rapid.IntRange(1, 6).Draw(r, "files") {
			dirs := rapid.SliceOfN(rapid.SampledFrom(names), 0, 2).Draw(r, "dirs")
			path := strings.Join(append(dirs, rapid.SampledFrom(names).Draw(r, "name"), "file"), "/")
			w.put(path, "")
			if rapid.Bool().Draw(r, "leaf") {
				w.put(strings.TrimSuffix(path, "/file")+"/"+rapid.SampledFrom([]string{"y.o", "b2", "z"}).Draw(r, "leafname"), "")
			}
		}
		w.put(".gitignore", draw("root"))
		if info, err := os.Stat(w.path("a")); err == nil && info.IsDir() {
			w.put("a/.gitignore", draw("below"))
		}
		want := git(w, "ls-files", "-z", "--others", "--exclude-standard")
		got := w.found(args{"limit": 1000, "hidden": true})
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			r.Fatalf("root %q below %q: found %q, git %q", w.get(".gitignore"), read(w.path("a/.gitignore")), got, want)
		}
	})
}

func read(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(data)
}

func git(w *world, a ...string) []string {
	cmd := exec.Command("git", a...)
	cmd.Dir = w.env.Root
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "HOME="+w.env.Root)
	out, err := cmd.Output()
	w.must(err)
	return slices.DeleteFunc(strings.Split(string(out), "\x00"), func(s string) bool { return s == "" })
}
