package shell_test

import (
	"slices"
	"strings"
	"testing"

	"colony/guard/shell"
)

// contract 30: wrappers, assignments and redirections are peeled; nested commands are found.
func TestCommands(t *testing.T) {
	for _, c := range []struct {
		line  string
		known bool
		want  []string
	}{
		{"git fetch . && git status && git clean -fdx", true, []string{"git fetch .", "git status", "git clean -fdx"}},
		{"timeout 5 env -u X command git clean -fdx", true, []string{"git clean -fdx"}},
		{"timeout -k 5 10s go test ./...", true, []string{"go test ./..."}},
		{"nice -n 5 nohup make -s", true, []string{"make -s"}},
		{"nice -19 make", true, []string{"make"}},
		{"sudo -u root rm -rf x", true, []string{"rm -rf x"}},
		{"CGO_ENABLED=0 go build ./...", true, []string{"go build ./..."}},
		{"env CGO_ENABLED=0 go build", true, []string{"go build"}},
		{"/usr/bin/timeout 5 rm x", true, []string{"rm x"}},
		{"ls > 'o p' 2>&1; pwd", true, []string{"> 'o p'", "ls", "pwd"}},
		{"ls > $X", false, []string{"> $X", "ls"}},
		{"(cd sub; ls) | { wc -l; } & ! false", true, []string{"cd sub", "ls", "wc -l", "false"}},
		{`to""uch  'a b' t\ouch`, true, []string{"touch 'a b' touch"}},
		{"time touch x", true, []string{"touch x"}},
		{"command -v go", true, []string{"command -v go"}},
		{"find . -exec touch P {} ';'", true, []string{"find . -exec touch P '{}' ';'", "touch P '{}'"}},
		{"x=1", false, nil},
		{"PATH=b ls", false, []string{"ls"}},
		{"env LD_PRELOAD=x ls", false, []string{"ls"}},
		{"sudo --weird rm x", false, []string{"", "sudo --weird rm x"}},
		{"echo P | xargs -n1 touch", false, []string{"echo P", `touch "$@"`}},
		{"timeout $T touch x", false, []string{"touch x"}},
		{"ls(){ touch P; }; ls", false, []string{"touch P", "ls"}},
		{"for f in a; do touch $f; done", false, []string{"touch $f"}},
		{"if touch P; then :; fi", false, []string{"touch P", ":"}},
		{"echo $(touch P)", false, []string{"touch P", "echo $(touch P)"}},
		{"echo `touch P`", false, []string{"touch P", "echo `touch P`"}},
		{"cat <(touch P)", false, []string{"touch P", "cat <(touch P)"}},
		{"cat <<EOF\n$(touch P)\nEOF", false, []string{"touch P", "cat"}},
		{"bash -lc 'touch P; ls'", false, []string{"bash -lc 'touch P; ls'", "touch P", "ls"}},
		{`eval "touch P"`, false, []string{"eval 'touch P'", "touch P"}},
		{`eval "$x"`, false, []string{`eval "$x"`, ""}},
		{"trap 'touch P' EXIT; ls", false, []string{"trap 'touch P' EXIT", "ls"}},
		{"$'\\x74ouch' P", false, []string{"$'\\x74ouch' P"}},
		{"ls\r\ntouch P", false, []string{"ls", "touch P"}},
		{"export GIT_PAGER='touch P'", false, nil},
		{"echo ${x:=$(touch P)}", false, []string{"touch P", "echo ${x:=$(touch P)}"}},
	} {
		line := shell.Parse(c.line)
		var got []string
		for _, cmd := range line.Commands {
			got = append(got, cmd.Text)
		}
		if line.Known != c.known || !slices.Equal(got, c.want) {
			t.Errorf("%q: known %v (%s) %q, want %v %q", c.line, line.Known, line.Why, got, c.known, c.want)
		}
		if line.Known == (line.Why != "") {
			t.Errorf("%q: known %v with the reason %q", c.line, line.Known, line.Why)
		}
	}
}

// A line that could not be parsed has no commands at all, one without commands an empty list.
func TestUnparsable(t *testing.T) {
	for _, line := range []string{"git log &&& rm -rf .git", "echo 'a", "a\x00b", "\xff", "echo " + string(make([]byte, shell.MaxLine))} {
		if l := shell.Parse(line); l.Known || l.Commands != nil || l.Why == "" {
			t.Errorf("%.20q: %+v", line, l)
		}
	}
	if l := shell.Parse("# nothing"); !l.Known || l.Commands == nil {
		t.Errorf("a comment: %+v", l)
	}
}

func TestAlso(t *testing.T) {
	for _, c := range []struct{ line, also string }{
		{"timeout 5 sudo rm x", "sudo rm x"},
		{"timeout 5 sudo rm x", "timeout 5 sudo rm x"},
		{"/usr/bin/git push", "git push"},
		{"git -C . --no-pager -c a=b push x", "git push x"},
	} {
		cmds := shell.Parse(c.line).Commands
		if len(cmds) != 1 || !slices.Contains(cmds[0].Also, c.also) {
			t.Errorf("%q: %+v lacks %q", c.line, cmds, c.also)
		}
	}
}

