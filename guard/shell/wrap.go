package shell

import (
	"path"
	"slices"
	"strings"
)

// wrapper is a command that runs the command behind it.
type wrapper struct {
	flags   []string // take no value
	values  []string // take a value, behind or attached
	stops   []string // with one of these nothing is run
	before  int      // operands before the command
	assigns bool     // NAME=value before the command
	adds    bool     // words that are not in the line are added
	why     string   // what it does besides, which leaves the line unknown
}

// wrappers are peeled before rules are matched.
var wrappers = map[string]wrapper{
	"timeout": {
		flags:  []string{"--foreground", "--preserve-status", "-v", "--verbose"},
		values: []string{"-s", "--signal", "-k", "--kill-after"}, before: 1,
	},
	"env":     {flags: []string{"-i", "-", "--ignore-environment"}, values: []string{"-u", "--unset"}, assigns: true},
	"nice":    {values: []string{"-n", "--adjustment"}},
	"nohup":   {},
	"command": {flags: []string{"-p"}, stops: []string{"-v", "-V"}},
	"sudo": {
		flags:  []string{"-n", "-E", "-H", "-k", "-S", "--non-interactive"},
		values: []string{"-u", "--user", "-g", "--group"}, assigns: true,
	},
	"setsid":  {flags: []string{"-c", "-f", "-w", "--ctty", "--fork", "--wait"}},
	"stdbuf":  {values: []string{"-i", "-o", "-e", "--input", "--output", "--error"}},
	"ionice":  {flags: []string{"-t"}, values: []string{"-c", "-n", "--class", "--classdata"}},
	"taskset": {flags: []string{"-a", "-c"}, before: 1},
	"time":    {flags: []string{"-p", "-v"}},
	"exec":    {flags: []string{"-c", "-l"}, values: []string{"-a"}, why: "replaces the shell"},
	"builtin": {why: "passes by functions and programs of that name"},
	"doas":    {flags: []string{"-n"}, values: []string{"-u"}, why: "runs as another user"},
	"busybox": {why: "has commands of its own"},
	"flock": {
		flags:  []string{"-n", "-x", "-s", "-e", "-o", "--nonblock", "--exclusive", "--shared"},
		values: []string{"-w", "--timeout"}, before: 1, why: "makes its lock file",
	},
	"xargs": {
		flags:  []string{"-0", "--null", "-r", "--no-run-if-empty", "-t", "-x"},
		values: []string{"-n", "-P", "-I", "-L", "-d", "-s", "--max-args", "--max-procs", "--delimiter"}, adds: true,
	},
}

// harmless are variables that change what a command prints or builds, never which program runs.
var harmless = set("CI", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "TERM", "TZ", "COLUMNS", "LINES",
	"CGO_ENABLED", "GOOS", "GOARCH", "GOMAXPROCS", "GOGC", "NODE_ENV", "DEBUG", "RUST_BACKTRACE", "RUST_LOG",
	"PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED")

var assignment = lazily(`^[A-Za-z_][A-Za-z0-9_]*=`)

// programDirs are where a path-qualified name is the system's program of that name.
var programDirs = set("/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin")

// program is the plain name of a command word: of a path only where it lies in the system's directories.
func program(name string) string {
	if dir, base := path.Split(name); dir != "" && programDirs[path.Clean(dir)] {
		return base
	}
	return name
}

// peel takes one wrapper off. peeled is false where there is none, or where it runs nothing; sets are
// the NAME=value that it sets; why is what the wrapper's own words leave unknown.
func peel(words []word) (rest []word, sets []string, why string, peeled bool) {
	w, ok := wrappers[program(words[0].value)]
	if !ok || !words[0].literal {
		return words, nil, "", false
	}
	i, operands := 1, w.before
	for ; i < len(words); i++ {
		arg := words[i]
		if !arg.literal {
			if operands == 0 {
				break
			}
			why, operands = "the word "+brief(arg.source)+" is not literal", operands-1
			continue
		}
		if slices.Contains(w.stops, arg.value) {
			return words, nil, "", false
		}
		if arg.value == "--" {
			i++
			break
		}
		n, known := w.takes(arg.value)
		if !known {
			return words, sets, words[0].value + " " + brief(arg.value) + " is not read", false
		}
		if n > 0 {
			i += n - 1
			continue
		}
		if w.assigns && assignment().MatchString(arg.value) {
			sets = append(sets, arg.value)
			continue
		}
		if operands == 0 {
			break
		}
		operands--
	}
	if i >= len(words) {
		return words, sets, why, false
	}
	rest = words[i:]
	if w.why != "" {
		why = words[0].value + " " + w.why
	}
	if w.adds {
		rest = append(slices.Clone(rest), word{source: `"$@"`})
		why = words[0].value + " adds words that are not in the line"
	}
	return rest, sets, why, true
}

// takes is how many words an option fills, 0 for a word that is no option.
func (w wrapper) takes(arg string) (n int, known bool) {
	if !strings.HasPrefix(arg, "-") && arg != "-" {
		return 0, true
	}
	name, _, attached := strings.Cut(arg, "=")
	switch {
	case slices.Contains(w.flags, arg):
		return 1, true
	case slices.Contains(w.values, arg):
		return 2, true
	case attached && strings.HasPrefix(name, "--") && slices.Contains(w.values, name):
		return 1, true
	case len(arg) > 2 && arg[1] != '-' && slices.Contains(w.values, arg[:2]):
		return 1, true
	case slices.Contains(w.values, "--adjustment") && strings.Trim(arg, "-0123456789") == "":
		return 1, true
	}
	return 0, false
}

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}
