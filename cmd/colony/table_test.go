package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"colony/configs"

	"github.com/spf13/pflag"
)

// flagsShown names, for each flag of each verb, the script or test that shows its effect.
var flagsShown = map[string]string{
	"": "command_test.go",
}

// keysShown is flagsShown for the keys of the settings. A provider's keys are the same for all.
var keysShown = map[string]string{}

// Every flag has its effect in a script or test that types it with its verb.
func TestEveryFlagIsShown(t *testing.T) {
	there := map[string]*pflag.Flag{}
	for verb, cmd := range verbs() {
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Name != "help" {
				there[verb+" --"+f.Name] = f
			}
		})
	}
	(&app{}).root().PersistentFlags().VisitAll(func(f *pflag.Flag) { there["--"+f.Name] = f })
	compare(t, "flag", slices.Sorted(maps.Keys(there)), flagsShown, func(name, line string) bool {
		words := strings.Fields(name)
		return inOrder(line, words[:len(words)-1]) && types(line, there[name])
	})
}

// Every key of the settings has its effect in a script that sets it in a file or a variable.
func TestEveryKeyIsShown(t *testing.T) {
	var keys []string
	for _, k := range configs.Keys() {
		name := regexp.MustCompile(`^providers\.[^.]+`).ReplaceAllString(k.Name, "providers.*")
		if !slices.Contains(keys, name) {
			keys = append(keys, name)
		}
	}
	compare(t, "key", keys, keysShown, func(name, line string) bool {
		leaf := name[strings.LastIndex(name, ".")+1:]
		variable := "COLONY_" + strings.ToUpper(strings.ReplaceAll(name, ".", "_")) + "="
		return strings.Contains(line, variable) || regexp.MustCompile(`(^|[ {])`+leaf+`: `).MatchString(line) || strings.TrimSpace(line) == leaf+":"
	})
}

// compare wants one entry for each name, none more, and in its file a line that shows it.
func compare(t *testing.T, what string, names []string, shown map[string]string, shows func(name, line string) bool) {
	t.Helper()
	for _, name := range names {
		file, ok := shown[name]
		if !ok {
			t.Errorf("nothing is said to show the %s %s", what, name)
			continue
		}
		path := file
		if strings.HasSuffix(file, ".txtar") {
			path = filepath.Join("testdata", "script", file)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Errorf("the %s %s: %v", what, name, err)
			continue
		}
		if !slices.ContainsFunc(strings.Split(string(text), "\n"), func(line string) bool { return shows(name, line) }) {
			t.Errorf("%s does not show the %s %s", file, what, name)
		}
	}
	for name := range shown {
		if !slices.Contains(names, name) {
			t.Errorf("there is no %s %s to show", what, name)
		}
	}
}

// inOrder says that a line starts colony, or quotes its arguments, with these words in this order.
func inOrder(line string, words []string) bool {
	if !strings.Contains(line, "colony") && !strings.Contains(line, `"`) {
		return false
	}
	for _, w := range words {
		at := regexp.MustCompile(`(^|[ "])` + regexp.QuoteMeta(w) + `($|[ ",])`).FindStringIndex(line)
		if at == nil {
			return false
		}
		line = line[at[1]-1:]
	}
	return true
}

// types says that a line types a flag, long or short.
func types(line string, f *pflag.Flag) bool {
	spelt := `--` + f.Name
	if f.Shorthand != "" {
		spelt = `(--` + f.Name + `|-` + f.Shorthand + `)`
	}
	return regexp.MustCompile(`[ "]` + spelt + `($|[ =",)])`).MatchString(line)
}
