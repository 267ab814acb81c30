package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of arguments: bytes of all, depth of nesting, bytes of a number.
const (
	maxArgs   = 16 << 20
	maxDepth  = 64
	maxNumber = 100
)

// parse reads one JSON value as maps, slices, strings, json.Numbers, booleans and nil. Numbers are canonical:
// a whole one has no point and no exponent. What two readers could take differently is an *ArgError: a key that
// stands twice, NUL, invalid UTF-8, half of a surrogate pair, or anything after the value.
func parse(raw []byte) (any, error) {
	if len(raw) > maxArgs {
		return nil, &ArgError{Reason: fmt.Sprintf("%d bytes are more than the %d allowed", len(raw), maxArgs)}
	}
	if !utf8.Valid(raw) {
		return nil, &ArgError{Reason: "not valid UTF-8"}
	}
	if loneSurrogate(raw) {
		return nil, &ArgError{Reason: `a \u escape is half of a surrogate pair`}
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	v, err := parseValue(dec, "", 0)
	if wrong := new(ArgError); err != nil && !errors.As(err, &wrong) {
		return nil, &ArgError{Reason: "not JSON: " + strings.TrimPrefix(err.Error(), "json: ")}
	}
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, &ArgError{Reason: "something follows the JSON value"}
	}
	return v, nil
}

func parseValue(dec *json.Decoder, at string, depth int) (any, error) {
	if depth > maxDepth {
		return nil, &ArgError{Field: at, Reason: fmt.Sprintf("nested deeper than %d", maxDepth)}
	}
	tok, err := dec.Token()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	switch tok := tok.(type) {
	case json.Delim:
		if tok == '{' {
			return parseObject(dec, at, depth)
		}
		return parseArray(dec, at, depth)
	case json.Number:
		return number(at, tok.String())
	case string:
		return tok, noNUL(at, tok)
	default: // a boolean or nil
		return tok, nil
	}
}

func parseObject(dec *json.Decoder, at string, depth int) (any, error) {
	out := map[string]any{}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, err
		}
		key, _ := tok.(string) // a key of an object always is
		if _, twice := out[key]; twice {
			return nil, &ArgError{Field: join(at, key), Reason: "the key stands twice"}
		}
		if err := noNUL(join(at, key), key); err != nil {
			return nil, err
		}
		if out[key], err = parseValue(dec, join(at, key), depth+1); err != nil {
			return nil, err
		}
	}
	_, err := dec.Token()
	return out, err
}

func parseArray(dec *json.Decoder, at string, depth int) (any, error) {
	out := []any{}
	for dec.More() {
		v, err := parseValue(dec, index(at, len(out)), depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	_, err := dec.Token()
	return out, err
}

func noNUL(at, s string) error {
	if strings.ContainsRune(s, 0) {
		return &ArgError{Field: strings.ReplaceAll(at, "\x00", `\0`), Reason: "it contains NUL"}
	}
	return nil
}

// number bounds a literal before anything computes with it, and writes a whole number plainly.
func number(at, lit string) (any, error) {
	if len(lit) > maxNumber {
		return nil, &ArgError{Field: at, Reason: "the number is too long"}
	}
	if !strings.ContainsAny(lit, ".eE") {
		if lit == "-0" {
			lit = "0"
		}
		return json.Number(lit), nil
	}
	f, err := strconv.ParseFloat(lit, 64)
	if err != nil {
		return nil, &ArgError{Field: at, Reason: "the number is too large"}
	}
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return json.Number(strconv.FormatInt(int64(f), 10)), nil
	}
	return json.Number(strconv.FormatFloat(f, 'g', -1, 64)), nil
}

// loneSurrogate reports whether an escape in the JSON names half of a pair without the other half next to it.
// The decoder would put a replacement character in its place.
func loneSurrogate(raw []byte) bool {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		switch half, at := surrogate(raw[i:]), i; {
		case half == 'l':
			return true
		case half == 'h' && surrogate(raw[at+6:]) != 'l':
			return true
		case half == 'h':
			i += 11
		default:
			i++ // whatever the backslash escapes
		}
	}
	return false
}

// surrogate says which half of a pair the text begins with: h, l, or 0 for neither.
func surrogate(b []byte) byte {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 32)
	switch {
	case err != nil || n < 0xD800 || n > 0xDFFF:
		return 0
	case n < 0xDC00:
		return 'h'
	}
	return 'l'
}

func join(at, key string) string {
	if at == "" {
		return key
	}
	return at + "." + key
}

func index(at string, i int) string { return at + "[" + strconv.Itoa(i) + "]" }
