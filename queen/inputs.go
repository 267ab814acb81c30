package queen

import (
	"bytes"
	"context"
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"colony/plan"

	"github.com/bmatcuk/doublestar/v4"
)

// settingsOfGates are files that say what a gate runs, or what a linter lets pass, wherever they lie.
var settingsOfGates = []string{
	"{Makefile,makefile,GNUmakefile,*.mk,justfile,Justfile,Taskfile.yml,Taskfile.yaml,Rakefile,noxfile.py,tox.ini,build.gradle*,magefile.go}",
	"{.golangci.*,staticcheck.conf,.eslintrc*,eslint.config.*,.eslintignore,.prettierrc*,biome.json*,tslint.json,tsconfig*.json,deno.json*}",
	"{jest.config.*,vitest.config.*,playwright.config.*,.mocharc*,karma.conf.*,pytest.ini,conftest.py,setup.cfg,pyproject.toml,.coveragerc}",
	"{ruff.toml,.ruff.toml,mypy.ini,.mypy.ini,.flake8,.pylintrc,clippy.toml,.clippy.toml,rustfmt.toml,.rustfmt.toml,.rubocop.yml,.rspec}",
	"{.pre-commit-config.yaml,.gitlab-ci.yml,.travis.yml,azure-pipelines.yml,Jenkinsfile,.drone.yml,lefthook.yml}",
}

// placesOfGates are directories all of which says what runs.
var placesOfGates = []string{".github/**", ".circleci/**", ".buildkite/**", ".husky/**", ".colony/**", "**/.cargo/config*"}

// inputs are the files, of those that changed, by which work could lower its own bar: what a gate runs is altered, or
// a test is deleted, skipped or emptied.
func (p Parts) inputs(ctx context.Context, from, to string, files []string, gates []plan.Gate) ([]string, error) {
	var out []string
	for _, f := range files {
		weaker := comparison(f)
		if setsGates(f) || runByGate(f, gates) {
			weaker = func(_, _ []byte) bool { return true }
		}
		if weaker == nil {
			continue
		}
		before, _, err := p.File(ctx, from, f)
		if err != nil {
			return nil, err
		}
		after, _, err := p.File(ctx, to, f)
		if err != nil {
			return nil, err
		}
		if weaker(before, after) {
			out = append(out, f)
		}
	}
	return out, nil
}

func setsGates(file string) bool {
	return slices.ContainsFunc(settingsOfGates, func(p string) bool { return doublestar.MatchUnvalidated(p, path.Base(file)) }) ||
		slices.ContainsFunc(placesOfGates, func(p string) bool { return doublestar.MatchUnvalidated(p, file) })
}

// readers are commands that only look at the files they name.
var readers = []string{"test", "[", "[[", "grep", "egrep", "fgrep", "cat", "diff", "cmp", "ls", "head", "tail", "wc", "echo", "stat"}

// runByGate reports whether a gate's command names the file as something other than data to look at.
func runByGate(file string, gates []plan.Gate) bool {
	for _, g := range gates {
		for _, command := range regexp.MustCompile(`[;&|()\n`+"`"+`]`).Split(g.Run, -1) {
			words := strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\"'=<>$!{},", r) })
			if len(words) > 0 && slices.Contains(readers, words[0]) {
				continue
			}
			if slices.ContainsFunc(words, func(w string) bool { return path.Join(g.Dir, w) == file }) {
				return true
			}
		}
	}
	return false
}

// comparison says whether a file's new content lowers the bar; it is nil for a file of which that cannot be. The
// content of a file that is not there is nil.
func comparison(file string) func(before, after []byte) bool {
	switch name := path.Base(file); {
	case name == "package.json":
		return func(before, after []byte) bool { return !bytes.Equal(scripts(before), scripts(after)) }
	case name == "go.mod":
		return func(before, after []byte) bool {
			return before != nil && !slices.Equal(toolchain.FindAllString(string(before), -1), toolchain.FindAllString(string(after), -1))
		}
	case isTest(file):
		return func(before, after []byte) bool { return weakened(path.Ext(file) == ".go", before, after) }
	}
	return nil
}

var toolchain = regexp.MustCompile(`(?m)^(go|toolchain) .*$`)

// scripts is the part of a package.json that says what its commands run; all of one that cannot be read.
func scripts(data []byte) []byte {
	var of struct {
		Scripts json.RawMessage
		Jest    json.RawMessage
	}
	if data != nil && json.Unmarshal(data, &of) != nil {
		return data
	}
	return slices.Concat(of.Scripts, []byte{0}, of.Jest)
}

var testNames = []string{"*_test.*", "test_*.py", "*.{test,spec}.*", "*_spec.*", "*{Test,Tests,IT}.{java,kt,cs,php,swift}"}

func isTest(file string) bool {
	if slices.ContainsFunc(testNames, func(p string) bool { return doublestar.MatchUnvalidated(p, path.Base(file)) }) {
		return true
	}
	return slices.ContainsFunc(strings.Split(path.Dir(file), "/"), func(dir string) bool {
		return dir == "test" || dir == "tests" || dir == "__tests__" || dir == "spec" || dir == "testdata"
	})
}

var (
	goTest    = regexp.MustCompile(`(?m)^func (Test|Fuzz|Example)\w*\(|\.Run\(`)
	testStart = regexp.MustCompile(`(?m)^\s*(async )?def test|\b(it|test|describe)(\.each)?\(|#\[(\w+::)?test|@Test\b|^\s*it ['"]|^\s*(public )?func(tion)? test`)
	testSkip  = regexp.MustCompile(`\.Skip(f|Now)?\(|mark\.(skip|xfail)|(pytest|unittest)\.skip|\b(it|test|describe)\.(skip|only|todo)|\bx(it|describe|test)\(|#\[ignore|@(Disabled|Ignore)\b|go:build |^\s*skip\b`)
)

// weakened reports whether a test file is gone, has fewer tests, skips more of them, or lost most of its lines.
func weakened(inGo bool, before, after []byte) bool {
	if before == nil {
		return false
	}
	count := func(of *regexp.Regexp, in []byte) int { return len(of.FindAll(in, -1)) }
	lines := func(in []byte) int { return count(regexp.MustCompile(`(?m)\S.*$`), in) }
	start := testStart
	if inGo {
		start = goTest
	}
	return after == nil || count(start, after) < count(start, before) || count(testSkip, after) > count(testSkip, before) ||
		2*lines(after) < lines(before)
}
