package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

var reference = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}`)

// Variables are the variables of the user's environment that the entry names.
func (e Entry) Variables() []string {
	var names []string
	if e.Bearer != "" {
		names = append(names, e.Bearer)
	}
	e.each(func(text string) string {
		for _, m := range reference.FindAllStringSubmatch(text, -1) {
			names = append(names, m[1])
		}
		return text
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// Expand is the entry with the values of the variables that it names as ${NAME} or ${NAME:-default}. One without a value is an
// error that names it and no value.
func (e Entry) Expand(getenv func(string) string) (Entry, error) {
	if e.Wrong != nil {
		return Entry{}, e.Wrong
	}
	var missing []error
	out := e.each(func(text string) string {
		return reference.ReplaceAllStringFunc(text, func(ref string) string {
			m := reference.FindStringSubmatch(ref)
			value := getenv(m[1])
			if value == "" && m[2] == "" {
				missing = append(missing, fmt.Errorf("the variable %s has no value, or is not for this server", m[1]))
			}
			if value == "" {
				value = m[3]
			}
			return value
		})
	})
	if e.Bearer != "" {
		token := getenv(e.Bearer)
		if token == "" {
			missing = append(missing, fmt.Errorf("the variable %s has no value, or is not for this server", e.Bearer))
		}
		if out.Headers == nil {
			out.Headers = map[string]string{}
		}
		out.Headers["Authorization"] = "Bearer " + token
	}
	if err := errors.Join(missing...); err != nil {
		return Entry{}, err
	}
	_, err := out.address()
	if err != nil { // its words might hold a value
		err = errors.New("the url is no http or https address, with the values of its variables")
	}
	return out, err
}

// plain are variables whose values are no secrets, wherever they go.
var plain = []string{"HOME", "LANG", "LOGNAME", "PATH", "PWD", "SHELL", "TERM", "TMPDIR", "USER"}

// Secrets are the values of variables that a server is given and might say: all but plain ones, and those in the command and
// in the URL's host.
func (e Entry) Secrets(getenv func(string) string) []string {
	var values []string
	if e.Bearer != "" {
		values = append(values, getenv(e.Bearer))
	}
	_, address, _ := strings.Cut(e.URL, "://")
	_, path, _ := strings.Cut(address, "/")
	texts := append(slices.Collect(maps.Values(e.Headers)), path)
	texts = append(append(texts, slices.Collect(maps.Values(e.Env))...), e.Args...)
	for _, text := range texts {
		for _, m := range reference.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(plain, m[1]) {
				values = append(values, getenv(m[1]))
			}
		}
	}
	return values
}

// Host is the host of the entry's URL.
func (e Entry) Host() string {
	u, err := e.address()
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// each is the entry with every text in which a variable may stand replaced.
func (e Entry) each(replace func(string) string) Entry {
	e.Command, e.URL = replace(e.Command), replace(e.URL)
	e.Args = slices.Clone(e.Args)
	for i, arg := range e.Args {
		e.Args[i] = replace(arg)
	}
	replaced := func(m map[string]string) map[string]string {
		m = maps.Clone(m)
		for key, value := range m {
			m[key] = replace(value)
		}
		return m
	}
	e.Env, e.Headers = replaced(e.Env), replaced(e.Headers)
	return e
}

// unique refuses a document in which a key stands twice, so that no reader sees another entry than its user did.
func unique(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := uniqueValue(dec, 0); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("something follows the JSON value")
	}
	return nil
}

// maxNesting is how deep a document or a schema may go.
const maxNesting = 32

func uniqueValue(dec *json.Decoder, depth int) error {
	tok, err := dec.Token()
	if err != nil {
		return fmt.Errorf("it is no JSON: %w", err)
	}
	open, nested := tok.(json.Delim)
	if !nested {
		return nil
	}
	if depth > maxNesting {
		return fmt.Errorf("it is nested deeper than %d", maxNesting)
	}
	keys := map[string]bool{}
	for dec.More() {
		if open == '{' {
			key, err := dec.Token()
			if err != nil {
				return fmt.Errorf("it is no JSON: %w", err)
			}
			name, _ := key.(string) // a key always is
			if keys[name] {
				return fmt.Errorf("the key %q stands twice", name)
			}
			keys[name] = true
		}
		if err := uniqueValue(dec, depth+1); err != nil {
			return err
		}
	}
	if _, err = dec.Token(); err != nil {
		return fmt.Errorf("it is no JSON: %w", err)
	}
	return nil
}
