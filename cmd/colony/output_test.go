package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
)

// cleanOutput: `clean FILE...` wants that no character of a file drives a terminal: no control character but the end of
// a line, no C1, no byte that is no text.
func cleanOutput(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		bad := driving(ts.ReadFile(name))
		if (bad != "") != neg {
			ts.Fatalf("%s: a character that drives a terminal: %s", name, bad)
		}
	}
}

// driving shows the first character of a text that drives a terminal with what stands around it.
func driving(text string) string {
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		control := r < 0x20 && r != '\n' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == utf8.RuneError && size == 1
		if control {
			return strconv.QuoteToASCII(text[max(0, i-40):min(len(text), i+20)])
		}
	}
	return ""
}

// isJSON: `isjson FILE` wants a file to be JSON values one after the other, and at least one.
func isJSON(ts *testscript.TestScript, neg bool, args []string) {
	decoder := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	n := 0
	for {
		var v any
		err := decoder.Decode(&v)
		if errors.Is(err, io.EOF) {
			break
		}
		ts.Check(err)
		n++
	}
	if n == 0 {
		ts.Fatalf("%s holds no JSON", args[0])
	}
}

// writeBytes: `bytes FILE TEXT` writes a file; TEXT is the inside of a Go string, where quotes need no escape.
func writeBytes(ts *testscript.TestScript, neg bool, args []string) {
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(args[1], `"`, `\"`) + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}
