package hatch

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"colony/configs"
	"colony/guard"
	"colony/guard/sandbox"
	"colony/lsp"
	"colony/strict"
	"colony/tools"
	"colony/tools/builtin"
)

// lspSettings are the language servers that a person has, and what ants are told.
type lspSettings struct {
	Diagnostics string          `yaml:"diagnostics"`
	Wait        strict.Duration `yaml:"wait"`
	Idle        strict.Duration `yaml:"idle"`
	Roots       int             `yaml:"roots"`
	Commands    []lspCommand    `yaml:"commands"`
}

// lspCommand is how a server is started, in the place of what is known of it.
type lspCommand struct {
	Name  string            `yaml:"name" strict:"required"`
	Run   string            `yaml:"run" strict:"required"`
	Files map[string]string `yaml:"files"`
}

func (s lspSettings) check() error {
	if !slices.Contains(shows, lsp.Show(s.Diagnostics)) {
		return badSetting("lsp.diagnostics", s.Diagnostics, "off, errors, warnings or all")
	}
	if s.Roots < 1 || s.Roots > 64 {
		return badSetting("lsp.roots", fmt.Sprint(s.Roots), "a number from 1 to 64")
	}
	if s.Wait <= 0 || s.Idle <= 0 {
		return badSetting("lsp.wait", fmt.Sprint(time.Duration(s.Wait)), "a duration above 0; nor is lsp.idle")
	}
	_, err := s.known()
	return err
}

var shows = []lsp.Show{lsp.ShowNothing, lsp.ShowErrors, lsp.ShowWarnings, lsp.ShowAll}

// known are the servers that colony knows or a person named, best first: those that a person named come first.
func (s lspSettings) known() ([]lsp.Server, error) {
	all := lsp.Known()
	var named []lsp.Server
	for _, c := range s.Commands {
		if slices.ContainsFunc(named, func(one lsp.Server) bool { return one.Name == c.Name }) {
			continue // the earlier one is the stronger tier's
		}
		at := slices.IndexFunc(all, func(one lsp.Server) bool { return one.Name == c.Name })
		one := lsp.Server{Name: c.Name, Files: c.Files}
		argv := strings.Fields(c.Run)
		if at >= 0 {
			one = all[at]
			all = slices.Delete(all, at, at+1)
			if len(argv) == 1 {
				argv = append(argv, one.Argv[1:]...)
			}
		}
		if len(c.Files) > 0 {
			one.Files = c.Files
		}
		if len(one.Files) == 0 {
			return nil, badSetting("lsp.commands", c.Name, "a server that colony knows: say which files it reads, as files: {.x: language}")
		}
		one.Argv = argv
		named = append(named, one)
	}
	return append(named, all...), nil
}

// found is a server with the program that it is started by, which is no file of the repository; false where there is none.
func found(one lsp.Server, root string) (lsp.Server, bool) {
	if len(one.Argv) == 0 || one.Argv[0] == none {
		return one, false
	}
	path, err := exec.LookPath(one.Argv[0])
	if err != nil || !filepath.IsAbs(path) {
		return one, false
	}
	if real, err := filepath.EvalSymlinks(path); err != nil || root != "" && (inside(real, root) || inside(path, root)) {
		return one, false
	}
	one.Argv = append([]string{path}, one.Argv[1:]...)
	return one, true
}

