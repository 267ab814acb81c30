package view_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"colony/view"
)

func TestViewsComeBackFromJSON(t *testing.T) {
	want := view.List{
		view.Diff{Path: "a.go", Unified: "-a\n+b\n", Added: 1, Removed: 1},
		view.Matches{Items: []view.Match{{Path: "a.go", Line: 3, Text: "x"}}, Total: 7},
		view.Exit{Command: "go test", Code: 1, Ms: 12},
		view.Problems{Items: []view.Problem{{Path: "a.go", Line: 1, Column: 2, Severity: "error", Text: "no", New: true}}},
		view.Page{URL: "http://x", Title: "x", Text: "y"},
		view.JSON{Text: "{}"},
	}
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got view.List
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v", got)
	}
	if err := json.Unmarshal([]byte(`[{"hologram":{}}]`), &got); err == nil {
		t.Error("an unknown kind was read")
	}
}

func TestNothingFromDataDrivesATerminal(t *testing.T) {
	for _, c := range []struct{ in, line, text string }{
		{"plain ü 漢", "plain ü 漢", "plain ü 漢"},
		{"a\x1b[31m\nb.txt", `a\x1b[31m\nb.txt`, "a\\x1b[31m\nb.txt"},
		{"\x1b]52;c;x\x07after", `\x1b]52;c;x\x07after`, `\x1b]52;c;x\x07after`},
		{"c1 \u009b31m", `c1 \u009b31m`, `c1 \u009b31m`},
		{"raw \x9b", `raw \x9b`, `raw \x9b`},
		{"cr\rx\u202ey\u200b", `cr\x0dx\u202ey\u200b`, `cr\x0dx\u202ey\u200b`},
	} {
		if got := view.Line(c.in); got != c.line {
			t.Errorf("Line(%q) = %q, want %q", c.in, got, c.line)
		}
		if got := view.Text(c.in); got != c.text {
			t.Errorf("Text(%q) = %q, want %q", c.in, got, c.text)
		}
	}
}

func TestEscapedJSONSaysTheSame(t *testing.T) {
	in := "a\u009b31m\u202e\x7f\x1bz"
	data, _ := json.Marshal(in)
	safe := view.EscapeJSON(data)
	if strings.ContainsAny(string(safe), "\u009b\u202e\x7f\x1b") {
		t.Errorf("%q still drives a terminal", safe)
	}
	var out string
	if err := json.Unmarshal(safe, &out); err != nil || out != in {
		t.Errorf("got %q, %v", out, err)
	}
}
