package strict_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"colony/strict"
)

type section struct {
	Count *int64           `yaml:"count" strict:"positive"`
	Span  *strict.Duration `yaml:"span"`
	Later string           `yaml:"later" strict:"later"`
}

type target struct {
	Name    string             `yaml:"name"`
	Number  int                `yaml:"number"`
	Money   strict.USD         `yaml:"money"`
	Flag    bool               `yaml:"flag"`
	Wait    time.Duration      `yaml:"wait"`
	Section section            `yaml:"section"`
	List    []string           `yaml:"list"`
	Map     map[string]section `yaml:"map"`
	Either  []either           `yaml:"either"`
	//lint:ignore U1000 what is not exported is no key
	hidden string
}

type needy struct {
	ID   string   `yaml:"id" strict:"required"`
	List []string `yaml:"list" strict:"required"`
}

// either is a text or a mapping, and knows more than its type says.
type either struct {
	Run string `yaml:"run"`
	Dir string `yaml:"dir"`
}

func (e *either) UnmarshalText(text []byte) error {
	e.Run = string(text)
	return nil
}

func (e *either) Check(fault func(path, text string)) {
	if e.Dir == ".." {
		fault("dir", "dir leaves")
	}
}

// contract 53
func TestFaultsComeAllAtOnceWithTheirPlaces(t *testing.T) {
	text := `nmae: x
number: 3.5
section: {count: x, span: 10m, later: 3}
list: [a, 1, {}]
map:
  x:
    count: 1
    count: 2
    cuont: 1
flag: yes
wait: 10
number: 4
either: [make, true, {run: x, dir: ..}]
`
	want := []string{
		`1:1 unknown key "nmae": did you mean name?`,
		`2:9 want a whole number, got "3.5"`,
		`3:18 want a whole number, got "x"`,
		`3:32 later is not built yet: delete this key`,
		`4:11 want text, got a number: quote it to make it text`,
		`4:14 want text, got a mapping`,
		`8:5 count is here twice: keep one`,
		`9:5 unknown key "cuont": did you mean count?`,
		`10:7 want true or false, got "yes"`,
		`11:7 want a time span such as 10m, got "10"`,
		`12:1 number is here twice: keep one`,
		`13:36 dir leaves`,
	}
	var into target
	faults := strict.Decode("f.yaml", []byte(text), &into)
	var got []string
	for _, f := range faults {
		got = append(got, fmt.Sprintf("%d:%d %s", f.Line, f.Column, f.Text))
		if f.File != "f.yaml" {
			t.Errorf("fault names the file %q", f.File)
		}
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if faults[2].Error() != "f.yaml:3:18: want a whole number, got \"x\"\n    section: {count: x, span: 10m, later: 3}\n                     ^" {
		t.Errorf("fault reads\n%s", faults[2].Error())
	}
}

func TestOneFault(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"alias":             {"name: &x a\n", "1:7 anchors, aliases and merge keys are not read: write the value out"},
		"merge":             {"<<: {name: a}\n", "1:1 anchors, aliases and merge keys are not read: write the value out"},
		"tag":               {"name: !!str 1\n", "1:7 tags are not read: write the value alone"},
		"directive":         {"%YAML 1.2\n---\nname: x\n", "1:1 directives are not read: delete the line"},
		"second document":   {"name: x\n---\nname: y\n", "2:1 a second document is not read: one file holds one document"},
		"after the end":     {"name: x\n...\nname: y\n", "2:1 what follows this line is not read: one file holds one document"},
		"syntax":            {"name: [\n", "1:7 syntax: sequence end token ']' not found"},
		"open quote":        {"name: \"x\n", "1:7 syntax: could not find end character of double-quoted text"},
		"not a mapping":     {"- a\n", "1:1 want a mapping, got a list"},
		"no value":          {"name:\n", "1:1 this has no value: give it one or delete it"},
		"wide characters":   {"name: é\nlist: [é, 1]\n", "2:11 want text, got a number: quote it to make it text"},
		"crlf":              {"name: x\r\nnumbre: 3\r\n", `2:1 unknown key "numbre": did you mean number?`},
		"control":           {"name: a\x1bb\n", "1:8 the character U+001B is not allowed here"},
		"escaped control":   {`name: "a\x1bb"`, "1:7 the character U+001B is not allowed here"},
		"control in a key":  {`"a\x1b": 1`, "1:1 a key is a plain word"},
		"turned order":      {"name: a\u202eb\n", "1:8 the character U+202E is not allowed here"},
		"not utf-8":         {"name: \xff\n", "1:7 the character U+FFFD is not allowed here"},
		"octal":             {"number: 010\n", `1:9 want a whole number, got "010"`},
		"hex":               {"number: 0x10\n", `1:9 want a whole number, got "0x10"`},
		"huge":              {"number: 99999999999999999999\n", `1:9 want a whole number, got "99999999999999999999"`},
		"money exponent":    {"money: 1e3\n", `1:8 want dollars such as 0.50, got "1e3"`},
		"money negative":    {"money: -1\n", `1:8 want dollars such as 0.50, got "-1"`},
		"money 13 places":   {"money: 0.1234567890123\n", `1:8 want dollars such as 0.50, got "0.1234567890123"`},
		"money too much":    {"money: 9999999999\n", "1:8 9999999999 dollars is too much: the most is 9223372"},
		"span negative":     {"wait: -1s\n", `1:7 want a time span such as 10m, got "-1s"`},
		"not positive":      {"section: {count: 0}\n", "1:18 count must be more than 0"},
		"list for text":     {"name: [a]\n", "1:7 want text, got a list"},
		"text for list":     {"list: a\n", `1:7 want a list, got "a"`},
		"text for section":  {"section: a\n", `1:10 want a mapping, got "a"`},
		"quoted number":     {"number: \"3\"\n", `1:9 want a whole number, got "3"`},
		"nothing near":      {"completely: 1\n", `1:1 unknown key "completely"`},
		"none is no number": {"number: none\n", `1:9 want a whole number, got "none"`},
		"complex key":       {"? [a]\n: b\n", "2:1 syntax: found an invalid key for this map"},
		"marked key":        {"? name\n: b\n", "1:1 a key is a plain word"},
		"hidden":            {"hidden: a\n", `1:1 unknown key "hidden"`},
	} {
		t.Run(name, func(t *testing.T) {
			var into target
			faults := strict.Decode("f", []byte(c.text), &into)
			if len(faults) != 1 {
				t.Fatalf("got %v, want one fault", faults)
			}
			if got := fmt.Sprintf("%d:%d %s", faults[0].Line, faults[0].Column, faults[0].Text); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestRequired(t *testing.T) {
	for text, want := range map[string]string{
		"id: a\nlist: [b]\n":  "",
		"list: [b]\n":         "id is missing",
		"id: ' '\nlist: []\n": "id is empty|list is empty",
		"id: a\nlist:\n":      "this has no value: give it one or delete it",
	} {
		var into needy
		var got []string
		for _, f := range strict.Decode("f", []byte(text), &into) {
			got = append(got, f.Text)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestDecode(t *testing.T) {
	text := "\ufeff# comment\n---\nname: |\n  a\n    b: &c *d !e # f\n  ---\nnumber: -3\nmoney: 0.000000000001\nflag: true\nwait: 1h30m\nsection: {count: none, span: 5s}\nlist:\n- 'a: b'\n- \"c\\td\"\nmap:\n  GPT-5.1: {count: 2}\neither: [true, go test ./...]\n"
	var into target
	if faults := strict.Decode("f", []byte(text), &into); len(faults) > 0 {
		t.Fatal(faults)
	}
	if into.Name != "a\n  b: &c *d !e # f\n---\n" || into.Number != -3 || into.Money != 1 || !into.Flag || into.Wait != 90*time.Minute {
		t.Errorf("got %+v", into)
	}
	if into.Section.Count != nil || *into.Section.Span != strict.Duration(5*time.Second) || *into.Map["GPT-5.1"].Count != 2 {
		t.Errorf("got %+v %+v", into.Section, into.Map)
	}
	if strings.Join(into.List, "|") != "a: b|c\td" || into.Either[0].Run != "true" || into.Either[1].Run != "go test ./..." {
		t.Errorf("got %q %+v", into.List, into.Either)
	}
}

func TestAnyTakesAll(t *testing.T) {
	var into map[string]any
	if faults := strict.Decode("f", []byte("a: 1.50\nb: [x, true]\nc: {d: }\ne: 010\n"), &into); len(faults) > 0 {
		t.Fatal(faults)
	}
	if got := fmt.Sprintf("%T %v", into["a"], into); got != "json.Number map[a:1.50 b:[x true] c:map[d:] e:010]" {
		t.Error(got)
	}
}

func TestBoundsAreHeldInTime(t *testing.T) {
	const size = strict.MaxBytes / 4 // long enough that work growing with the square would show
	for name, text := range map[string]string{
		"flow lists":    strings.Repeat("[", size),
		"flow mappings": strings.Repeat("{a: ", size/4),
		"dashes":        strings.Repeat("- ", size/2),
		"inner keys":    strings.Repeat("a: ", size/3),
		"keys":          strings.Repeat("a: b\n", size/5),
		"questions":     strings.Repeat("? ", size/2),
		"too long":      strings.Repeat("#", strict.MaxBytes+1),
	} {
		t.Run(name, func(t *testing.T) {
			var into target
			begin := time.Now()
			if faults := strict.Decode("f", []byte(text), &into); len(faults) == 0 {
				t.Error("no fault")
			}
			if spent := time.Since(begin); spent > 10*time.Second { // 0.1 s; -race on a busy machine takes longer
				t.Errorf("took %s", spent)
			}
		})
	}
}

func TestScalarOutsideYAML(t *testing.T) {
	var n int
	var span time.Duration
	if faults := strict.Scalar("COLONY_X", "5", &n); len(faults) > 0 || n != 5 {
		t.Errorf("got %v %d", faults, n)
	}
	if faults := strict.Scalar("COLONY_X", "soon", &span); faults.Error() != `COLONY_X: want a time span such as 10m, got "soon"` {
		t.Errorf("got %v", faults)
	}
	amount := new(strict.USD)
	if faults := strict.Scalar("COLONY_X", "none", &amount); len(faults) > 0 || amount != nil {
		t.Errorf("got %v %v", faults, amount)
	}
}

func TestAt(t *testing.T) {
	doc, faults := strict.Parse("f", []byte("tasks:\n- id: a\n- id: b\n  needs: [a, c]\n"))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	for path, want := range map[string]string{"tasks[1].needs[1]": "4:14", "tasks[1].id": "3:7", "tasks[1].gone": "3:3", "gone": "1:1", "": "1:1"} {
		if line, column := doc.At(path); fmt.Sprintf("%d:%d", line, column) != want {
			t.Errorf("%s is at %d:%d, want %s", path, line, column, want)
		}
	}
	if f := doc.KeyFault("tasks[1].needs", "x"); f.Line != 4 || f.Column != 3 {
		t.Errorf("key is at %d:%d", f.Line, f.Column)
	}
}

func TestLiteralTextComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.StringMatching(`[a-z#:{}\[\]&*!|>'"%@ ,?-]{0,12}[a-z]`), 1, 8).Draw(t, "lines")
		var into target
		faults := strict.Decode("f", []byte("name: |\n  x\n  "+strings.Join(lines, "\n  ")+"\nnumber: 7\n"), &into)
		if want := "x\n" + strings.Join(lines, "\n") + "\n"; len(faults) > 0 || into.Name != want || into.Number != 7 {
			t.Fatalf("got %q and %v, want %q", into.Name, faults, want)
		}
	})
}

func TestMoneyIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pico := rapid.Int64Range(0, 9e18).Draw(t, "pico")
		var got strict.USD
		if err := got.UnmarshalText(fmt.Appendf(nil, "%d.%012d", pico/1e12, pico%1e12)); err != nil || int64(got) != pico {
			t.Fatalf("got %d, %v, want %d", got, err, pico)
		}
	})
}

func TestNearest(t *testing.T) {
	tools := []string{"read", "find", "edit", "write", "sh", "tool_search", "done", "ask"}
	for name, want := range map[string]string{"raed": "read", "Read": "read", "grep": "", "wriite": "write", "x": "", "": "", "toolsearch": "tool_search", "dnoe": "done", "completely": "", "s": "", "hs": "sh"} {
		if got := strict.Nearest(name, tools); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// FuzzDecode holds that no input panics, and that a fault is in the file and shows its line.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"name: x\n", "a: &a [*a]\n", "? a\n: b", "name: |\n  x\n", "{a: [b, {c: d}]}", "\t- a", "--- >\n a\n...\n", "\"a\\u0000\": b"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var into target
		for _, fault := range strict.Decode("f", data, &into) {
			if fault.Line < 1 || fault.Column < 1 || fault.Text == "" || strings.Count(fault.Excerpt, "\n") != 1 {
				t.Errorf("fault %+v", fault)
			}
		}
	})
}
