package guard_test

import (
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"colony/guard"
	"colony/strict"
)

// maker makes random shell of fragments that have meaning to a shell or to a tool of the read-only grammar.
type maker struct {
	r     *rand.Rand
	tools []madeOf
}

// madeOf is what the generator takes from a row of the grammar.
type madeOf struct {
	names, flags []string
}

// slow are tools that take a tenth of a second to start, or wait.
var slow = regexp.MustCompile(`^(node|python|pip|java|jar|go |exit)`)

func newMaker(t testing.TB, seed uint64) *maker {
	t.Helper()
	data, err := os.ReadFile("shell/table.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var written struct {
		Sets    map[string]string `yaml:"sets"`
		Between map[string]string `yaml:"between"`
		Rows    []map[string]any  `yaml:"rows"`
	}
	if faults := strict.Decode("table.yaml", data, &written); len(faults) > 0 {
		t.Fatal(faults)
	}
	m := &maker{r: rand.New(rand.NewPCG(seed, 1))}
	for _, row := range written.Rows {
		names, _ := row["name"].(string)
		if slow.MatchString(names) {
			continue
		}
		flags, _ := row["flags"].(string)
		fields := strings.Fields(strings.ReplaceAll(flags, "@log", written.Sets["log"]))
		m.tools = append(m.tools, madeOf{names: strings.Split(names, ","), flags: fields})
	}
	return m
}

func (m *maker) one(of ...string) string { return of[m.r.IntN(len(of))] }
func (m *maker) chance(percent int) bool { return m.r.IntN(100) < percent }

// operand is a word that a tool takes for a file, an option, a program or a pattern.
func (m *maker) operand() string {
	if m.chance(60) {
		return m.one("a.txt", "b.txt", ".", "sub", "HEAD", "hello", "x", "1", "2", "5p", "'5p'", "'$p'", "+%F", "--", "''", "a=b", "-n", "*.txt", "*", "./*", "'*.txt'", "a.json", "HEAD:a.txt", "';'")
	}
	return m.one("PWNED", "-delete", "--output=PWNED", "--output", "-oPWNED", "-o", "-", "--pre=./r.sh", "--pre", "./r.sh", "-exec", "-i", "-f", "-w", "-v", "-U", "-O./r.sh", "-c", "-e", "-R", "-x", "-fprint", "-a",
		"--in-place", "--files0-from=a.txt", "--compress-program=./r.sh", "-T", "--to-command=./r.sh", "--open-files-in-pager=./r.sh", "--ext-diff", "--textconv", "--no-index", "--set=x", "-C", "-r", "@a.txt",
		"'a[$(touch PWNED)]'", "'$(touch PWNED)'", `"$(touch PWNED)"`, "`touch PWNED`", "$(touch PWNED)", "$X", "$?", `"$HOME"`, "${x:=$(touch PWNED)}", "${x@P}", "${a[$(touch PWNED)]}", "$((a[$(touch PWNED)]))",
		"?", "[ab].txt", "{a.txt,PWNED}", "{1..2}", "~", "~+", "$'\\x50WNED'", `$"x"`, "'1e touch PWNED'", "'1e./r.sh'", "'w PWNED'", "'s/h/x/w PWNED'", "'s/.*/.\\/r.sh/e'", "'/h/w PWNED'", "'1!e./r.sh'", "'p;w PWNED'",
		`'{print > "PWNED"}'`, `'BEGIN{system("./r.sh")}'`, `'/x/{print}'`, "'%n'", "PATH", "'b%n'", "'%d%n'", "'('", "')'", "!", "]", "=", "é", "\u00a0", "\u200b", "\r", "touch", "rm", "010100002030", "main.go", ">", "<(touch PWNED)", ">(touch PWNED)", "*/*", "-*", "--*", "-?")
}

// flag is an option of a tool, with a value where it may take one, or the wrong way round.
func (m *maker) flag(of madeOf) string {
	if len(of.flags) == 0 {
		return m.operand()
	}
	flag := m.one(of.flags...)
	name := strings.TrimRight(flag, ":@~=")
	switch {
	case flag == "*":
		return m.operand()
	case flag == "-#":
		return "-1"
	case strings.HasSuffix(flag, "="):
		return name + "=" + m.operand()
	case name != flag && m.chance(50):
		return name + m.one("", "=", " ", " ", " ") + m.operand()
	case len(name) == 2 && m.chance(20):
		return name + strings.TrimLeft(m.one(of.flags...), "-")
	}
	return name + " "
}

