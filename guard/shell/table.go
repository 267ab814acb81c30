package shell

import (
	_ "embed"
	"encoding"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"colony/strict"
)

//go:embed table.yaml
var tableYAML []byte

// grammarTable is the read-only grammar as a person writes it.
type grammarTable struct {
	Sets    map[string]string `yaml:"sets"`
	Between map[string]string `yaml:"between"`
	Rows    []tableRow        `yaml:"rows" strict:"required"`
}

// tableRow is one row; the head of table.yaml says what its keys mean.
type tableRow struct {
	Name    string   `yaml:"name" strict:"required"`
	Flags   string   `yaml:"flags"`
	Needs   string   `yaml:"needs"`
	Text    count    `yaml:"text"`
	Pattern string   `yaml:"pattern"`
	Most    *int     `yaml:"most"`
	Operand regex    `yaml:"operand"`
	Never   regex    `yaml:"never"`
	Ends    bool     `yaml:"ends"`
	Globs   bool     `yaml:"globs"`
	Loose   bool     `yaml:"loose"`
	Root    bool     `yaml:"root"`
	Allows  []string `yaml:"allows" strict:"required"`
	Asks    []string `yaml:"asks" strict:"required"`
}

// count is a number of operands, -1 for all of them.
type count int

// UnmarshalText reads a count.
func (c *count) UnmarshalText(text []byte) error {
	switch s := string(text); {
	case s == "all":
		*c = -1
	case len(s) == 1 && s[0] >= '0' && s[0] <= '9':
		*c = count(s[0] - '0')
	default:
		return fmt.Errorf("%q is no number of operands: give 0 to 9 or all", s)
	}
	return nil
}

// regex is a regular expression; the zero value is none.
type regex struct{ *regexp.Regexp }

// UnmarshalText compiles it.
func (r *regex) UnmarshalText(text []byte) (err error) {
	r.Regexp, err = regexp.Compile(string(text))
	return err
}

var (
	_ encoding.TextUnmarshaler = (*count)(nil)
	_ encoding.TextUnmarshaler = (*regex)(nil)
)

// table is the read-only grammar, the rows of each tool together.
type table struct {
	forms   map[string][]form
	between map[string][]string
}

// builtin is the table that colony comes with.
var builtin = sync.OnceValue(func() table { t, _ := readTable(tableYAML); return t })

// readTable reads a table. One with a fault has no rows: nothing is read-only then.
func readTable(data []byte) (table, strict.Faults) {
	var written grammarTable
	if faults := strict.Decode("guard/shell/table.yaml", data, &written); len(faults) > 0 {
		return table{}, faults
	}
	t := table{forms: map[string][]form{}, between: map[string][]string{}}
	for tool, words := range written.Between {
		t.between[tool] = strings.Fields(words)
	}
	for _, row := range written.Rows {
		flags := strings.Fields(row.Flags)
		for name, set := range maps.All(written.Sets) {
			if at := slices.Index(flags, "@"+name); at >= 0 {
				flags = slices.Concat(flags[:at], strings.Fields(set), flags[at+1:])
			}
		}
		options := optionsOf(flags)
		for name := range strings.SplitSeq(row.Name, ",") {
			words := strings.Fields(name)
			t.forms[words[0]] = append(t.forms[words[0]], form{tableRow: row, words: words[1:], options: options, any: slices.Contains(flags, "*"),
				needs: strings.Fields(row.Needs), pattern: strings.Fields(row.Pattern)})
		}
	}
	return t, nil
}
