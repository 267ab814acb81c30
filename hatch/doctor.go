package hatch

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"colony/event"
	"colony/guard/sandbox"
	"colony/view"
)

// The states of a Check.
const (
	CheckOK    = "ok"
	CheckNote  = "note"  // worth knowing; nothing has to be done
	CheckWrong = "wrong" // a run would be refused or harmed
)

// Check is one look at the machine or the repository: what was found and, where something is to be done, what.
type Check struct {
	Name  string `json:"name"`
	State string `json:"state"`
	Found string `json:"found"`
	Next  string `json:"next"`
}

const (
	gitLimit  = 5 * time.Second
	leastDisk = 1 << 30 // bytes
)

// doctor holds what the checks share.
type doctor struct {
	places   Places
	getenv   func(string) string
	house    *House   // without settings where they could not be read
	settings settings // zero where they could not be read
	bad      error    // why
	fix      bool
}

// Doctor makes all checks; one that goes wrong does not end the others. It writes nothing but a file in the state
// directory, which it removes again. With fix it mends logs that lost their end and removes what dead processes left.
func Doctor(ctx context.Context, places Places, environ []string, getenv func(string) string, fix bool) []Check {
	d := &doctor{places: places, getenv: getenv, fix: fix}
	if d.house, d.bad = Enter(places, environ, nil); d.bad == nil {
		d.settings, d.bad = readSettings(d.house.Settings)
	}
	if d.house == nil || d.bad != nil {
		d.house = Locate(places)
	}
	var checks []Check
	for _, c := range []struct {
		name string
		make func(*doctor, context.Context) Check
	}{
		{"git", (*doctor).git}, {"sandbox", (*doctor).sandbox}, {"settings", (*doctor).readable}, {"keys", (*doctor).keys},
		{"local servers", (*doctor).servers}, {"state directory", (*doctor).state}, {"disk", (*doctor).disk}, {"repository", (*doctor).repository},
		{"gates", (*doctor).gates}, {"language servers", (*doctor).languageServers}, {"trust", (*doctor).trust}, {"logs", (*doctor).logs}, {"runs", (*doctor).runs}, {"leavings", (*doctor).leavings},
	} {
		check := c.make(d, ctx)
		check.Name = c.name
		checks = append(checks, check)
	}
	return checks
}

func ok(format string, args ...any) Check {
	return Check{State: CheckOK, Found: fmt.Sprintf(format, args...)}
}

func note(next, format string, args ...any) Check {
	return Check{State: CheckNote, Found: fmt.Sprintf(format, args...), Next: next}
}

func wrong(next, format string, args ...any) Check {
	return Check{State: CheckWrong, Found: fmt.Sprintf(format, args...), Next: next}
}

var gitVersion = regexp.MustCompile(`git version (([0-9]+)\.([0-9]+)\S*)`)

func (d *doctor) git(ctx context.Context) Check {
	ctx, cancel := context.WithTimeout(ctx, gitLimit)
	defer cancel()
	out, err := exec.CommandContext(ctx, "git", "--version").Output()
	if err != nil {
		return wrong("install git 2.39 or later", "git cannot be run: %v", err)
	}
	m := gitVersion.FindStringSubmatch(string(out))
	if m == nil {
		return wrong("install git 2.39 or later", "git does not say its version")
	}
	major, _ := strconv.Atoi(m[2])
	minor, _ := strconv.Atoi(m[3])
	if major < 2 || major == 2 && minor < 39 {
		return wrong("install git 2.39 or later", "git %s is too old", m[1])
	}
	return ok("git %s", m[1])
}

// sandbox tries the level of the settings, the default where they cannot be read.
func (d *doctor) sandbox(ctx context.Context) Check {
	level := d.settings.sandbox.Level
	if level == "" {
		level = sandbox.Workspace
	}
	box, err := sandbox.New(ctx, sandbox.Parts{Level: level, Home: d.getenv("HOME"), State: d.places.State, Config: d.places.Config})
	if err == nil {
		defer box.Close()
	}
	if err == nil && level == sandbox.Off {
		return note("set sandbox.level to workspace, so that commands of ants are confined", "level off: nothing confines commands; the mode is ask")
	}
	if err == nil {
		return ok("level %s holds, by %s", level, box.Mechanism())
	}
	if p, isProblem := sandboxProblem(err).(*Problem); isProblem {
		return wrong(p.Next, "%s", p.Message)
	}
	return wrong("set HOME to your home directory", "%v", err)
}

func (d *doctor) readable(context.Context) Check {
	if d.bad != nil {
		first, _, _ := strings.Cut(d.bad.Error(), "\n")
		return wrong("mend it; colony config list names all faults", "settings or cards cannot be read: %s", first)
	}
	return ok("settings and %d cards are read", len(d.house.Cards.List()))
}