func (m *maker) simple() string {
	of := m.tools[m.r.IntN(len(m.tools))]
	parts := []string{strings.TrimSpace(m.one(of.names...))}
	if m.chance(12) {
		parts[0] = m.one("cd sub", "cd .", "cd ..", "touch PWNED", "./ls", "git", "awk", "sed", "tar xf x", "eval", "set -e", "export X=1", "read x", "exec", "wait", "unset PATH", "declare -n a=PATH", "let", "source x.sh", ". x.sh", "true", "pushd sub", "xargs", "hash -p ./r.sh ls", "bash -c", "sh")
	}
	for range m.r.IntN(4) {
		if m.chance(55) {
			parts = append(parts, m.flag(of))
		} else {
			parts = append(parts, m.operand())
		}
	}
	if m.chance(12) {
		parts = append(parts, m.one(">PWNED", ">>PWNED", ">|PWNED", ">&1", "2>&1", ">&PWNED", ">&1-1", ">&-", "<a.txt", "<>PWNED", "&>/dev/null", "&>PWNED", "{v}>PWNED", "> >(touch PWNED)", "<<<x", "3>PWNED", ">/dev/null", "2>/dev/null", "<<EOF\n$(touch PWNED)\nEOF\n", "<<'EOF'\n$(touch PWNED)\nEOF\n", "<<E\\OF\n`touch PWNED`\nEOF\n", "<<-\"EOF\"\n\tx\n\tEOF\n"))
	}
	text := strings.Join(parts, " ")
	if m.chance(15) {
		text = m.one("env ", "nice ", "nice -n 1 ", "timeout 1 ", "nohup ", "command ", "command -p ", "xargs ", "exec ", "builtin ", "LC_ALL=C ", "LANG=x.SJIS ", "PATH=0 ", "CI=1 ", "BASH_ENV=./r.sh ", "env -S ", "time ", "time -p ", "\\", "! ", "GIT_DIR=sub ", "GIT_PAGER=./r.sh ", "PATH=0:$PATH ", "env -i ", "env PATH=0 ", "timeout --foreground 1 ", "IFS=x ") + text
	}
	return text
}

// soup are fragments that a shell reads, in no order.
var soup = []string{"echo", "ls", "cat", "true", "printf", "touch PWNED", "touch", "PWNED", " ", " ", " ", " ", ";", "\n", "&", "&&", "|", "||", "$(", ")", "`", "'", "\"", "\\", "\\\n",
	"{", "}", ",", ">", ">>", "<", "&>", ">|", "2>", "<<EOF\n", "\nEOF\n", "<<'EOF'\n", "<<<", "EOF", "#", "$", "${", "<(", ">(", "if", "then", "fi", "[[", "]]", "((", "))", "\r", "a=", "=", "!", "~", "~/", "*", "?",
	"[", "]", "$'", "\\x74ouch", "t\\ouch", "@P", "x()", "eval", "command", "env", "time", "-n", "--", "-v", "cd", ".", "/dev/null", "1", "(", "coproc", ">&", "<&", "-", "test", "head", "wc", "sub", "a.txt", "%n"}

// line is some commands with what stands between and round them, at times damaged.
func (m *maker) line() string {
	if m.chance(25) {
		var b strings.Builder
		for range 1 + m.r.IntN(14) {
			b.WriteString(m.one(soup...))
		}
		return b.String()
	}
	text := m.simple()
	for range m.r.IntN(3) {
		text += m.one(";", " && ", " || ", " | ", "|", " & ", "\n", "&", " |& ", " \\\n", "\\\n", "\r\n", ";;", " # \\\n", " # x\n", "#", "\n\n") + m.simple()
	}
	if m.chance(10) {
		text = strings.Replace(m.one("( % )", "{ %; }", "if %; then :; fi", "for f in a; do %; done", "f(){ %; }; f", "ls(){ touch PWNED; }; %", "echo $(%)", "[[ -v 'a[$(touch PWNED)]' ]]; %", "(( a[$(touch PWNED)] )); %", "coproc %", "trap '%' EXIT", "alias ls='touch PWNED'; %", "eval '%'", "# %", "case x in x) %;; esac", "while %; do break; done", "echo '%'", "echo \"%\"", "shopt -s expand_aliases\n%", "a=(%)", "a[$(%)]=1", "select x in a; do %; done", "{ %; } <a.txt", "function f { %; }", "until %; do break; done"), "%", text, 1)
	}
	for range m.r.IntN(40) / 36 { // a tenth of the lines is damaged
		at := m.r.IntN(len(text) + 1)
		text = text[:at] + m.one("'", `"`, `\`, "\\\n", "$", "#", " ", "\t", "~", "`", "{", "}", "(", ")", "=", "!", "\n", ";", "&", "<", ">", "|", "*", "-", "''", `""`, "$'", "%") + text[at:]
	}
	return text
}

// batch is how many allowed lines run in one sandbox.
const batch = 250

// Random shell that the policy allows changes nothing in a real bash. COLONY_FUZZ is for how long to look; without it
// the test looks at a fixed number of lines.
func TestRandomShell(t *testing.T) {
	long, _ := time.ParseDuration(os.Getenv("COLONY_FUZZ"))
	seed, least := uint64(1), 1_500
	if long > 0 {
		seed = rand.Uint64()
	}
	m, p, policy := newMaker(t, seed), newProof(t), policy(t, guard.Parts{})
	var pending []string
	var made, ran int
	var judging time.Duration
	begin := time.Now()
	for i := 0; i < least || time.Since(begin) < long; i++ {
		text := m.line()
		made++
		before := time.Now()
		allowed := p.allows(t, policy, text)
		judging += time.Since(before)
		if allowed {
			pending = append(pending, text)
		}
		if len(pending) < batch && (i+1 < least || long > 0) {
			continue
		}
		ran += len(pending)
		if bad := p.run(t, pending); bad != "" {
			t.Errorf("seed %d: %q is allowed and changed the tree", seed, bad)
			p = newProof(t)
		}
		pending = pending[:0]
	}
	t.Logf("seed %d: %d lines, %d allowed and run, %.0f decisions/s", seed, made, ran, float64(made)/judging.Seconds())
}