func inside(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// there are the servers that can be started.
func (s lspSettings) there(root string) ([]lsp.Server, error) {
	known, err := s.known()
	if err != nil {
		return nil, err
	}
	var there []lsp.Server
	for _, one := range known {
		if one, ok := found(one, root); ok {
			there = append(there, one)
		}
	}
	return there, nil
}

// languages are language servers, started when they are needed, with a cache of this name.
func (c *Colony) languages(cache string) (*lsp.Servers, error) {
	s := c.settings.lsp
	there, err := s.there(c.parts.Root)
	if err != nil {
		return nil, err
	}
	start := func(_ context.Context, argv []string, root string) (io.ReadWriteCloser, error) {
		return c.startServer(cache, argv, root)
	}
	return lsp.New(lsp.Parts{
		Start: start, Rewrite: builtin.Rewrite, Known: there, Wait: time.Duration(s.Wait), Idle: time.Duration(s.Idle), Roots: s.Roots,
		Now: c.parts.Now, After: time.After,
		Log: func(format string, args ...any) { c.parts.Diagnostics.Debug(c.redact(fmt.Sprintf(format, args...))) },
	}), nil
}

// startServer starts a language server in the sandbox. It reads the worktrees beside this one, writes a cache of its own and
// reaches no network.
func (c *Colony) startServer(cache string, argv []string, root string) (io.ReadWriteCloser, error) {
	box, err := newConfined(c.box, filepath.Join(c.caches(), cache), c.repo.Readable(), nowhere, c.parts.Getenv)
	if err != nil {
		return nil, err
	}
	trees := filepath.Dir(root)
	j := sandbox.Job{Argv: argv, Dir: trees, Env: box.env, Writable: []string{box.cache}, Readable: append(slices.Clone(box.readable), trees)}
	if c.box.Level() == sandbox.ReadOnly {
		j.Env = append(j.Env, "GOCACHE=/tmp/go-build", "XDG_CACHE_HOME=/tmp/cache")
	}
	if real, err := filepath.EvalSymlinks(argv[0]); err == nil && inMemory(real) {
		j.Argv = append([]string{real}, argv[1:]...)
		j.Readable = append(j.Readable, real)
	}
	return box.converse(j)
}

// caches is where build caches are.
func (c *Colony) caches() string {
	if c.parts.Cache != "" {
		return c.parts.Cache
	}
	return filepath.Join(c.parts.home(), "cache")
}

// told is what the ant is told of its edits.
func (l *life) told() lsp.Show {
	if l.card.Diagnostics != "" {
		return lsp.Show(l.card.Diagnostics)
	}
	return lsp.Show(l.settings.lsp.Diagnostics)
}

// foresee lets the guard and the language servers look at a batch before it runs.
func (l *life) foresee(policy *guard.Policy, watch *lsp.Watch) func(context.Context, *tools.Env, []tools.Prepared) error {
	return func(ctx context.Context, env *tools.Env, calls []tools.Prepared) error {
		watch.Foresee(calls)
		return policy.Foresee(ctx, env, calls)
	}
}

// lspBrings are the commands that a repository's settings name.
func lspBrings(settings *configs.Settings) ([]string, error) {
	var s lspSettings
	if err := section(settings, "lsp", &s); err != nil {
		return nil, err
	}
	var runs []string
	for _, c := range s.Commands {
		runs = append(runs, fmt.Sprintf("language server %s: %s", c.Name, c.Run))
	}
	return runs, nil
}

// languageServers is the check of the servers that are there, and of how those are installed that the repository could use.
func (d *doctor) languageServers(context.Context) Check {
	known, err := d.settings.lsp.known()
	if err != nil || d.bad != nil {
		return note("mend the settings first", "not looked at")
	}
	var there, missing []string
	for _, one := range known {
		if one, ok := found(one, d.house.Root); ok {
			there = append(there, one.Name+" ("+one.Argv[0]+")")
		} else if d.uses(one) {
			missing = append(missing, one.Name+": "+one.Install)
		}
	}
	text := "none is found"
	if len(there) > 0 {
		text = strings.Join(there, ", ")
	}
	if len(missing) > 0 {
		return note("for this repository: "+strings.Join(missing, "; "), "%s", text)
	}
	return ok("%s", text)
}

// uses reports whether the top of the repository has files that a server reads.
func (d *doctor) uses(one lsp.Server) bool {
	entries, err := os.ReadDir(d.house.Root)
	if d.house.Root == "" || err != nil || one.Install == "" {
		return false
	}
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Type().IsRegular() && one.Reads(e.Name()) })
}