// keys says which variables are set, never what they hold.
func (d *doctor) keys(context.Context) Check {
	var set, unset []string
	for _, p := range d.settings.providers {
		switch {
		case p.KeyEnv == "":
		case d.getenv(p.KeyEnv) != "":
			set = append(set, p.KeyEnv)
		default:
			unset = append(unset, p.KeyEnv)
		}
	}
	slices.Sort(set)
	slices.Sort(unset)
	switch {
	case len(set) > 0:
		return ok("set: %s", strings.Join(slices.Compact(set), ", "))
	case answering(d.settings.providers) != "":
		return note("", "no key is set; a local server answers, which needs none")
	case d.bad != nil:
		return note("mend the settings first", "not looked at")
	}
	return wrong("set one, set OPENAI_BASE_URL and OPENAI_API_KEY for a compatible server, or start a local server such as ollama",
		"no key is set (%s) and no local server answers: there is no model to run", strings.Join(slices.Compact(unset), ", "))
}

func (d *doctor) servers(context.Context) Check {
	if found := answering(d.settings.providers); found != "" {
		return ok("one answers: --model %s", found)
	}
	return note("", "none answers on this machine; only needed for local models")
}

// state makes a file in the state directory and removes it.
func (d *doctor) state(context.Context) Check {
	next := "make it writable for you, or name another with XDG_STATE_HOME or --state-dir"
	if err := os.MkdirAll(d.places.State, 0o700); err != nil {
		return wrong(next, "%s cannot be made: %v", d.places.State, err)
	}
	if err := probe(d.places.State); err != nil {
		return wrong(next, "%s cannot be written: %v", d.places.State, err)
	}
	return ok("%s is writable", d.places.State)
}

func (d *doctor) disk(context.Context) Check {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(existing(d.places.State), &fs); err != nil {
		return wrong("look at the file system of the state directory", "the free space cannot be read: %v", err)
	}
	free := uint64(fs.Bavail) * uint64(fs.Bsize)
	if free < leastDisk {
		return wrong("free some space, or name another place with XDG_STATE_HOME", "%d MiB are free where worktrees and logs are kept; have 1024 at least", free>>20)
	}
	return ok("%d MiB are free where worktrees and logs are kept", free>>20)
}

// existing is the path, or the nearest above it that is there.
func existing(path string) string {
	for path != filepath.Dir(path) {
		if _, err := os.Stat(path); err == nil {
			break
		}
		path = filepath.Dir(path)
	}
	return path
}

func (d *doctor) repository(context.Context) Check {
	if d.house.Root == "" {
		return note("go to a repository, or git init", "%s is not in a git repository", d.places.Dir)
	}
	return ok("%s", d.house.Root)
}

func (d *doctor) gates(context.Context) Check {
	switch {
	case d.house.Root == "" || d.bad != nil:
		return note("", "not looked at")
	case len(d.settings.run.Gates) > 0:
		return ok("%d are set", len(d.settings.run.Gates))
	case len(d.house.Untrusted) > 0:
		return note("colony trust --print", "none is set, but for those that wait for trust")
	}
	return wrong("colony init finds them; or give --gate, or allow none with --no-gate", "none is set: nothing would verify what ants do")
}

func (d *doctor) trust(context.Context) Check {
	if p, isProblem := d.house.trustedOrProblem().(*Problem); isProblem {
		return wrong(p.Next, "%s", p.Message)
	}
	if d.bad != nil {
		return note("", "not looked at")
	}
	return ok("no file of the repository waits for trust")
}

// runs looks for runs that ended without saying so.
func (d *doctor) runs(ctx context.Context) Check {
	if d.house.Root == "" {
		return note("", "not looked at")
	}
	all, err := d.house.Runs()
	if err != nil {
		return wrong("look at the state directory", "%v", err)
	}
	var cut []string
	for _, run := range all {
		if run.Owned() {
			continue
		}
		if finished, err := run.finished(ctx); err == nil && !finished { // the check of the logs tells of errors
			cut = append(cut, view.Line(run.ID))
		}
	}
	if len(cut) > 0 {
		return wrong("colony resume RUN goes on with it; colony status RUN shows how far it came", "cut off with nobody to carry them out: %s", strings.Join(cut, ", "))
	}
	return ok("%d of this repository, each finished or carried out", len(all))
}

// finished reports whether the run's last owner said how it ended.
func (p Past) finished(ctx context.Context) (said bool, err error) {
	for e, err := range p.Events(ctx) {
		if err != nil {
			return false, err
		}
		switch e.Body.(type) {
		case event.RunFinished:
			said = true
		case event.RunResumed:
			said = false
		}
	}
	return said, nil
}
