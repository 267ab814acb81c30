package failpoint_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"colony/failpoint"
)

var (
	hit  = regexp.MustCompile(`failpoint\.Hit\("([^"]+)"\)`)
	name = regexp.MustCompile(`^[a-z]+(\.[a-z]+)+$`)
)

// Every point of the source is listed, and every one that is listed is in the source once.
func TestNamesAreThoseOfTheSource(t *testing.T) {
	var found []string
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != ".." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "failpoint") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range hit.FindAllStringSubmatch(string(text), -1) {
			found = append(found, m[1])
		}
		if n := strings.Count(string(text), "failpoint.Hit("); n != len(hit.FindAllString(string(text), -1)) {
			t.Errorf("%s has a point without a literal name", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	if !slices.Equal(found, failpoint.Names()) {
		t.Errorf("the source has\n%q\nlisted are\n%q", found, failpoint.Names())
	}
	for _, n := range found {
		if !name.MatchString(n) {
			t.Errorf("%q is no name of a point", n)
		}
	}
}