// contract 31: redirections always, every operand of a command not known read-only.
func TestPaths(t *testing.T) {
	for _, c := range []struct {
		line          string
		reads, writes []string
	}{
		{"ls > PWNED", nil, []string{"PWNED"}},
		{"ls >> a &> b >| c 2> d", nil, []string{"a", "b", "c", "d"}},
		{"ls > /dev/null 2>&1", nil, nil},
		{"ls >& f", nil, []string{"f"}},
		{"cat < in a", []string{"in", "a"}, nil},
		{"touch -m a 'b c' /abs", nil, []string{"a", "b c", "/abs"}},
		{"cp -r a ../out", nil, []string{"a", "../out"}},
		{"git -C /main branch evil", nil, []string{"/main", "branch", "evil"}},
		{"git --git-dir=/main/.git log", nil, []string{"/main/.git", "log"}},
		{"dd if=a of=/x", nil, []string{"a", "/x"}},
		{"sed -i /a/d f", nil, []string{"f"}},
		{"grep -n pat a b", []string{"a", "b"}, nil},
		{"git diff HEAD -- a", []string{"HEAD", "a"}, nil},
		{"cd sub && cat ../x", []string{"sub", "sub/../x"}, nil},
		{"cd sub && echo x > y", []string{"sub"}, []string{"sub/y"}},
		{"cd sub; cat x", []string{"sub", "sub/x", "x"}, nil},
		{"cd a || cd b; cat x", []string{"a", "b", "a/x", "b/x", "x"}, nil},
		{"cd ..; echo x > o/P", []string{".."}, []string{"../o/P", "o/P"}},
		{"(cd a); cat x", []string{"a", "x"}, nil},
		{"cd /abs && touch x", []string{"/abs"}, []string{"/abs/x"}},
		{"for f in a; do touch /out; done", nil, []string{"/out"}},
	} {
		l := shell.Parse(c.line)
		if !slices.Equal(l.Reads, c.reads) || !slices.Equal(l.Writes, c.writes) {
			t.Errorf("%q: reads %q writes %q, want %q %q", c.line, l.Reads, l.Writes, c.reads, c.writes)
		}
	}
}

// Hosts of what is not read-only: a URL anywhere, an operand of a program that dials, bash's own sockets.
func TestHosts(t *testing.T) {
	for line, want := range map[string]string{
		"curl -s http://127.0.0.1:8080/x | sh":           "127.0.0.1",
		"curl https://u:p@example.com/a?b=http://c.test": "example.com c.test",
		"curl localhost:8080/health":                     "localhost",
		"curl --url=http://[::1]:80/":                    "::1",
		"curl 2130706433 0x7f.1 127.1":                   "127.0.0.1 127.0.0.1 127.0.0.1",
		"curl http://0177.0.0.1/":                        "127.0.0.1",
		"ssh -p 22 me@build.test ls":                     "build.test",
		"scp a.txt me@build.test:x":                      "a.txt build.test",
		"git clone https://example.com/a.git":            "example.com",
		"timeout 5 wget example.com":                     "example.com",
		"bash -c 'curl http://a.test'":                   "a.test a.test",
		"echo x > /dev/tcp/10.0.0.1/80":                  "10.0.0.1",
		"curl \"http://$HOST/\" http://b.test":           "$HOST b.test",
		"grep -rn http://a.test .":                       "",
		"echo https://a.test":                            "",
		"nc -l 8080":                                     "",
	} {
		if got := strings.Join(shell.Parse(line).Hosts, " "); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestNamesProgram(t *testing.T) {
	for _, c := range []struct {
		argv []string
		want string
	}{
		{[]string{"go", "vet", "-vettool=./r.sh", "./..."}, "-vettool"},
		{[]string{"go", "build", "--toolexec", "./r.sh"}, "--toolexec"},
		{[]string{"go", "test", "-run", "X"}, ""},
		{[]string{"git", "-c", "a=b", "status"}, "-c"},
		{[]string{"/usr/bin/rg", "--pre=x"}, "--pre"},
		{nil, ""},
	} {
		if got := shell.NamesProgram(c.argv); got != c.want {
			t.Errorf("%q: %q, want %q", c.argv, got, c.want)
		}
	}
}

func TestCanonical(t *testing.T) {
	for text, want := range map[string]string{
		`go  test -run "A|B"`: `go test -run 'A|B'`, "sudo rm": "sudo rm", "a; b": "a; b", "rm $X": "rm $X", "(": "(", "": "",
	} {
		if got := shell.Canonical(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A hostile line costs little and is unknown.
func TestHostileLines(t *testing.T) {
	for _, unit := range []string{"(", "$(a ", "<(a ", "((", "{ a;", "if a; then ", "`", "a[", "nice ", "find -exec ", "eval ", "sudo nice ", "bash -c \"", "a && (", "${a:-"} {
		text := strings.Repeat(unit, 30_000/len(unit))
		for _, line := range []string{text + "a", text + "a" + strings.Repeat(")", 15_000)} {
			l := shell.Parse(line)
			if l.Known {
				t.Errorf("%q is known", unit)
			}
			size := 0
			for _, c := range l.Commands {
				size += len(c.Text)
				for _, also := range c.Also {
					size += len(also)
				}
			}
			if size > 100*len(line) {
				t.Errorf("%q: %d bytes of commands", unit, size)
			}
		}
	}
}

// FuzzParse: nothing crashes; a known read-only line writes nothing and has literal commands only.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"ls -la", "cat <<EOF\n$x\nEOF", "timeout 5 git -C x status", "cd a && b > c", "find . -exec a ;", "bash -c 'eval x'", "((((a", "a<>b {x}>c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		l := shell.Parse(line)
		if l.Known == (l.Why != "") {
			t.Fatalf("known %v with the reason %q", l.Known, l.Why)
		}
		if l.ReadOnly() && len(l.Writes) > 0 {
			t.Fatalf("read-only, yet writes %q", l.Writes)
		}
		for _, c := range l.Commands {
			if l.Known && c.Argv == nil && !c.ReadOnly {
				t.Fatalf("known, yet %q is not literal", c.Text)
			}
			if again := shell.Canonical(c.Text); c.Argv != nil && again != c.Text {
				t.Fatalf("%q is spelt %q", c.Text, again)
			}
		}
	})
}
